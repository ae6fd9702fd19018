import { describe, expect, onTestFinished, test } from 'vitest'
import { createScheduler, defineJob, ramJobStore, type SchedulerEventMap } from '../../src/index.ts'
import type { AcquireRequest } from '../../src/jobstore/job-store.ts'
import type { JobStoreCapabilities } from '../../src/jobstore/job-store-capabilities.ts'
import { Unanswered } from '../../src/scheduler/unanswered.ts'
import { ManualClock } from '../../src/testing.ts'
import type { Clock } from '../../src/time/clock.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'

/** A store over a network, whose search is not answered while it `hangs`. */
class SilentStore extends FaultyJobStore {
  hangs = false
  end: (failure: Error | null) => void = () => {}

  override get capabilities(): JobStoreCapabilities {
    return { ...super.capabilities, persistent: true }
  }

  override async acquireNextTriggers(request: AcquireRequest) {
    await this.#answerable()
    return super.acquireNextTriggers(request)
  }

  async #answerable(): Promise<void> {
    if (!this.hangs) return
    const failure = await new Promise<Error | null>((resolve) => {
      this.end = resolve
    })
    if (failure !== null) throw failure
  }
}

async function silentRig() {
  const clock = new ManualClock()
  const store = new SilentStore(ramJobStore())
  store.acquireAndFire = undefined as never
  let runs = 0
  const work = defineJob('work', () => {
    runs++
  })
  const infos: string[] = []
  const none = (): void => {}
  const logger = { debug: none, warn: none, error: none, info: (_: object, text: string) => infos.push(text) }
  const scheduler = await createScheduler({ clock, jobStore: store, jobs: [work], logger })
  onTestFinished(() => scheduler.shutdown())
  const errors: SchedulerEventMap['schedulerError'][] = []
  scheduler.events.on('schedulerError', (error) => errors.push(error))
  await scheduler.start()
  await clock.advance(1000)
  store.hangs = true
  const askedMs = clock.now()
  await scheduler.schedule(work, { key: 'work', in: '10ms' })
  const since = () => scheduler.getMetaData().notFiringSince?.getTime() ?? null
  return { askedMs, clock, errors, infos, runs: () => runs, scheduler, since, store }
}

describe('a search that the store does not answer', () => {
  test('counts as firing in vain from when it was asked, and is told once', async () => {
    const { askedMs, clock, errors, infos, runs, scheduler, since, store } = await silentRig()
    await clock.advance(4900)
    expect([since(), errors]).toEqual([null, []])
    await clock.advance(200)
    expect(since()).toBe(askedMs)
    expect(errors.map(({ message }) => message)).toEqual([
      'The job store has not answered the search for the next triggers for 5 seconds; nothing fires until it does.',
    ])
    await clock.advance(60_000)
    // It fails in the end, and the next one is not answered either.
    store.end(new Error('no answer within 65000 ms'))
    await clock.advance(60_000)
    expect(since()).toBe(askedMs)
    expect(errors.map(({ message }) => message).slice(1)).toEqual([
      'The job store failed while scanning for the next triggers to fire.',
    ])
    store.hangs = false
    store.end(null)
    await scheduler.idle()
    expect([since(), runs(), errors.length]).toEqual([null, 1, 2])
    expect(infos).toContain('The job store answers what the loop asks again.')
  })

  test('is told again when the store was well in between', async () => {
    const { clock, errors, scheduler, store } = await silentRig()
    await clock.advance(6000)
    store.end(null)
    // The search after it.
    await clock.advance(6000)
    expect(errors).toHaveLength(2)
    store.hangs = false
    store.end(null)
    await scheduler.idle()
  })
})

describe('a question to the store', () => {
  /** A clock whose process can be suspended. */
  function suspendable() {
    const inner = new ManualClock()
    let suspendedMs = 0
    const clock: Clock = {
      now: () => inner.now() + suspendedMs,
      elapsedMs: () => inner.elapsedMs() + suspendedMs,
      setTimer: (delayMs, onFire) => inner.setTimer(delayMs, onFire),
      setImmediate: (onFire) => inner.setImmediate(onFire),
    }
    const suspend = (ms: number): void => {
      suspendedMs += ms
    }
    return { advance: (ms: number) => inner.advance(ms), clock, suspend, timers: () => inner.timerCount }
  }

  test('is not unanswered while the process was suspended', async () => {
    const { advance, clock, suspend } = suspendable()
    const told: string[] = []
    const unanswered = new Unanswered({ clock, onLong: (what) => told.push(what) })
    const askedMs = clock.now()
    unanswered.ask('the search')
    await advance(4500)
    suspend(60_000)
    await advance(500)
    expect([told, unanswered.sinceMs]).toEqual([[], null])
    await advance(999)
    expect(told).toEqual([])
    await advance(1)
    expect([told, unanswered.sinceMs]).toEqual([['the search'], askedMs])
  })

  test('leaves no timer behind', async () => {
    const { advance, clock, timers } = suspendable()
    const told: string[] = []
    const unanswered = new Unanswered({ clock, onLong: (what) => told.push(what) })
    unanswered.ask('one')
    await advance(4999)
    unanswered.ask('another')
    await advance(4999)
    unanswered.end()
    expect([timers(), told]).toEqual([0, []])
  })
})
