import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

/**
 * How many firings a second Java Quartz makes of triggers that are due: url, count, batch, threads, and how many
 * triggers repeat; 0 where each fires once.
 */
public class JavaQuartzRate {
  static CountDownLatch left;

  public static class Noop implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      left.countDown();
    }
  }

  public static void main(String[] args) throws Exception {
    String url = args[0];
    int count = Integer.parseInt(args[1]);
    int repeating = Integer.parseInt(args[4]);
    left = new CountDownLatch(count);
    createTables(url);
    Scheduler scheduler = new StdSchedulerFactory(settings(url, args[2], args[3])).getScheduler();
    Map<JobDetail, Set<? extends Trigger>> jobs = new HashMap<>();
    for (int index = 0; index < (repeating > 0 ? repeating : count); index++) {
      JobDetail job = JobBuilder.newJob(Noop.class).withIdentity("job-" + index, "bench").build();
      jobs.put(job, Set.of(trigger(index, repeating > 0)));
    }
    scheduler.scheduleJobs(jobs, false);
    long startedNs = System.nanoTime();
    scheduler.start();
    left.await();
    System.out.println(count / ((System.nanoTime() - startedNs) / 1e9));
    // The answer is all that anybody waits for.
    Runtime.getRuntime().halt(0);
  }

  static Trigger trigger(int index, boolean repeating) {
    TriggerBuilder<Trigger> builder = TriggerBuilder.newTrigger().withIdentity("trigger-" + index, "bench");
    if (!repeating) return builder.startAt(new Date(System.currentTimeMillis() - 1000)).build();
    return builder.startAt(new Date(System.currentTimeMillis() - 50_000)).withSchedule(
        SimpleScheduleBuilder.simpleSchedule().withIntervalInMilliseconds(1).repeatForever()
            .withMisfireHandlingInstructionIgnoreMisfires()).build();
  }

  static Properties settings(String url, String batch, String threads) {
    Properties settings = new Properties();
    settings.setProperty("org.quartz.scheduler.instanceName", "bench");
    settings.setProperty("org.quartz.scheduler.instanceId", "AUTO");
    settings.setProperty("org.quartz.scheduler.skipUpdateCheck", "true");
    settings.setProperty("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", batch);
    settings.setProperty("org.quartz.threadPool.threadCount", threads);
    settings.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
    settings.setProperty("org.quartz.jobStore.driverDelegateClass",
        "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
    settings.setProperty("org.quartz.jobStore.useProperties", "true");
    settings.setProperty("org.quartz.jobStore.isClustered", "true");
    settings.setProperty("org.quartz.jobStore.acquireTriggersWithinLock", "true");
    settings.setProperty("org.quartz.jobStore.misfireThreshold", "3600000");
    settings.setProperty("org.quartz.jobStore.dataSource", "bench");
    settings.setProperty("org.quartz.dataSource.bench.provider", "hikaricp");
    settings.setProperty("org.quartz.dataSource.bench.driver", "org.postgresql.Driver");
    settings.setProperty("org.quartz.dataSource.bench.URL", url);
    settings.setProperty("org.quartz.dataSource.bench.maxConnections", "20");
    return settings;
  }

  static void createTables(String url) throws Exception {
    String script = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";
    try (InputStream in = Scheduler.class.getResourceAsStream(script);
        Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      in.transferTo(text);
      statement.execute(text.toString(StandardCharsets.UTF_8));
    }
  }
}
