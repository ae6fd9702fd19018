// An executor of XXL-JOB in the built package. A run begins, a day passes by its clock, and it ends when it is told to.
// Arguments: the addresses of the admins, the folder of its logs and results.

import { systemClock } from '../../dist/index.js'
import { createXxlJobExecutor } from '../../dist/xxl-job.js'

const [adminAddresses, logPath] = process.argv.slice(2)
const dayMs = 86_400_000
let aheadMs = 0
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
const told = new Promise((resolve) => {
  process.on('message', resolve)
})
const executor = createXxlJobExecutor({
  adminAddresses,
  logPath,
  clock,
  appName: 'orders',
  accessToken: 'chaos',
  port: 0,
  host: '127.0.0.1',
  logger: false,
  handlers: {
    order: async (context) => {
      context.log('before midnight')
      aheadMs += dayMs
      context.log('after midnight')
      process.send({ kind: 'began' })
      await told
    },
  },
})
executor.events.on('resultsWaiting', () => process.send({ kind: 'waiting' }))
executor.events.on('resultsSent', () => process.send({ kind: 'reported' }))
process.once('disconnect', () => process.exit(0))
await executor.start()
process.send({ kind: 'ready' })
