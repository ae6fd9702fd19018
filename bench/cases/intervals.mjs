import { sleep } from '../lib/stalls.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'
import { fineWallClock } from '../lib/wall-clock.mjs'

const schedules = 1000
const secondMs = 1000
/** A fire is taken for an early one rather than for a late one when it is this much before a planned instant. */
const earlyMaxMs = 50

/**
 * Each starts that many schedules that call `onFire(index)` every second and answers how to end them. Those that know
 * cron only fire at whole seconds, so all do: the hardest case, a thousand at once. toad-scheduler counts from the
 * moment at which a schedule is added; `plannedFrom(index)` tells the time that its grid begins at.
 */
const libraries = {
  'quartz-ts': async (onFire, { firstMs }) => {
    const { createScheduler, defineJob, JobBuilder, SimpleScheduleBuilder, TriggerBuilder } = await import(
      '../lib/quartz-ts.mjs'
    )
    const tick = defineJob('tick', (context) => {
      onFire(context.mergedJobDataMap.index)
    })
    const scheduler = await createScheduler({ jobs: [tick] })
    await scheduler.start()
    for (let index = 0; index < schedules; index++) {
      const job = JobBuilder.newJob(tick).withIdentity(`tick-${index}`).usingJobData({ index }).build()
      const trigger = TriggerBuilder.newTrigger()
        .withIdentity(`tick-${index}`)
        .startAt(new Date(firstMs))
        .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
        .build()
      await scheduler.scheduleJob(job, trigger)
    }
    return () => scheduler.shutdown()
  },
  'node-cron': async (onFire) => {
    const cron = await import('node-cron')
    const quiet = { suppressMissedWarning: true }
    const tasks = everyIndex((index) => cron.schedule('* * * * * *', () => onFire(index), quiet))
    return () => Promise.all(tasks.map((task) => task.destroy()))
  },
  croner: async (onFire) => {
    const { Cron } = await import('croner')
    const tasks = everyIndex((index) => new Cron('* * * * * *', () => onFire(index)))
    return () => tasks.forEach((task) => task.stop())
  },
  'toad-scheduler': async (onFire, { plannedFrom }) => {
    const { SimpleIntervalJob, Task, ToadScheduler } = await import('toad-scheduler')
    const scheduler = new ToadScheduler()
    everyIndex((index) => {
      const task = new Task(`tick-${index}`, () => onFire(index))
      plannedFrom(index)
      scheduler.addSimpleIntervalJob(new SimpleIntervalJob({ seconds: 1 }, task, { id: `tick-${index}` }))
    })
    return () => scheduler.stop()
  },
  'node-schedule': async (onFire) => {
    const { default: schedule } = await import('node-schedule')
    const tasks = everyIndex((index) => schedule.scheduleJob('* * * * * *', () => onFire(index)))
    return () => tasks.forEach((task) => task.cancel())
  },
}

export const benchmark = {
  name: 'intervals',
  title: '1,000 schedules, each every second at the same instants, for 60 s: start minus planned time',
  variants: Object.keys(libraries),
  rounds: 3,
  goals: (median) => {
    const [ours, ...peers] = Object.keys(libraries)
    const fewest = (metric) => Math.min(...peers.map((peer) => median(`${peer}: ${metric}`)))
    return [
      { what: 'lost fires', value: median(`${ours}: lost`), relation: '<=', limit: 0 },
      ...['later than 5 ms', 'later than 50 ms'].map((metric) => ({
        what: `${metric}, against the best peer`,
        value: median(`${ours}: ${metric}`),
        relation: fewest(metric) === 0 ? '<=' : '<',
        limit: fewest(metric),
      })),
    ]
  },
  run: (library, { once }) => measure(libraries[library], once ? 2 : 60),
}

async function measure(start, seconds) {
  const wall = fineWallClock()
  // Time to set up, and then the schedules run for a while before anything is counted.
  const firstMs = Math.ceil(Date.now() / secondMs + 1) * secondMs
  const fromMs = firstMs + 3 * secondMs
  const ledger = new Ledger(fromMs, seconds)
  const stop = await start((index) => ledger.record(index, wall.now()), {
    firstMs,
    plannedFrom: (index) => ledger.setPhase(index, wall.now()),
  })
  await sleep(fromMs + seconds * secondMs - Date.now() + 2 * secondMs)
  await stop()
  return ledger.summary()
}

/** Which planned instants were served, and how late. */
class Ledger {
  #fromMs
  #seconds
  #phasesMs = new Float64Array(schedules)
  #served
  #latenesses = []
  #twice = 0

  constructor(fromMs, seconds) {
    this.#fromMs = fromMs
    this.#seconds = seconds
    this.#served = new Uint8Array(schedules * seconds)
  }

  setPhase(index, plannedMs) {
    this.#phasesMs[index] = ((plannedMs % secondMs) + secondMs) % secondMs
  }

  /** Takes a fire for the last planned instant before it, or the next one when that is very near. */
  record(index, atMs) {
    const sinceMs = atMs - this.#fromMs - this.#phasesMs[index]
    const number = Math.floor((sinceMs + earlyMaxMs) / secondMs)
    if (number < 0 || number >= this.#seconds) return
    const slot = index * this.#seconds + number
    if (this.#served[slot]++ > 0) this.#twice++
    else this.#latenesses.push(sinceMs - number * secondMs)
  }

  summary() {
    const sorted = sortedCopy(this.#latenesses)
    const laterThan = (limitMs) => sorted.length - sorted.filter((ms) => ms <= limitMs).length
    return {
      lost: this.#served.length - sorted.length,
      twice: this.#twice,
      'later than 5 ms': laterThan(5),
      'later than 50 ms': laterThan(50),
      'early by more than 1 ms': sorted.filter((ms) => ms < -1).length,
      'p50 ms': quantile(sorted, 0.5),
      'p99 ms': quantile(sorted, 0.99),
      'max ms': sorted.at(-1),
    }
  }
}

function everyIndex(make) {
  return Array.from({ length: schedules }, (_, index) => make(index))
}
