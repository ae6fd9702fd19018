// A node of an application whose schedules are its annotated methods, in the built package. It is used as
// declared-node.mjs is, and takes the same arguments.

import { openSync, writeSync } from 'node:fs'
import { enableScheduling, scheduled } from '../../dist/annotations.js'
import { createScheduler, jobKey } from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'

const [, connectionString, path, instanceId, code] = process.argv.slice(2)
const log = openSync(path, 'a')
const write = (line) => writeSync(log, `${JSON.stringify({ node: instanceId, code, ...line })}\n`)
const ran = (kind, { scheduledFireTime, recovering }) => {
  write({ kind, planned: scheduledFireTime.getTime(), recovering })
}

class Work {
  tick({ execution }) {
    ran('tick', execution)
  }
  held({ execution }) {
    ran('held', execution)
  }
  slower({ execution }) {
    ran('slower', execution)
  }
  steady({ execution }) {
    ran('steady', execution)
  }
  moved({ execution }) {
    ran(code === 'old' ? 'removed' : 'added', execution)
  }
}
const isOld = code === 'old'
// The same seconds, which look like another plan.
const cron = isOld ? '* * * * * *' : '*/1 * * * * *'
scheduled({ cron, zone: 'UTC' }, Work.prototype.tick)
scheduled({ cron, zone: 'UTC' }, Work.prototype.held)
scheduled({ cron: isOld ? '* * * * * *' : '*/2 * * * * *', zone: 'UTC' }, Work.prototype.slower)
scheduled({ fixedRate: '1s' }, Work.prototype.steady)
scheduled({ cron: '* * * * * *', zone: 'UTC', name: isOld ? 'removed' : 'added' }, Work.prototype.moved)

const scheduler = await createScheduler({ instanceId, jobStore: postgresJobStore({ connectionString }) })
scheduler.events.on('schedulerError', ({ message, error }) => {
  write({ kind: 'error', message, error: String(error.cause ?? error) })
})
await enableScheduling({ cluster: scheduler, instances: [new Work()] })
await scheduler.start()

process.once('disconnect', () => process.exit(0))
process.on('message', async (order) => {
  if (order === 'pause') {
    await scheduler.pauseJob(jobKey('Work.held', 'annotations'))
    process.send('paused')
  } else {
    await scheduler.shutdown({ waitForJobsToComplete: true })
    process.disconnect()
  }
})
process.send('started')
