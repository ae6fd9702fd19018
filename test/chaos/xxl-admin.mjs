// A node with one job that executors of XXL-JOB run, and the admin that they register with, in the built package.
// Arguments: where the data are, the instance id, how long a result is awaited, the port.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { createScheduler, JobBuilder, TriggerBuilder } from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'
import { createXxlJobAdmin, xxlJob } from '../../dist/xxl-job.js'

const [connectionString, instanceId, resultTimeoutMs, port] = process.argv.slice(2)
const admin = createXxlJobAdmin({ accessToken: 'chaos', logger: false })
const server = createServer((request, response) => admin.listener(request, response)).listen(
  Number(port),
  '127.0.0.1',
)
await once(server, 'listening')
admin.events.on('executorRegistered', () => process.send({ kind: 'registered' }))
admin.events.on('runSent', (place) => process.send({ kind: 'sent', place, atMs: Date.now() }))

const order = xxlJob('order', {
  admin,
  appName: 'orders',
  jobId: 7,
  handler: 'order',
  route: 'FAILOVER',
  resultTimeoutMs: Number(resultTimeoutMs),
  retry: { attempts: 2, backoff: { type: 'fixed', initialMs: 100, jitter: 0 } },
})
const scheduler = await createScheduler({
  instanceId,
  jobs: [order],
  jobStore: postgresJobStore({
    connectionString,
    checkInIntervalMs: 300,
    failedAfterMs: 1500,
    history: { record: 'all' },
  }),
  logger: false,
  idleWaitMs: 1000,
})
scheduler.events.on('jobWasExecuted', ({ error }) =>
  process.send({ kind: 'ended', code: error?.code ?? null }),
)
scheduler.events.on('resultLate', () => process.send({ kind: 'late' }))
process.once('disconnect', () => process.exit(0))
process.on('message', async (message) => {
  if (message === 'schedule') {
    const job = JobBuilder.newJob(order).withIdentity('order').onNodes([instanceId]).build()
    await scheduler.scheduleJob(job, TriggerBuilder.newTrigger().withIdentity('now').build())
  } else if (message.op === 'log') {
    const { appName, address, logId } = message.place
    const page = await admin.readLog({ appName, address, logId, logDateTime: new Date(message.atMs) })
    process.send({ kind: 'log', text: page.logContent })
  }
})
await scheduler.start()
process.send({ kind: 'ready', address: `http://127.0.0.1:${server.address().port}` })
