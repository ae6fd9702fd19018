import { describe, expect, it } from 'vitest'
import type { DelayQueue } from '../../src/executors/delay-queue.ts'
import { DelayedWorkQueue } from '../../src/executors/delay-queue.ts'
import type { Delayed } from '../../src/executors/delayed.ts'
import { HashedWheelTimer } from '../../src/executors/hashed-wheel-timer.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

interface Item extends Delayed {
  readonly name: string
}

const item = (name: string): Item => ({ name, sequence: 0, queueIndex: -1 })
const hundredYearsMs = 100 * 365.25 * 86_400_000

const queues: [string, (clock: ManualClock) => DelayQueue<Item>][] = [
  ['DelayedWorkQueue', (clock) => new DelayedWorkQueue({ clock })],
  ['HashedWheelTimer', (clock) => new HashedWheelTimer({ clock })],
  ['HashedWheelTimer of few slots', (clock) => new HashedWheelTimer({ clock, tickMs: 5, ticksPerWheel: 4 })],
]

// Delays are multiples of every tick, so that a wheel has no reason to be late.
describe.each(queues)('%s', (_name, make) => {
  const setUp = (): { clock: ManualClock; queue: DelayQueue<Item> } => {
    const clock = new ManualClock()
    return { clock, queue: make(clock) }
  }

  it('E11: poll answers an expired head only, the earliest first, and ties in the order of their coming', async () => {
    const { clock, queue } = setUp()
    for (const [name, delayMs] of [
      ['late', 100],
      ['early', 50],
      ['also early', 50],
    ] as const) {
      queue.offer(item(name), delayMs)
    }
    expect(queue.poll()).toBeNull()
    await clock.advance(60)
    expect(queue.poll()?.name).toBe('early')
    expect(queue.poll()?.name).toBe('also early')
    expect(queue.poll()).toBeNull()
    expect(queue.size).toBe(1)
    expect(clock.timerCount).toBe(0)
  })

  it('E11: ten takers and one item arm one timer, and one taker has the item', async () => {
    const { clock, queue } = setUp()
    const given: string[] = []
    for (let taker = 0; taker < 10; taker++) {
      void queue.take().then(({ name }) => given.push(`${taker}: ${name}`))
    }
    expect(clock.timerCount).toBe(0)
    queue.offer(item('only'), 100)
    expect(clock.timerCount).toBe(1)
    await clock.advance(200)
    expect(given).toEqual(['0: only'])
    expect(clock.timerCount).toBe(0)
    queue.offer(item('next'), 0)
    await clock.settle()
    await clock.advance(10)
    expect(given).toEqual(['0: only', '1: next'])
  })

  it('E10: an earlier item wakes a taker that waits for a later one', async () => {
    const { clock, queue } = setUp()
    const taken = queue.take()
    queue.offer(item('later'), 10_000)
    queue.offer(item('sooner'), 100)
    expect(clock.timerCount).toBe(1)
    await clock.advance(110)
    expect((await taken).name).toBe('sooner')
  })

  it('E10: refuses what is no delay, and an item that is in a queue already', () => {
    const { queue } = setUp()
    const queued = item('queued')
    queue.offer(queued, 10)
    expect(() => {
      queue.offer(queued, 20)
    }).toThrow(expect.objectContaining({ field: 'item' }))
    expect(() => {
      queue.offer({ name: 'bare' } as never, 10)
    }).toThrow(/needs the notes of its queue: 'sequence: 0'/)
    for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => {
        queue.offer(item('bad'), delayMs)
      }).toThrow(expect.objectContaining({ field: 'delayMs' }))
    }
  })

  it('E11: a wait with a limit ends with the item or with null', async () => {
    const { clock, queue } = setUp()
    const [short, long] = [queue.pollWithin(50), queue.pollWithin(200)]
    queue.offer(item('only'), 100)
    expect(clock.timerCount).toBe(1)
    await clock.advance(110)
    expect(await short).toBeNull()
    expect((await long)?.name).toBe('only')
    expect(await queue.pollWithin(0)).toBeNull()
    expect(clock.timerCount).toBe(0)
  })

  it('E11: a taker whose signal aborts leaves its place to the next', async () => {
    const { clock, queue } = setUp()
    const reason = new Error('enough')
    const controller = new AbortController()
    const [first, second] = [queue.take(controller.signal), queue.take()]
    queue.offer(item('only'), 100)
    controller.abort(reason)
    await expect(first).rejects.toBe(reason)
    await clock.advance(110)
    expect((await second).name).toBe('only')
    await expect(queue.take(controller.signal)).rejects.toBe(reason)
    expect(clock.timerCount).toBe(0)
  })

  it('E11: a wait refuses what is no signal, such as a time, and leaves the queue as it was', async () => {
    const { clock, queue } = setUp()
    const refusal = { code: 'ERR_INVALID_ARGUMENT', field: 'signal' }
    await expect(queue.take(1000 as never)).rejects.toMatchObject(refusal)
    await expect(queue.pollWithin(1000, {} as never)).rejects.toMatchObject(refusal)
    expect(clock.timerCount).toBe(0)
  })

  it('E9: removes an item from anywhere, and the timer with the last', async () => {
    const { clock, queue } = setUp()
    const taken = queue.pollWithin(1000)
    const items = ['a', 'b', 'c'].map(item)
    items.forEach((each, index) => {
      queue.offer(each, 100 * (index + 1))
    })
    expect(items[1] && queue.getDelay(items[1])).toBe(200)
    expect(items.map((each) => queue.remove(each))).toEqual([true, true, true])
    expect(items.map((each) => queue.remove(each))).toEqual([false, false, false])
    await clock.advance(1000)
    expect(await taken).toBeNull()
  })

  it('E12: drainTo moves expired items only, clear takes all', async () => {
    const { clock, queue } = setUp()
    for (const delayMs of [30, 10, 20, 500]) queue.offer(item(`${delayMs}`), delayMs)
    await clock.advance(100)
    const drained: Item[] = []
    expect(queue.drainTo(drained, 1)).toBe(1)
    expect(queue.drainTo(drained)).toBe(2)
    expect(drained.map(({ name }) => name)).toEqual(['10', '20', '30'])
    expect(queue.clear().map(({ name, queueIndex }) => [name, queueIndex])).toEqual([['500', -1]])
    expect(queue.size).toBe(0)
  })

  it('E19: waits longer than a timer can, and a hundred years, not a millisecond less', async () => {
    const { clock, queue } = setUp()
    const long = queue.take()
    queue.offer(item('a hundred years'), hundredYearsMs)
    queue.offer(item('long'), 2 ** 31 + 352)
    await clock.advance(2 ** 31 + 351)
    expect(clock.timerCount).toBe(1)
    await clock.advance(10)
    expect((await long).name).toBe('long')
    const last = queue.pollWithin(2 * hundredYearsMs)
    await clock.advance(hundredYearsMs - 2 ** 31 - 362)
    expect(queue.size).toBe(1)
    await clock.advance(10)
    expect((await last)?.name).toBe('a hundred years')
  })

  it('E22: keeps to its time when the wall clock is set', async () => {
    const { clock, queue } = setUp()
    const taken = queue.take()
    queue.offer(item('only'), 100)
    clock.jump(-3_600_000)
    await clock.advance(90)
    expect(queue.size).toBe(1)
    clock.jump(7_200_000)
    await clock.advance(10)
    expect((await taken).name).toBe('only')
  })
})

describe('HashedWheelTimer', () => {
  it('gives items of one tick together, at its end', async () => {
    const clock = new ManualClock()
    const queue = new HashedWheelTimer<Item>({ clock, tickMs: 100 })
    const taken: [string, number][] = []
    for (let taker = 0; taker < 3; taker++) {
      void queue.take().then(({ name }) => taken.push([name, clock.elapsedMs()]))
    }
    for (const delayMs of [150, 110, 205]) queue.offer(item(`${delayMs}`), delayMs)
    await clock.advance(1000)
    expect(taken).toEqual([
      ['110', 200],
      ['150', 200],
      ['205', 300],
    ])
  })

  it.each<[object, string]>([
    [{ tickMs: 0 }, 'tickMs'],
    [{ ticksPerWheel: 2 ** 21 }, 'ticksPerWheel'],
    [{ ticks: 5 }, 'ticks'],
  ])('refuses %j', (options, field) => {
    expect(() => new HashedWheelTimer(options)).toThrow(expect.objectContaining({ field }))
  })
})
