// An instance of an application with scheduled methods, in the built package. Every run goes to a file that all
// instances append to. Arguments: where the database is, the file, the instance id.

import { openSync, writeSync } from 'node:fs'
import { enableScheduling, scheduled } from '../../dist/annotations.js'
import { createScheduler } from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'

const [connectionString, path, instanceId] = process.argv.slice(2)
const log = openSync(path, 'a')

class Heartbeat {
  everySecond({ execution }) {
    this.#record('cron', execution)
  }
  atRate({ execution }) {
    this.#record('fixedRate', execution)
  }
  #record(kind, { scheduledFireTime }) {
    writeSync(log, `${JSON.stringify({ kind, planned: scheduledFireTime.getTime(), node: instanceId })}\n`)
  }
}
scheduled({ cron: '* * * * * *', zone: 'UTC' }, Heartbeat.prototype.everySecond)
scheduled({ fixedRate: '1s' }, Heartbeat.prototype.atRate)

const scheduler = await createScheduler({ instanceId, jobStore: postgresJobStore({ connectionString }) })
scheduler.events.on('schedulerError', ({ message, error }) => {
  writeSync(log, `${JSON.stringify({ kind: 'error', message, error: String(error.cause ?? error) })}\n`)
})
await enableScheduling({ cluster: scheduler, instances: [new Heartbeat()] })
await scheduler.start()

process.once('disconnect', () => process.exit(0))
process.once('message', async () => {
  await scheduler.shutdown({ waitForJobsToComplete: true })
  process.disconnect()
})
process.send('started')
