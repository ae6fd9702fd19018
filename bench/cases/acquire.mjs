import { JobBuilder, ramJobStore, systemClock, TriggerBuilder, TriggerKey } from '../lib/quartz-ts.mjs'

const sizes = [1000, 1_000_000]
/** What the loop asks for by default: a batch as large as the pool. */
const maxCount = 10

export const benchmark = {
  name: 'acquire',
  title: 'RAM store: microseconds to acquire and release 10 triggers among many waiting',
  variants: sizes.map((size) => `among ${size}`),
  rounds: 5,
  execArgv: ['--max-old-space-size=6144'],
  goals: (median) => [
    {
      what: 'cost among 1,000,000 against 1,000',
      value: median(`among ${sizes[1]}: microseconds`) / median(`among ${sizes[0]}: microseconds`),
      relation: '<',
      limit: 2,
    },
  ],
  async run(variant, { once }) {
    const waiting = Number(variant.split(' ').at(-1))
    const store = await filledStore(once ? Math.min(waiting, 20_000) : waiting)
    const repeats = once ? 100 : 50_000
    await acquireAndRelease(store, repeats)
    const startedMs = performance.now()
    await acquireAndRelease(store, repeats)
    return { microseconds: ((performance.now() - startedMs) * 1000) / repeats }
  },
}

async function acquireAndRelease(store, repeats) {
  // Beyond every fire time, so that all triggers are candidates.
  const noLaterThanMs = Date.now() + 10 * 86_400_000
  for (let repeat = 0; repeat < repeats; repeat++) {
    const acquired = await store.acquireNextTriggers({ noLaterThanMs, maxCount, timeWindowMs: 86_400_000 })
    if (acquired.length !== maxCount) throw new Error(`acquired ${acquired.length}`)
    await store.releaseAcquiredTriggers(acquired)
  }
}

async function filledStore(count) {
  const store = ramJobStore()
  await store.initialize({
    schedulerName: 'bench',
    instanceId: 'bench',
    clock: systemClock,
    ids: { uniqueName: () => 'bench', random: () => 0.5 },
    logger: silent,
    signaler: deaf,
    misfireThresholdMs: 60_000,
    knowsJobType: () => true,
    remoteItems: () => 1,
  })
  const job = JobBuilder.newJob('noop').withIdentity('job').storeDurably().build()
  await store.addJob(job, { replace: false })
  const firstMs = Date.now() + 86_400_000
  for (let index = 0; index < count; index++) {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(new TriggerKey(`trigger-${index}`))
      .forJob(job)
      .startAt(new Date(firstMs + ((index * 7919) % 86_400_000)))
      .build()
    const triggers = [trigger.computeFirstFireTime(null)]
    await store.scheduleJobs([{ job: null, triggers }], { replace: false })
  }
  return store
}

const nothing = () => {}
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const deaf = {
  triggerMisfired: nothing,
  firesMissed: nothing,
  triggerFinalized: nothing,
  jobDeleted: nothing,
  triggerInError: nothing,
  schedulingChanged: nothing,
  storeError: nothing,
}
