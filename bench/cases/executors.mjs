import { seededRandom } from '../lib/random.mjs'
import { nextTurn } from '../lib/stalls.mjs'

const noop = () => {}

async function executor(engine) {
  const { ScheduledExecutor } = await import('../lib/executors.mjs')
  const made = new ScheduledExecutor({ engine, removeOnCancel: true })
  return { add: (task, delayMs) => made.schedule(task, delayMs), cancel: (future) => future.cancel() }
}

/** Each answers how to add a one-off task and how to withdraw it. */
const schedulers = {
  heap: () => executor('heap'),
  wheel: () => executor('wheel'),
  setTimeout: async () => ({ add: (task, delayMs) => setTimeout(task, delayMs), cancel: clearTimeout }),
  'toad-scheduler': async () => {
    const { SimpleIntervalJob, Task, ToadScheduler } = await import('toad-scheduler')
    const scheduler = new ToadScheduler()
    let count = 0
    return {
      add(task, delayMs) {
        const id = `task-${count++}`
        const job = new SimpleIntervalJob({ milliseconds: Math.round(delayMs) }, new Task(id, task), { id })
        scheduler.addSimpleIntervalJob(job)
        return id
      },
      cancel: (id) => scheduler.removeById(id),
    }
  },
  'node-schedule': async () => {
    const { default: schedule } = await import('node-schedule')
    return {
      add: (task, delayMs) => schedule.scheduleJob(new Date(Date.now() + delayMs), task),
      cancel: (job) => job.cancel(),
    }
  },
}

/** It keeps its jobs in a sorted list and goes through that for each new one: 100,000 would take many minutes. */
const fewer = { 'node-schedule': 10_000 }

const own = ['heap', 'wheel', 'setTimeout']

/** Nanoseconds of processor time for one of `count` since `start`: time of other processes does not count. */
function nanoseconds(start, count) {
  const { user, system } = process.cpuUsage(start)
  return ((user + system) / count) * 1000
}

async function usedBytes() {
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn()
    globalThis.gc()
  }
  // Typed arrays lie outside of the heap.
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Adds `count` tasks with delays in the range, and answers them shuffled. */
function fill({ add }, count, [fromMs, toMs], random, task = noop) {
  const added = new Array(count)
  for (let index = 0; index < count; index++) added[index] = add(task, fromMs + random() * (toMs - fromMs))
  return added
}

function shuffle(list, random) {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    ;[list[index], list[other]] = [list[other], list[index]]
  }
}

const againstPeers = (median, metric) => {
  const peers = Math.min(...['toad-scheduler', 'node-schedule'].map((peer) => median(`${peer}: ${metric}`)))
  return [
    {
      what: `heap: ${metric}, against setTimeout`,
      value: median(`heap: ${metric}`) / median(`setTimeout: ${metric}`),
      relation: '<=',
      limit: 1,
    },
    {
      what: `heap: ${metric}, against the best library`,
      value: median(`heap: ${metric}`) / peers,
      relation: '<',
      limit: 1,
    },
  ]
}

export const alive = {
  name: 'timers-alive',
  title: '100,000 one-off tasks alive (node-schedule: 10,000), due in 10 to 70 minutes; processor time',
  variants: [...own, 'toad-scheduler', 'node-schedule'],
  rounds: 5,
  execArgv: ['--expose-gc'],
  goals: (median) =>
    ['bytes each', 'ns to add', 'ns to cancel'].flatMap((metric) => againstPeers(median, metric)),
  async run(variant, { once, seed }) {
    const count = once ? 1_000 : (fewer[variant] ?? 100_000)
    const random = seededRandom(seed)
    const scheduler = await schedulers[variant]()
    const range = [600_000, 4_200_000]
    for (const task of fill(scheduler, 1000, range, random)) scheduler.cancel(task)
    const before = await usedBytes()
    const start = process.cpuUsage()
    const tasks = fill(scheduler, count, range, random)
    const added = nanoseconds(start, count)
    // The array that holds the handles is the benchmark's own.
    const bytes = ((await usedBytes()) - before) / count - 8
    shuffle(tasks, random)
    const cancelStart = process.cpuUsage()
    for (const task of tasks) scheduler.cancel(task)
    return { 'bytes each': bytes, 'ns to add': added, 'ns to cancel': nanoseconds(cancelStart, count) }
  },
}

