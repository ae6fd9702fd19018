// A NestJS application with jobs.
// npm install @nestjs/common @nestjs/core reflect-metadata rxjs; compile with experimentalDecorators
import 'reflect-metadata'
import { Inject, Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import {
  CronScheduleBuilder,
  type Job,
  JobBuilder,
  type JobExecutionContext,
  type Scheduler,
  TriggerBuilder,
} from 'quartz-ts'
import { Scheduled } from 'quartz-ts/annotations'
import { QuartzModule, SCHEDULER } from './quartz-module.ts'

@Injectable()
class Mailer {
  send(to: string, text: string): void {
    console.log(`to ${to}: ${text}`)
  }
}

@Injectable()
class ReportJob implements Job {
  static readonly jobType = 'report'

  constructor(private readonly mailer: Mailer) {}

  async execute({ mergedJobDataMap }: JobExecutionContext): Promise<void> {
    this.mailer.send(String(mergedJobDataMap['to']), 'the report')
  }
}

@Injectable()
class Housekeeping {
  constructor(private readonly mailer: Mailer) {}

  @Scheduled({ cron: '*/1 * * * * *' })
  async tidyUp(): Promise<void> {
    this.mailer.send('ops@example.com', 'tidied up')
  }
}

@Injectable()
class Reports {
  constructor(@Inject(SCHEDULER) private readonly scheduler: Scheduler) {}

  async order(to: string): Promise<void> {
    const job = JobBuilder.newJob(ReportJob.jobType).withIdentity('daily').usingJobData({ to }).build()
    const weekdays = CronScheduleBuilder.cronSchedule('0 0 7 ? * MON-FRI').inTimeZone('Europe/Paris')
    const trigger = TriggerBuilder.newTrigger().withIdentity('daily').withSchedule(weekdays).build()
    await this.scheduler.scheduleJob(job, trigger, { replace: true })
    await this.scheduler.triggerJob(job.key)
  }
}

@Module({
  imports: [QuartzModule.forRoot({ jobs: [ReportJob] })],
  providers: [Mailer, ReportJob, Housekeeping, Reports],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] })
// SIGTERM ends the application: running jobs get thirty seconds.
app.enableShutdownHooks()

const scheduler = app.get<Scheduler>(SCHEDULER)
const ran = new Set<string>()
const bothRan = new Promise<void>((resolve) => {
  scheduler.events.on('jobWasExecuted', ({ context }) => {
    ran.add(context.jobDetail.jobType)
    if (ran.size === 2) resolve()
  })
})
await app.get(Reports).order('ann@example.com')
await bothRan
await app.close()
console.log('closed')
