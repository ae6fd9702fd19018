// A process that calls triggerJob when told: five calls at a time, and says how long each took.
import { postgresJobStore } from '../../dist/postgres.js'
import { createScheduler, defineJob, jobKey } from './quartz-ts.mjs'

const { connectionString, schema, instanceId, fires, calls } = JSON.parse(process.argv[2] ?? '{}')
const scheduler = await createScheduler({
  jobs: [defineJob('noop', () => {})],
  instanceId,
  jobStore: postgresJobStore({ connectionString, schema }),
})
if (fires) await scheduler.start()

// Whoever forked it was killed: nobody would end it.
process.on('disconnect', () => process.exit(1))
process.on('message', async (told) => {
  if (told === 'stop') {
    await scheduler.shutdown({ waitForJobsToComplete: false })
    process.exit(0)
  }
  const tookMs = []
  let left = calls
  let failed = 0
  const caller = async () => {
    while (left-- > 0) {
      const startedMs = performance.now()
      await scheduler.triggerJob(jobKey('called')).catch(() => failed++)
      tookMs.push(performance.now() - startedMs)
    }
  }
  await Promise.all(Array.from({ length: 5 }, caller))
  process.send({ tookMs, failed })
})
process.send('ready')
