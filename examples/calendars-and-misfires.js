// When not to fire, and what to do with what could not. A clock in our hands makes days pass in no time.
// node examples/calendars-and-misfires.js
import {
  CronScheduleBuilder,
  createScheduler,
  defineJob,
  HolidayCalendar,
  JobBuilder,
  TriggerBuilder,
  WeeklyCalendar,
} from 'quartz-ts'
import { ManualClock } from 'quartz-ts/testing'

const timeZone = 'Europe/Paris'
const hourMs = 60 * 60 * 1000
const clock = new ManualClock(new Date('2026-04-02T00:00:00Z'))

const report = defineJob('report', (context) => {
  const late = (context.fireTime - context.scheduledFireTime) / hourMs
  console.log(`${context.jobKey.name}: due ${context.scheduledFireTime.toISOString()}, ${late} hours late`)
})

const scheduler = await createScheduler({ jobs: [report], clock })

// Neither weekends nor Easter Monday.
const weekends = new WeeklyCalendar({ timeZone })
const closed = new HolidayCalendar({ timeZone, excludedDates: ['2026-04-06'], baseCalendar: weekends })
await scheduler.addCalendar('closed', closed)

for (const instruction of ['fireOnceNow', 'doNothing']) {
  await scheduler.scheduleJob(
    JobBuilder.newJob(report).withIdentity(instruction).build(),
    TriggerBuilder.newTrigger({ clock })
      .withSchedule(
        CronScheduleBuilder.cronSchedule('0 0 7 * * ?')
          .inTimeZone(timeZone)
          .withMisfireInstruction(instruction),
      )
      .modifiedByCalendar('closed')
      .build(),
  )
}

await scheduler.start()
console.log('A week, beginning on the Thursday before Easter:')
await clock.advance(7 * 24 * hourMs)

await scheduler.standby()
console.log('Two days and twelve hours without a scheduler, then it is started again:')
await clock.advance(60 * hourMs)
await scheduler.start()
await clock.advance(3 * 24 * hourMs)

await scheduler.shutdown()
