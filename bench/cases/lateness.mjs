import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'
import { seededRandom } from '../lib/random.mjs'
import { sleep } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'
import { fineWallClock } from '../lib/wall-clock.mjs'

const schedules = 1000

/** The bare timers do nothing else: what they reach is what Node and the machine give at that moment. */
const ways = { 'quartz-ts': withScheduler, 'bare setTimeout': withTimers }

export const benchmark = {
  name: 'lateness',
  title: 'Lateness of 1,000 triggers, each every second at a random phase, inline, for 30 s',
  variants: Object.keys(ways),
  rounds: 5,
  goals: (median) => [
    { what: 'p99, ms', value: median('quartz-ts: p99 ms'), relation: '<', limit: 1.5 },
    { what: 'max, ms', value: median('quartz-ts: max ms'), relation: '<', limit: 8 },
    { what: 'early fires', value: median('quartz-ts: early fires'), relation: '<=', limit: 0 },
  ],
  run: (way, { once, seed }) =>
    measure(ways[way], { seed, warmUpMs: once ? 500 : 5000, durationMs: once ? 2000 : 30_000 }),
}

async function measure(start, { seed, warmUpMs, durationMs }) {
  const wall = fineWallClock()
  const random = seededRandom(seed)
  const firstMs = Date.now() + 500
  const startsMs = Array.from({ length: schedules }, () => firstMs + Math.floor(random() * 1000))
  const latenesses = []
  let early = 0
  const stop = await start(startsMs, (scheduledMs) => {
    const startedMs = wall.now()
    // "Early" is judged by the clock itself, which has whole milliseconds.
    if (Date.now() < scheduledMs) early++
    latenesses.push(startedMs - scheduledMs)
  })
  await sleep(500 + warmUpMs)
  latenesses.length = 0
  const cpu = process.cpuUsage()
  await sleep(durationMs)
  const { user, system } = process.cpuUsage(cpu)
  const sorted = sortedCopy(latenesses)
  await stop()
  return {
    'p50 ms': quantile(sorted, 0.5),
    'p99 ms': quantile(sorted, 0.99),
    'max ms': sorted.at(-1),
    'early fires': early,
    fires: sorted.length,
    'cpu %': (user + system) / 10 / durationMs,
    'clock drift ms': wall.driftMs(),
  }
}

async function withScheduler(startsMs, onFire) {
  const tick = defineJob('tick', (context) => {
    onFire(context.scheduledFireTime.getTime())
  })
  const scheduler = await createScheduler({ jobs: [tick] })
  const job = JobBuilder.newJob(tick).withIdentity('tick').storeDurably().build()
  await scheduler.addJob(job)
  await scheduler.start()
  for (const [index, startMs] of startsMs.entries()) {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(`tick-${index}`)
      .forJob(job)
      .startAt(new Date(startMs))
      .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
    await scheduler.scheduleJob(trigger.build())
  }
  return () => scheduler.shutdown()
}

async function withTimers(startsMs, onFire) {
  const timers = []
  const arm = (index, dueMs) => {
    timers[index] = setTimeout(() => {
      // A timer may come a millisecond before its time by the wall clock.
      if (Date.now() < dueMs) arm(index, dueMs)
      else {
        onFire(dueMs)
        arm(index, dueMs + 1000)
      }
    }, dueMs - Date.now())
  }
  startsMs.forEach((startMs, index) => arm(index, startMs))
  return async () => timers.forEach((timer) => clearTimeout(timer))
}
