// A node of an application whose schedules are declared in its code, in the built package. Every run goes to a file
// to which all nodes append. Arguments: the engine, where the data are, the file, the instance id, the code it has.

import { openSync, writeSync } from 'node:fs'
import { createScheduler, defineJob, defineSchedule, jobKey } from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'
import { sqliteJobStore } from '../../dist/sqlite.js'

const [engine, where, path, instanceId, code] = process.argv.slice(2)
const log = openSync(path, 'a')
const write = (line) => writeSync(log, `${JSON.stringify({ node: instanceId, ...line })}\n`)

const record = defineJob('record', (context) => {
  const planned = context.scheduledFireTime.getTime()
  write({ kind: context.jobKey.name, planned, code: context.mergedJobDataMap.code })
})
const counter = defineJob(
  'counter',
  (context) => {
    const data = context.jobDetail.jobDataMap
    data.count++
    write({
      kind: 'counter',
      planned: context.scheduledFireTime.getTime(),
      code: data.code,
      count: data.count,
    })
  },
  { disallowConcurrentExecution: true, persistJobDataAfterExecution: true },
)

// The same seconds, which look like another plan.
const cron = code === 'old' ? '* * * * * ?' : '0/1 * * * * ?'
const plan = (key) => defineSchedule(record, { key, cron, zone: 'UTC', data: { code } })
const schedules = [
  plan('tick'),
  plan('held'),
  plan(code === 'old' ? 'removed' : 'added'),
  defineSchedule(counter, { key: 'counter', cron, zone: 'UTC', data: { code, count: 0 } }),
]

const scheduler = await createScheduler({
  instanceId,
  jobs: [record, counter],
  jobStore:
    engine === 'SQLite' ? sqliteJobStore({ filename: where }) : postgresJobStore({ connectionString: where }),
  schedules,
})
scheduler.events.on('schedulerError', ({ message, error }) => {
  write({ kind: 'error', message, error: String(error.cause ?? error) })
})
await scheduler.start()

process.once('disconnect', () => process.exit(0))
process.on('message', async (order) => {
  if (order === 'pause') {
    await scheduler.pauseJob(jobKey('held'))
    process.send('paused')
  } else {
    await scheduler.shutdown({ waitForJobsToComplete: true })
    process.disconnect()
  }
})
process.send('started')
