// A NestJS application with jobs.
// npm install @nestjs/common @nestjs/core reflect-metadata rxjs; compile with experimentalDecorators
import 'reflect-metadata'
import { Inject, Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { Job, JobExecutionContext, Scheduler } from 'quartz-ts'
import { Scheduled } from 'quartz-ts/annotations'
import { QuartzModule, SCHEDULER } from './quartz-module.ts'

@Injectable()
class Mailer {
  send(to: string, text: string): void {
    console.log(`to ${to}: ${text}`)
  }
}

@Injectable()
class ReportJob implements Job<{ to: string }> {
  /** What the store keeps: it stays the same when the class is renamed. */
  static readonly jobType = 'report'

  constructor(private readonly mailer: Mailer) {}

  async execute({ mergedJobDataMap: { to } }: JobExecutionContext<{ to: string }>): Promise<void> {
    this.mailer.send(to, 'the report')
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
    // Safe at every start: what is stored the same is left alone, with its pause and what is due.
    await this.scheduler.schedule(ReportJob, {
      key: 'daily',
      cron: '0 7 * * MON-FRI',
      zone: 'Europe/Paris',
      data: { to },
    })
    await this.scheduler.runNow('daily')
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
