// A node of an application whose schedules are declared in its code, in the built package. Every run goes to a file
// to which all nodes append. Arguments: the engine, where the data are, the file, the instance id, the code it has, and
// as JSON when others take it for failed, and after how many declared members it dies.

import { openSync, writeSync } from 'node:fs'
import { createScheduler, defineJob, defineSchedule, jobKey } from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'
import { sqliteJobStore } from '../../dist/sqlite.js'

const [engine, where, path, instanceId, code, fate] = process.argv.slice(2)
const { failedAfterMs, members } = JSON.parse(fate)
const die = () => process.kill(process.pid, 'SIGKILL')
let diesInRun = false
const log = openSync(path, 'a')
const write = (line) => writeSync(log, `${JSON.stringify({ node: instanceId, ...line })}\n`)

const record = defineJob('record', (context) => {
  const planned = context.scheduledFireTime.getTime()
  const { recovering, mergedJobDataMap } = context
  write({ kind: context.jobKey.name, planned, recovering, code: mergedJobDataMap.code })
})
const counter = defineJob(
  'counter',
  (context) => {
    const data = context.jobDetail.jobDataMap
    data.count++
    const planned = context.scheduledFireTime.getTime()
    const { recovering } = context
    write({ kind: 'counter', planned, recovering, code: data.code, count: data.count })
    if (diesInRun) {
      write({ kind: 'dying', planned })
      die()
    }
  },
  { disallowConcurrentExecution: true, persistJobDataAfterExecution: true },
)

// The same seconds, which look like another plan.
const cron = code === 'old' ? '* * * * * ?' : '0/1 * * * * ?'
const when = { cron, zone: 'UTC', requestRecovery: true }
const plan = (key) => defineSchedule(record, { key, ...when, data: { code } })
const schedules = [
  plan('tick'),
  plan('held'),
  plan(code === 'old' ? 'removed' : 'added'),
  defineSchedule(counter, { key: 'counter', ...when, data: { code, count: 0 } }),
]

const scheduler = await createScheduler({
  instanceId,
  jobs: [record, counter],
  jobStore:
    engine === 'SQLite'
      ? sqliteJobStore({ filename: where })
      : postgresJobStore({
          connectionString: where,
          ...(failedAfterMs === undefined ? {} : { failedAfterMs, checkInIntervalMs: failedAfterMs / 5 }),
        }),
  ...(members === undefined ? { schedules } : {}),
})
if (members !== undefined) {
  let declared = 0
  scheduler.events.on('jobAdded', () => {
    declared++
    if (declared === members) die()
  })
  await scheduler.reconcile('default', schedules)
}
scheduler.events.on('schedulerError', ({ message, error }) => {
  write({ kind: 'error', message, error: String(error.cause ?? error) })
})
await scheduler.start()

process.once('disconnect', () => process.exit(0))
process.on('message', async (order) => {
  if (order === 'dieInRun') diesInRun = true
  else if (order === 'pause') {
    await scheduler.pauseJob(jobKey('held'))
    process.send('paused')
  } else {
    await scheduler.shutdown({ waitForJobsToComplete: true })
    process.disconnect()
  }
})
process.send('started')
