// A service that is told to stop lets its running jobs end, and those that take too long are interrupted.
// node examples/graceful-shutdown.js
import { createScheduler, defineJob, JobBuilder, shutdownHookPlugin, TriggerBuilder } from 'quartz-ts'

const sleep = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })

const order = defineJob('order', async (context) => {
  console.log('the order is being written ...')
  context.progress('half done')
  await sleep(1000, context.signal)
  console.log('... and is complete')
})

const scheduler = await createScheduler({
  jobs: [order],
  // SIGINT and SIGTERM: no new firings, at most ten seconds for the running ones.
  plugins: [shutdownHookPlugin({ interruptAfterMs: 10_000 })],
})
scheduler.events.on('schedulerShutdown', () => {
  console.log('the scheduler has shut down; nothing keeps the process')
})

await scheduler.scheduleJob(JobBuilder.newJob(order).build(), TriggerBuilder.newTrigger().startNow().build())
await scheduler.start()
await scheduler.events.next('jobProgress')

console.log('SIGTERM')
process.kill(process.pid, 'SIGTERM')