export const cancelled = {
  name: 'timers-cancelled',
  title:
    '1,000,000 tasks, due in 1 to 30 seconds, added and cancelled in random order: ns of processor time for both',
  variants: own,
  rounds: 3,
  execArgv: ['--max-old-space-size=4096'],
  goals: () => [],
  async run(variant, { once, seed }) {
    const count = once ? 1_000 : 1_000_000
    const random = seededRandom(seed)
    const scheduler = await schedulers[variant]()
    const start = process.cpuUsage()
    const tasks = fill(scheduler, count, [1000, 30_000], random)
    const added = nanoseconds(start, count)
    shuffle(tasks, random)
    const cancelStart = process.cpuUsage()
    for (const task of tasks) scheduler.cancel(task)
    return { ns: added + nanoseconds(cancelStart, count) }
  },
}

export const fired = {
  name: 'timers-fired',
  title:
    '1,000,000 tasks, added in random order of their times and then all due: ns of processor time to fire one',
  variants: own,
  rounds: 3,
  execArgv: ['--max-old-space-size=4096'],
  goals: () => [],
  async run(variant, { once, seed }) {
    const count = once ? 1_000 : 1_000_000
    const scheduler = await schedulers[variant]()
    return { ns: await fireAll(scheduler, count, seededRandom(seed)) }
  },
}

/** Adds tasks of the next second, lets all of them come due, and answers what firing one takes. */
async function fireAll(scheduler, count, random) {
  let left = count
  let done
  const all = new Promise((resolve) => {
    done = resolve
  })
  fill(scheduler, count, [1, 1000], random, () => {
    if (--left === 0) done()
  })
  const dueMs = performance.now() + 1010
  while (performance.now() < dueMs);
  const start = process.cpuUsage()
  await all
  return nanoseconds(start, count)
}

export const engines = {
  name: 'timer-engines',
  title: 'Heap against wheel: ns of processor time to add, cancel and fire a task, by number',
  variants: ['heap', 'wheel'],
  rounds: 3,
  execArgv: ['--max-old-space-size=4096'],
  goals: () => [],
  async run(variant, { once, seed }) {
    const measured = {}
    // Compiled code is there before anything is counted.
    const warm = await schedulers[variant]()
    for (const task of fill(warm, once ? 100 : 50_000, [1000, 30_000], seededRandom(seed))) warm.cancel(task)
    await fireAll(warm, once ? 100 : 50_000, seededRandom(seed))
    for (const count of once ? [100, 1_000] : [10_000, 100_000, 1_000_000]) {
      // Few tasks take little time: they are measured several times, so that a collection of garbage does not count.
      const times = once ? 1 : Math.min(5, 1_000_000 / count)
      const sums = { add: 0, cancel: 0, fire: 0 }
      for (let time = 0; time < times; time++) {
        const random = seededRandom(seed + time)
        const scheduler = await schedulers[variant]()
        const start = process.cpuUsage()
        const tasks = fill(scheduler, count, [1000, 30_000], random)
        sums.add += nanoseconds(start, count)
        shuffle(tasks, random)
        const cancelStart = process.cpuUsage()
        for (const task of tasks) scheduler.cancel(task)
        sums.cancel += nanoseconds(cancelStart, count)
        sums.fire += await fireAll(scheduler, count, random)
      }
      for (const [what, sum] of Object.entries(sums)) {
        measured[`${count.toLocaleString('en-US')}: ${what}`] = sum / times
      }
    }
    return measured
  },
}

const ways = {
  'one sift, as Timer': (heap, item, dueMs) => heap.rekey(item, dueMs),
  'two sifts, as ScheduledThreadPoolExecutor': (heap, item, dueMs) => {
    heap.remove(item)
    heap.insert(item, dueMs)
  },
}

export const reschedule = {
  name: 'timer-reschedule',
  title:
    'The first of 10,000 periodic tasks put back with its next time, 1,000,000 times: ns of processor time each',
  variants: Object.keys(ways),
  rounds: 3,
  goals: () => [],
  async run(variant, { once, seed }) {
    const { DelayHeap } = await import('../lib/executors.mjs')
    const [size, count] = once ? [100, 1_000] : [10_000, 1_000_000]
    const random = seededRandom(seed)
    const heap = new DelayHeap()
    for (let sequence = 0; sequence < size; sequence++) {
      heap.insert({ sequence, queueIndex: -1 }, random() * 1000)
    }
    const start = process.cpuUsage()
    for (let run = 0; run < count; run++) {
      const first = heap.peekDue(Number.MAX_VALUE)
      ways[variant](heap, first, heap.nextWakeMs() + 1000 * random())
    }
    return { ns: nanoseconds(start, count) }
  },
}
