// Schedules in one line: one of its own, and a set that is declared at each start. node examples/schedules.js
import { createScheduler, defineJob, defineSchedule } from 'quartz-ts'

const report = defineJob('report', ({ mergedJobDataMap: { to } }) => {
  console.log(`a report to ${to}`)
})
const clean = defineJob('clean', () => {
  console.log('cleaned')
})

const daily = (time) =>
  defineSchedule(report, { key: 'daily', daily: time, zone: 'Europe/Paris', data: { to: 'ops@example.com' } })

const scheduler = await createScheduler({
  jobs: [report, clean],
  // In a store that others share, every node declares this; the answer is the same on each.
  schedules: {
    name: 'mail',
    schedules: [daily('07:00'), defineSchedule(clean, { key: 'clean', every: '10m' })],
  },
})

// The same again changes nothing; another time changes one, and what is no longer in the list goes.
const show = ({ added, changed, removed, unchanged }) => {
  console.log(
    [...added.map((key) => `added ${key.name}`), ...changed.map((key) => `changed ${key.name}`)]
      .concat(
        removed.map((key) => `removed ${key.name}`),
        unchanged.map((key) => `unchanged ${key.name}`),
      )
      .join(', '),
  )
}
show(await scheduler.reconcile('mail', [daily('07:00')], { dryRun: true }))
show(await scheduler.reconcile('mail', [daily('08:00')]))

// One that is in no set, and one that runs once.
const often = { key: 'often', every: '200ms', data: { to: 'me@example.com' } }
console.log('often:', (await scheduler.schedule(report, often)).change)
console.log('often again:', (await scheduler.schedule(report, often)).change)
await scheduler.schedule(clean, { in: '300ms' })

await scheduler.start()
await scheduler.events.next('jobWasExecuted', ({ context }) => context.jobDetail.jobType === 'clean')
await scheduler.shutdown({ waitForJobsToComplete: true })
console.log('done')
