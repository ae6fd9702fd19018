// An executor of XXL-JOB in the built package. A run begins, a day passes by its clock, and it ends when it is told to.
// Arguments: the addresses of the admins, the folder of its logs and results, how many times as fast its timers run.

import { systemClock } from '../../dist/index.js'
import { createXxlJobExecutor } from '../../dist/xxl-job.js'

const [adminAddresses, logPath, pace = '1'] = process.argv.slice(2)
const dayMs = 86_400_000
let aheadMs = 0
const clock = {
  ...systemClock,
  now: () => systemClock.now() + aheadMs,
  setTimer: (delayMs, ...rest) => systemClock.setTimer(delayMs / Number(pace), ...rest),
}
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
  // Not made short by the pace.
  adminTimeoutMs: 10_000,
  logger: false,
  handlers: {
    order: async (context) => {
      context.log('before midnight')
      aheadMs += dayMs
      context.log('after midnight')
      process.send({ kind: 'began' })
      await told
      context.handleSuccess('seven ordered')
    },
  },
})
executor.events.on('resultsWaiting', () => process.send({ kind: 'waiting' }))
executor.events.on('resultsSent', ({ adminAddress }) =>
  process.send({ kind: 'reported', address: adminAddress }),
)
process.once('disconnect', () => process.exit(0))
await executor.start()
process.send({ kind: 'ready' })
