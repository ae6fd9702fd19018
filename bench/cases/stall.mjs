import {
  CronScheduleBuilder,
  createScheduler,
  defineJob,
  JobBuilder,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'
import { seededRandom } from '../lib/random.mjs'
import { sleep, watchStalls } from '../lib/stalls.mjs'

/** When the triggers fire: each at a second of its own in every minute, or all at the first second of it. */
const spreads = {
  'spread over the minute': (random) => `${Math.floor(random() * 60)} * * * * ?`,
  'all at once': () => '0 * * * * ?',
}

const zones = Intl.supportedValuesOf('timeZone').filter((_, index) => index % 8 === 0)

/** An idle process: what the machine itself stalls at that moment. */
const control = 'idle process'

export const benchmark = {
  name: 'stall',
  title: 'Longest stall of the event loop: 100,000 cron triggers in 53 time zones, each every minute',
  variants: [...Object.keys(spreads), control],
  rounds: 3,
  execArgv: ['--max-old-space-size=4096'],
  goals: (median) =>
    Object.keys(spreads).flatMap((spread) =>
      ['storing', 'firing'].map((phase) => ({
        what: `${spread}: stall while ${phase}, ms`,
        value: median(`${spread}: ${phase}: stall ms`),
        relation: '<=',
        limit: 20,
      })),
    ),
  async run(variant, { once, seed }) {
    // Longer than a minute, so that every trigger fires.
    const firingMs = once ? 1000 : 65_000
    if (variant === control) return stallsOf('firing', await watched(() => sleep(firingMs)))
    return storeAndFire(spreads[variant], { seed, count: once ? 2000 : 100_000, firingMs })
  },
}

async function storeAndFire(expressionOf, { seed, count, firingMs }) {
  let fires = 0
  const tick = defineJob('tick', () => {
    fires++
  })
  const scheduler = await createScheduler({ jobs: [tick] })
  await scheduler.start()
  const storing = await watched(() => store(scheduler, tick, expressionOf, { count, seed }))
  fires = 0
  const firing = await watched(() => sleep(firingMs))
  const firesCounted = fires
  await scheduler.shutdown()
  return {
    ...stallsOf('storing', storing),
    'storing: triggers/s': count / (storing.elapsedMs / 1000),
    ...stallsOf('firing', firing),
    'firing: fires': firesCounted,
  }
}

function stallsOf(phase, { heartbeatMs, histogramMs }) {
  return { [`${phase}: stall ms`]: heartbeatMs, [`${phase}: stall by Node's histogram ms`]: histogramMs }
}

async function watched(action) {
  // What came before must not count: neither its pending work nor its garbage.
  await sleep(500)
  const stalls = watchStalls()
  const startedMs = performance.now()
  await action()
  const elapsedMs = performance.now() - startedMs
  return { ...stalls.stop(), elapsedMs }
}

async function store(scheduler, tick, expressionOf, { count, seed }) {
  const random = seededRandom(seed)
  const job = JobBuilder.newJob(tick).withIdentity('tick').storeDurably().build()
  await scheduler.addJob(job)
  for (let index = 0; index < count; index++) {
    const schedule = CronScheduleBuilder.cronSchedule(expressionOf(random)).inTimeZone(
      zones[index % zones.length],
    )
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(`tick-${index}`)
      .forJob(job)
      .withSchedule(schedule)
    await scheduler.scheduleJob(trigger.build())
  }
}
