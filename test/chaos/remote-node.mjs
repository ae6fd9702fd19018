// A node with one remote job, in the built package; it can end itself with SIGKILL at a named point. What it sends goes
// to a file to which all nodes append. Arguments: the engine, where the data are, the file, the instance id, the point.

import { openSync, writeSync } from 'node:fs'
import { createScheduler, defineRemoteJob, JobBuilder, TriggerBuilder } from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'
import { sqliteJobStore } from '../../dist/sqlite.js'

const [engine, where, path, instanceId, killAt] = process.argv.slice(2)
const log = openSync(path, 'a')
const pass = (point) => {
  if (point === killAt) process.kill(process.pid, 'SIGKILL')
}

const order = defineRemoteJob('order', async (context) => {
  pass('beforeHandOver')
  await context.awaitResult({ reference: 'order-1', timeoutMs: 600_000 })
  pass('beforeSend')
  writeSync(log, `sent by ${instanceId}\n`)
  pass('afterSend')
  process.send('sent')
})

const history = { record: 'all' }
const jobStore =
  engine === 'SQLite'
    ? sqliteJobStore({ filename: where, history })
    : postgresJobStore({ connectionString: where, checkInIntervalMs: 300, failedAfterMs: 1500, history })
const complete = jobStore.triggeredJobsComplete.bind(jobStore)
jobStore.triggeredJobsComplete = async (completions) => {
  pass('beforeCompletion')
  const answer = await complete(completions)
  pass('afterCompletion')
  return answer
}

const scheduler = await createScheduler({
  instanceId,
  jobs: [order],
  jobStore,
  logger: false,
  idleWaitMs: 1000,
})
process.once('disconnect', () => process.exit(0))
process.on('message', async (message) => {
  if (message === 'start') {
    await scheduler.start()
    process.send('started')
  } else if (message === 'schedule') {
    const job = JobBuilder.newJob(order).withIdentity('order').requestRecovery().build()
    await scheduler.scheduleJob(job, TriggerBuilder.newTrigger().withIdentity('now').build())
  } else if (message === 'report') {
    process.send({ isTaken: await scheduler.reportResult('order-1', { result: 'done' }) })
  } else {
    await scheduler.shutdown()
    process.disconnect()
  }
})
process.send('ready')
