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

export const benchmark = {
  name: 'lateness',
  title:
    'Start of the job minus its scheduled time: 1,000 triggers, each every second at a random phase, inline',
  variants: ['quartz-ts'],
  rounds: 3,
  goals: (median) => [
    { what: 'p99, ms', value: median('p99 ms'), relation: '<', limit: 1.5 },
    { what: 'max, ms', value: median('max ms'), relation: '<', limit: 8 },
    { what: 'early fires', value: median('early fires'), relation: '<=', limit: 0 },
  ],
  run: (_variant, { once, seed }) =>
    measure({ seed, warmUpMs: once ? 500 : 5000, durationMs: once ? 2000 : 30_000 }),
}

async function measure({ seed, warmUpMs, durationMs }) {
  const wall = fineWallClock()
  const latenesses = []
  let early = 0
  const tick = defineJob('tick', (context) => {
    const startedMs = wall.now()
    const scheduledMs = context.scheduledFireTime.getTime()
    // "Early" is judged by the clock itself, which has whole milliseconds.
    if (Date.now() < scheduledMs) early++
    latenesses.push(startedMs - scheduledMs)
  })
  const scheduler = await createScheduler({ jobs: [tick] })
  const job = JobBuilder.newJob(tick).withIdentity('tick').storeDurably().build()
  await scheduler.addJob(job)
  await scheduler.start()
  const random = seededRandom(seed)
  const firstMs = Date.now() + 500
  for (let index = 0; index < schedules; index++) {
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(`tick-${index}`)
      .forJob(job)
      .startAt(new Date(firstMs + Math.floor(random() * 1000)))
      .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
    await scheduler.scheduleJob(trigger.build())
  }
  await sleep(500 + warmUpMs)
  latenesses.length = 0
  const cpu = process.cpuUsage()
  await sleep(durationMs)
  const { user, system } = process.cpuUsage(cpu)
  const sorted = sortedCopy(latenesses)
  await scheduler.shutdown()
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
