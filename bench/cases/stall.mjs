import {
  CronScheduleBuilder,
  createScheduler,
  defineJob,
  JobBuilder,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'
import { seededRandom } from '../lib/random.mjs'
import { nextTurn, sleep, watchStalls } from '../lib/stalls.mjs'

/** When the triggers fire: each at a second of its own in every minute, or all at the first second of it. */
const spreads = {
  'spread over the minute': (random) => `${Math.floor(random() * 60)} * * * * ?`,
  'all at once': () => '0 * * * * ?',
}

export const benchmark = {
  name: 'stall',
  title: 'Longest stall of the event loop: 100,000 cron triggers in 50 time zones, each every minute',
  variants: Object.keys(spreads),
  rounds: 3,
  execArgv: ['--max-old-space-size=4096'],
  goals: (median) =>
    Object.keys(spreads).map((spread) => ({
      what: `stall while firing, ${spread}, ms`,
      value: median(`${spread}: firing: heartbeat ms`),
      relation: '<=',
      limit: 20,
    })),
  async run(spread, { once, seed }) {
    const count = once ? 2000 : 100_000
    const firingMs = once ? 1000 : 75_000
    let fires = 0
    const tick = defineJob('tick', () => {
      fires++
    })
    const scheduler = await createScheduler({ jobs: [tick] })
    const storing = await watched(() => store(scheduler, tick, spreads[spread], { count, seed }))
    await scheduler.start()
    fires = 0
    const firing = await watched(() => sleep(firingMs))
    const firesCounted = fires
    await scheduler.shutdown()
    return {
      'storing: heartbeat ms': storing.heartbeatMs,
      'storing: triggers/s': count / (storing.elapsedMs / 1000),
      'firing: heartbeat ms': firing.heartbeatMs,
      'firing: delay histogram ms': firing.histogramMs,
      'firing: fires': firesCounted,
    }
  },
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
  const zones = Intl.supportedValuesOf('timeZone').filter((_, index) => index % 8 === 0)
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
    // A program that stores this much lets others have their turn.
    if (index % 100 === 99) await nextTurn()
  }
}
