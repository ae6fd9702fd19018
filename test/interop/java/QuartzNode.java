package interop;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TimeZone;
import org.quartz.CalendarIntervalTrigger;
import org.quartz.CronTrigger;
import org.quartz.DailyTimeIntervalTrigger;
import org.quartz.DateBuilder.IntervalUnit;
import org.quartz.DisallowConcurrentExecution;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDataMap;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.JobExecutionException;
import org.quartz.JobKey;
import org.quartz.Scheduler;
import org.quartz.SimpleTrigger;
import org.quartz.TimeOfDay;
import org.quartz.Trigger;
import org.quartz.TriggerKey;
import org.quartz.TriggerUtils;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.impl.calendar.HolidayCalendar;
import org.quartz.impl.triggers.AbstractTrigger;
import org.quartz.impl.triggers.CalendarIntervalTriggerImpl;
import org.quartz.impl.triggers.CronTriggerImpl;
import org.quartz.impl.triggers.DailyTimeIntervalTriggerImpl;
import org.quartz.impl.triggers.SimpleTriggerImpl;
import org.quartz.spi.OperableTrigger;

/**
 * A node of a Java Quartz cluster that a test drives: each line of standard input is a command, written as the query
 * of a URL; each is answered by one line of JSON on standard output. The end of the input ends the node.
 *
 * Arguments: JDBC URL, user, password, scheduler name, instance id, file of the history.
 */
public final class QuartzNode {
  private static String node;
  private static OutputStream history;

  private final String[] database;
  private final Properties properties = new Properties();
  private Scheduler scheduler;

  private QuartzNode(
      String url,
      String user,
      String password,
      String schedulerName,
      String instanceId,
      String acquireWithinLock) {
    database = new String[] {url, user, password};
    set("scheduler.instanceName", schedulerName);
    set("scheduler.instanceId", instanceId);
    set("scheduler.skipUpdateCheck", "true");
    // The shortest that Quartz takes: how soon this node sees what another one has scheduled.
    set("scheduler.idleWaitTime", "1000");
    set("threadPool.class", "org.quartz.simpl.SimpleThreadPool");
    set("threadPool.threadCount", "10");
    set("jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
    set("jobStore.driverDelegateClass", "org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
    set("jobStore.dataSource", "shared");
    set("jobStore.tablePrefix", "qrtz_");
    set("jobStore.useProperties", "true");
    set("jobStore.isClustered", "true");
    set("jobStore.acquireTriggersWithinLock", acquireWithinLock);
    set("jobStore.clusterCheckinInterval", "1000");
    set("dataSource.shared.provider", "hikaricp");
    set("dataSource.shared.driver", "org.postgresql.Driver");
    set("dataSource.shared.URL", url);
    set("dataSource.shared.user", user);
    set("dataSource.shared.password", password);
    set("dataSource.shared.maxConnections", "13");
  }

  private void set(String name, String value) {
    properties.setProperty("org.quartz." + name, value);
  }

  public static void main(String[] args) throws Exception {
    PrintStream answers = new PrintStream(System.out, true, "UTF-8");
    node = args[4];
    history = new FileOutputStream(args[5], true);
    QuartzNode quartz = new QuartzNode(args[0], args[1], args[2], args[3], args[4], args[6]);
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    answers.println(json(Map.of("ready", true)));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      Map<String, Object> answer = new LinkedHashMap<>();
      try {
        answer.put("answer", quartz.obey(parse(line)));
      } catch (Exception | LinkageError e) {
        answer.put("error", e.toString());
      }
      answers.println(json(answer));
    }
    quartz.shutdown();
    System.exit(0);
  }

  private Object obey(Map<String, String> command) throws Exception {
    switch (command.get("op")) {
      case "createTables":
        createTables();
        return null;
      case "open":
        scheduler = new StdSchedulerFactory(properties).getScheduler();
        return null;
      case "start":
        scheduler.start();
        return null;
      case "schedule":
        return schedule(command);
      case "addJob":
        scheduler.addJob(job(command), true);
        return null;
      case "addHoliday":
        HolidayCalendar calendar = new HolidayCalendar();
        calendar.addExcludedDate(new Date(number(command, "day")));
        scheduler.addCalendar(command.get("calendar"), calendar, true, true);
        return null;
      case "readTrigger":
        return described(scheduler.getTrigger(triggerKey(command)));
      case "readJob":
        return described(scheduler.getJobDetail(jobKey(command)));
      case "state":
        return scheduler.getTriggerState(triggerKey(command)).name();
      case "pause":
        scheduler.pauseTrigger(triggerKey(command));
        return null;
      case "resume":
        scheduler.resumeTrigger(triggerKey(command));
        return null;
      case "unschedule":
        return scheduler.unscheduleJob(triggerKey(command));
      case "shutdown":
        shutdown();
        return null;
      default:
        throw new IllegalArgumentException("unknown op " + command.get("op"));
    }
  }

  /**
   * Runs the script that Quartz brings for PostgreSQL. The lock rows are put in at once: when two threads of Quartz
   * find none, both insert one, and on PostgreSQL the loser's transaction fails.
   */
  private void createTables() throws Exception {
    try (Connection connection = DriverManager.getConnection(database[0], database[1], database[2]);
        Statement statement = connection.createStatement();
        InputStream script =
            Scheduler.class.getResourceAsStream("/org/quartz/impl/jdbcjobstore/tables_postgres.sql")) {
      statement.execute(new String(script.readAllBytes(), StandardCharsets.UTF_8));
      for (String lock : List.of("TRIGGER_ACCESS", "STATE_ACCESS")) {
        String schedulerName = properties.getProperty("org.quartz.scheduler.instanceName");
        statement.execute("INSERT INTO qrtz_locks VALUES ('" + schedulerName + "', '" + lock + "')");
      }
    }
  }

  private void shutdown() throws Exception {
    if (scheduler != null && !scheduler.isShutdown()) scheduler.shutdown(true);
  }

  /** Stores a trigger, with its job where the command says one; answers the times at which it will fire. */
  private Object schedule(Map<String, String> command) throws Exception {
    AbstractTrigger<?> trigger = trigger(command);
    List<Object> planned = new ArrayList<>();
    for (Date time : TriggerUtils.computeFireTimes(trigger, null, (int) number(command, "show"))) {
      planned.add(time.getTime());
    }
    if (command.containsKey("job.type")) {
      scheduler.scheduleJob(job(command), trigger);
    } else {
      scheduler.scheduleJob(trigger);
    }
    return planned;
  }

  private static JobDetail job(Map<String, String> command) throws ClassNotFoundException {
    return JobBuilder.newJob(Class.forName(command.get("job.type")).asSubclass(Job.class))
        .withIdentity(jobKey(command))
        .withDescription(command.get("job.description"))
        .storeDurably(flag(command, "job.durable"))
        .requestRecovery(flag(command, "job.recovery"))
        .usingJobData(data(command, "job.data."))
        .build();
  }

  private static AbstractTrigger<?> trigger(Map<String, String> command) throws Exception {
    AbstractTrigger<?> trigger = schedule(command, command.get("type"));
    trigger.setKey(triggerKey(command));
    trigger.setJobKey(jobKey(command));
    trigger.setDescription(command.get("description"));
    trigger.setPriority((int) number(command, "priority"));
    trigger.setCalendarName(command.get("calendar"));
    trigger.setJobDataMap(data(command, "data."));
    trigger.setStartTime(new Date(number(command, "start")));
    if (command.containsKey("end")) trigger.setEndTime(new Date(number(command, "end")));
    trigger.setMisfireInstruction((int) number(command, "misfire"));
    return trigger;
  }

  private static AbstractTrigger<?> schedule(Map<String, String> command, String type) throws Exception {
    switch (type) {
      case "simple":
        SimpleTriggerImpl simple = new SimpleTriggerImpl();
        simple.setRepeatCount((int) number(command, "repeatCount"));
        simple.setRepeatInterval(number(command, "intervalMs"));
        return simple;
      case "cron":
        CronTriggerImpl cron = new CronTriggerImpl();
        cron.setCronExpression(command.get("expression"));
        cron.setTimeZone(TimeZone.getTimeZone(command.get("zone")));
        return cron;
      case "calendarInterval":
        CalendarIntervalTriggerImpl interval = new CalendarIntervalTriggerImpl();
        interval.setRepeatInterval((int) number(command, "interval"));
        interval.setRepeatIntervalUnit(IntervalUnit.valueOf(command.get("unit")));
        interval.setTimeZone(TimeZone.getTimeZone(command.get("zone")));
        interval.setPreserveHourOfDayAcrossDaylightSavings(flag(command, "preserveHour"));
        interval.setSkipDayIfHourDoesNotExist(flag(command, "skipDay"));
        return interval;
      case "dailyTimeInterval":
        DailyTimeIntervalTriggerImpl daily = new DailyTimeIntervalTriggerImpl();
        daily.setRepeatInterval((int) number(command, "interval"));
        daily.setRepeatIntervalUnit(IntervalUnit.valueOf(command.get("unit")));
        daily.setRepeatCount((int) number(command, "repeatCount"));
        daily.setStartTimeOfDay(timeOfDay(number(command, "from")));
        daily.setEndTimeOfDay(timeOfDay(number(command, "to")));
        Set<Integer> days = new LinkedHashSet<>();
        for (String day : command.get("days").split(",")) days.add(Integer.valueOf(day));
        daily.setDaysOfWeek(days);
        return daily;
      default:
        throw new IllegalArgumentException("unknown type " + type);
    }
  }

  private static TimeOfDay timeOfDay(long secondOfDay) {
    int second = (int) secondOfDay;
    return new TimeOfDay(second / 3600, second / 60 % 60, second % 60);
  }

  private static long secondOfDay(TimeOfDay time) {
    return time.getHour() * 3600L + time.getMinute() * 60L + time.getSecond();
  }

  private static TriggerKey triggerKey(Map<String, String> command) {
    return new TriggerKey(command.get("name"), command.get("group"));
  }

  private static JobKey jobKey(Map<String, String> command) {
    return new JobKey(command.get("job.name"), command.get("job.group"));
  }

  private static JobDataMap data(Map<String, String> command, String prefix) {
    JobDataMap data = new JobDataMap();
    command.forEach((name, value) -> {
      if (name.startsWith(prefix)) data.put(name.substring(prefix.length()), value);
    });
    return data;
  }

  private static boolean flag(Map<String, String> command, String name) {
    return "true".equals(command.get(name));
  }

  private static long number(Map<String, String> command, String name) {
    return Long.parseLong(command.get(name));
  }

  private static Map<String, String> parse(String query) {
    Map<String, String> command = new LinkedHashMap<>();
    for (String pair : query.split("&")) {
      int equals = pair.indexOf('=');
      command.put(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
    }
    return command;
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }

  private static Map<String, Object> described(JobDetail job) {
    if (job == null) return null;
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("key", job.getKey().toString());
    map.put("jobType", job.getJobClass().getName());
    map.put("description", job.getDescription());
    map.put("durable", job.isDurable());
    map.put("nonConcurrent", job.isConcurrentExectionDisallowed());
    map.put("persistsData", job.isPersistJobDataAfterExecution());
    map.put("requestsRecovery", job.requestsRecovery());
    map.put("data", job.getJobDataMap().getWrappedMap());
    return map;
  }

  private static Map<String, Object> described(Trigger trigger) {
    if (trigger == null) return null;
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("key", trigger.getKey().toString());
    map.put("jobKey", trigger.getJobKey().toString());
    map.put("description", trigger.getDescription());
    map.put("calendarName", trigger.getCalendarName());
    map.put("data", trigger.getJobDataMap().getWrappedMap());
    map.put("priority", trigger.getPriority());
    map.put("startTimeMs", ms(trigger.getStartTime()));
    map.put("endTimeMs", ms(trigger.getEndTime()));
    map.put("nextFireTimeMs", ms(trigger.getNextFireTime()));
    map.put("previousFireTimeMs", ms(trigger.getPreviousFireTime()));
    map.put("misfireInstruction", trigger.getMisfireInstruction());
    describeSchedule(trigger, map);
    return map;
  }

  private static void describeSchedule(Trigger trigger, Map<String, Object> map) {
    if (trigger instanceof SimpleTrigger) {
      SimpleTrigger simple = (SimpleTrigger) trigger;
      map.put("type", "simple");
      map.put("timesTriggered", simple.getTimesTriggered());
      map.put("repeatCount", simple.getRepeatCount());
      map.put("repeatIntervalMs", simple.getRepeatInterval());
    } else if (trigger instanceof CronTrigger) {
      CronTrigger cron = (CronTrigger) trigger;
      map.put("type", "cron");
      map.put("expression", cron.getCronExpression());
      map.put("timeZone", cron.getTimeZone().getID());
    } else if (trigger instanceof CalendarIntervalTrigger) {
      CalendarIntervalTrigger interval = (CalendarIntervalTrigger) trigger;
      map.put("type", "calendarInterval");
      map.put("timesTriggered", interval.getTimesTriggered());
      map.put("repeatInterval", interval.getRepeatInterval());
      map.put("repeatIntervalUnit", interval.getRepeatIntervalUnit().name());
      map.put("timeZone", interval.getTimeZone().getID());
      map.put("preserveHourOfDayAcrossDaylightSavings", interval.isPreserveHourOfDayAcrossDaylightSavings());
      map.put("skipDayIfHourDoesNotExist", interval.isSkipDayIfHourDoesNotExist());
    } else if (trigger instanceof DailyTimeIntervalTrigger) {
      DailyTimeIntervalTrigger daily = (DailyTimeIntervalTrigger) trigger;
      map.put("type", "dailyTimeInterval");
      map.put("timesTriggered", daily.getTimesTriggered());
      map.put("repeatInterval", daily.getRepeatInterval());
      map.put("repeatIntervalUnit", daily.getRepeatIntervalUnit().name());
      map.put("repeatCount", daily.getRepeatCount());
      map.put("startSecondOfDay", secondOfDay(daily.getStartTimeOfDay()));
      map.put("endSecondOfDay", secondOfDay(daily.getEndTimeOfDay()));
      map.put("daysOfWeek", daily.getDaysOfWeek().stream().sorted().toArray());
    }
  }

  private static Long ms(Date date) {
    return date == null ? null : date.getTime();
  }

  private static String json(Object value) {
    if (value instanceof Object[]) return json(List.of((Object[]) value));
    if (value == null || value instanceof Number || value instanceof Boolean) return String.valueOf(value);
    StringBuilder text = new StringBuilder();
    if (value instanceof Map) {
      ((Map<?, ?>) value).forEach((name, item) ->
          text.append(text.length() == 0 ? "" : ",").append(json(name)).append(':').append(json(item)));
      return "{" + text + "}";
    }
    if (value instanceof Collection) {
      for (Object item : (Collection<?>) value) text.append(text.length() == 0 ? "" : ",").append(json(item));
      return "[" + text + "]";
    }
    for (char c : value.toString().toCharArray()) {
      if (c == '"' || c == '\\') text.append('\\').append(c);
      else if (c < 0x20) text.append(String.format("\\u%04x", (int) c));
      else text.append(c);
    }
    return "\"" + text + "\"";
  }

  /** One line, written at once, at the end of the file: lines of all nodes stand there in the order of what happened. */
  private static void record(String kind, JobExecutionContext context) throws IOException {
    OperableTrigger trigger = (OperableTrigger) context.getTrigger();
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", System.currentTimeMillis());
    line.put("kind", kind);
    line.put("node", node);
    line.put("trigger", trigger.getKey().toString());
    line.put("job", context.getJobDetail().getKey().toString());
    line.put("planned", ms(context.getScheduledFireTime()));
    line.put("id", context.getFireInstanceId());
    line.put("recovering", context.isRecovering() ? context.getRecoveringTriggerKey().toString() : null);
    line.put("note", context.getMergedJobDataMap().getString("note"));
    history.write((json(line) + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Writes when it begins and ends; in between it sleeps as long as its data say, unless it recovers. */
  public static class RecordJob implements Job {
    @Override
    public void execute(JobExecutionContext context) throws JobExecutionException {
      try {
        record("started", context);
        String bodyMs = context.getMergedJobDataMap().getString("bodyMs");
        if (bodyMs != null && !context.isRecovering()) Thread.sleep(Long.parseLong(bodyMs));
        record("ended", context);
      } catch (IOException | InterruptedException e) {
        throw new JobExecutionException(e);
      }
    }
  }

  /** The same, never twice at a time for one job. */
  @DisallowConcurrentExecution
  public static final class ExclusiveJob extends RecordJob {}
}
