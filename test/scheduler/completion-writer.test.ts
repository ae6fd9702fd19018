import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { ramJobStore } from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { CompletionAnswer, JobCompletion } from '../../src/jobstore/job-store.ts'
import { SchedulerEventEmitter } from '../../src/listeners/events.ts'
import { ListenerManager } from '../../src/listeners/listener-manager.ts'
import { CompletionWriter } from '../../src/scheduler/completion-writer.ts'
import { Notifier } from '../../src/scheduler/notifier.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { detailOf, firing, jobOf, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

/** Notes what it is told, and when; refuses what it is told to refuse, and passes over what is locked. */
class Witness extends DelegatingJobStore {
  readonly writes: { readonly ids: readonly string[]; readonly atMs: number }[] = []
  readonly refused = new Set<string>()
  readonly #clock: ManualClock
  readonly locked = new Set<string>()
  isDown = false
  /** The most that it takes at once. */
  room = Number.POSITIVE_INFINITY
  /** While set, writes wait for it. */
  gate: Promise<void> | null = null

  constructor(clock: ManualClock) {
    super(ramJobStore())
    this.#clock = clock
  }

  override async triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    const ids = completions.map(({ fireInstanceId }) => fireInstanceId)
    this.writes.push({ ids, atMs: this.#clock.elapsedMs() })
    await this.gate
    if (this.isDown || ids.length > this.room || ids.some((id) => this.refused.has(id)))
      throw new Error('refused')
    return {
      locked: completions.filter(({ fireInstanceId }) => this.locked.has(fireInstanceId)),
      passedOver: [],
    }
  }
}

const detail = detailOf(jobOf(() => {}))
const otherDetail = detailOf(
  jobOf(() => {}),
  (builder) => builder.withIdentity('other'),
)

function completionOf(fireInstanceId: string, jobDetail = detail): JobCompletion {
  return {
    fireInstanceId,
    trigger: firing(0),
    jobDetail,
    instruction: 'noop',
    jobDataMap: null,
    retryTrigger: null,
  }
}

function rig() {
  const clock = new ManualClock()
  const store = new Witness(clock)
  const events = new SchedulerEventEmitter(silentLogger)
  const errors: string[] = []
  const infos: string[] = []
  const logger = { ...silentLogger, info: (_fields: object, message: string) => infos.push(message) }
  events.on('schedulerError', ({ message }) => errors.push(message))
  const writer = new CompletionWriter(store, clock, new Notifier(events, new ListenerManager(), logger), 2)
  const written: string[] = []
  const complete = (id: string): Promise<void> =>
    writer.complete(completionOf(id)).then(() => {
      written.push(id)
    })
  return { clock, store, writer, errors, infos, written, complete }
}

describe('ended executions are written', () => {
  it('together when they end together', async () => {
    const { clock, store, written, complete } = rig()
    await Promise.all(['a', 'b', 'c'].map(complete))
    expect(store.writes.map(({ ids }) => ids)).toEqual([['a', 'b', 'c']])
    expect(written).toEqual(['a', 'b', 'c'])
    await complete('d')
    expect(store.writes.map(({ ids }) => ids)).toEqual([['a', 'b', 'c'], ['d']])
    expect(clock.timerCount).toBe(0)
  })

  it('as the next batch when they end while a write is under way', async () => {
    const { clock, store, written, complete } = rig()
    let open: () => void = () => {}
    store.gate = new Promise((resolve) => (open = resolve))
    const all = [complete('a')]
    await clock.settle()
    all.push(complete('b'), complete('c'))
    await clock.settle()
    expect(store.writes.map(({ ids }) => ids)).toEqual([['a']])
    expect(written).toEqual([])
    open()
    await Promise.all(all)
    expect(store.writes.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']])
  })

  it('in one call of the store when many jobs of a scheduler end in one turn', async () => {
    const { clock, scheduler, store, startMs } = await shellRig([jobOf(() => {})])
    const triggers = ['a', 'b'].map((name) => firing(startMs).getTriggerBuilder().withIdentity(name).build())
    await scheduler.scheduleJob(detail, triggers)
    await clock.advance(10)
    expect(store.callsOf('triggeredJobsComplete')).toBe(1)
    await scheduler.shutdown()
  })
})

describe('a write that fails', () => {
  it('is tried again, one by one, after delays that grow to ten seconds', async () => {
    const { clock, store, errors, infos, written, complete } = rig()
    store.isDown = true
    const all = ['a', 'b'].map(complete)
    await clock.advance(60_000)
    expect(written).toEqual([])
    const [first, ...rest] = store.writes
    expect(first?.ids).toEqual(['a', 'b'])
    const instants = rest.filter(({ ids }) => ids[0] === 'a').map(({ atMs }) => atMs)
    expect(rest.filter(({ ids }) => ids[0] === 'b').map(({ atMs }) => atMs)).toEqual(instants)
    const delays = instants.slice(1).map((atMs, index) => atMs - (instants[index] ?? 0))
    expect(delays.slice(0, 10)).toEqual([20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10_000])
    expect(Math.max(...delays)).toBe(10_000)
    expect(errors).toEqual(['The job store could not be told that executions ended; trying again.'])
    expect(infos).toEqual([])
    store.isDown = false
    await clock.advance(10_000)
    await Promise.all(all)
    expect(written).toEqual(['a', 'b'])
    expect(infos).toEqual(['The job store has been told of the executions that had ended.'])
    expect(clock.timerCount).toBe(0)
  })

  it('is told of once while batches fail, also when each completion is written by itself', async () => {
    const { clock, store, errors, written, complete } = rig()
    store.room = 1
    for (const batch of [['a', 'b'], ['c'], ['d', 'e'], ['f', 'g']]) {
      await Promise.all(batch.map(complete))
      await clock.advance(1000)
    }
    expect(written).toHaveLength(7)
    expect(errors).toHaveLength(1)
    await clock.advance(60_000)
    await Promise.all(['h', 'i'].map(complete))
    expect(errors).toHaveLength(2)
  })

  const isUnwritten = 'The job store could not be told that executions ended; trying again.'
  const isWritten = 'The job store has been told of the executions that had ended.'

  it('soon after another one that has ended is told of when it lasts, and so is its end', async () => {
    const { clock, store, errors, infos, complete } = rig()
    store.isDown = true
    void complete('a')
    await clock.advance(15_000)
    store.isDown = false
    await clock.advance(10_000)
    expect([errors, infos]).toEqual([[isUnwritten], [isWritten]])
    store.isDown = true
    void complete('b')
    await clock.advance(5000)
    expect(errors).toHaveLength(1)
    await clock.advance(5000)
    expect(errors).toEqual([isUnwritten, isUnwritten])
    await clock.advance(600_000)
    expect(errors).toHaveLength(2)
    store.isDown = false
    await clock.advance(10_000)
    expect(infos).toEqual([isWritten, isWritten])
  })

  it('of one completion soon after another failure is told of when it lasts, though others are written', async () => {
    const { clock, store, errors, infos, complete } = rig()
    store.refused.add('first')
    void complete('first')
    await clock.settle()
    store.refused.clear()
    await clock.advance(1000)
    store.refused.add('poison')
    void complete('poison')
    for (let second = 0; second < 12; second++) {
      await clock.advance(1000)
      await complete(`well ${second}`)
    }
    expect([errors, infos]).toEqual([[isUnwritten, isUnwritten], [isWritten]])
  })

  it('is tried again within a second once the store is back, while executions wait for it', async () => {
    const { clock, store, written, complete } = rig()
    store.isDown = true
    const ids = ['poison', 'a', 'b', 'c']
    for (const id of ids) void complete(id)
    await clock.advance(61_000)
    store.writes.length = 0
    await clock.advance(10_000)
    // One round, and one completion a second: each time another one.
    expect(store.writes).toHaveLength(4 + 9)
    expect(new Set(store.writes.map(({ ids: [id] }) => id)).size).toBe(4)
    store.isDown = false
    store.refused.add('poison')
    await clock.advance(2000)
    expect(written.toSorted()).toEqual(['a', 'b', 'c'])
    store.refused.clear()
    await clock.advance(10_000)
    expect(written).toContain('poison')
    expect(clock.timerCount).toBe(0)
  })

  it('is tried again at once when a later batch shows that the store is back', async () => {
    const { clock, store, written, complete } = rig()
    store.isDown = true
    void complete('a')
    await clock.advance(61_000)
    store.isDown = false
    await complete('b')
    await clock.settle()
    expect(written).toEqual(['b', 'a'])
    expect(clock.timerCount).toBe(0)
  })

  it('of one completion alone is not tried again after each batch that is written', async () => {
    const { clock, store, complete } = rig()
    store.refused.add('poison')
    void complete('poison')
    await clock.advance(61_000)
    store.writes.length = 0
    for (let batch = 0; batch < 200; batch++) {
      await complete(`well ${batch}`)
      await clock.advance(100)
    }
    const tries = store.writes.filter(({ ids }) => ids[0] === 'poison')
    // The first batch shows that the store is there.
    expect(tries.length).toBeLessThanOrEqual(3)
  })

  it('of one completion holds up neither the others of its batch nor later batches', async () => {
    const { clock, store, written, complete } = rig()
    store.refused.add('poison')
    const poison = ['a', 'poison', 'b'].map(complete)[1]
    await clock.settle()
    expect(written).toEqual(['a', 'b'])
    await complete('later')
    await clock.advance(60_000)
    await complete('much later')
    expect(written).toEqual(['a', 'b', 'later', 'much later'])
    store.refused.clear()
    await clock.advance(10_000)
    await poison
    expect(written).toContain('poison')
    expect(clock.timerCount).toBe(0)
  })

  it('is told of anew after one that is never written, when the store goes away later', async () => {
    const { clock, store, errors, complete } = rig()
    store.refused.add('poison')
    void complete('poison')
    await clock.settle()
    await complete('well')
    await clock.advance(3_600_000)
    store.isDown = true
    for (const id of ['a', 'b', 'c']) {
      void complete(id)
      await clock.advance(120_000)
    }
    expect(errors).toHaveLength(2)
  })

  it('makes no other one wait as long as one that keeps failing has to', async () => {
    const { clock, store, written, complete } = rig()
    store.refused.add('poison')
    void complete('poison')
    await clock.advance(30_000)
    store.isDown = true
    void complete('unlucky')
    await clock.settle()
    store.isDown = false
    await clock.advance(40)
    expect(written).toEqual(['unlucky'])
  })

  it('ends with an error for each completion when the scheduler cannot wait any longer', async () => {
    const { clock, store, writer, errors, written, complete } = rig()
    store.isDown = true
    const all = ['a', 'b'].map(complete)
    await clock.advance(1000)
    errors.length = 0
    writer.stopRetrying()
    await Promise.all(all)
    expect(written).toEqual(['a', 'b'])
    await complete('late')
    expect(errors).toEqual(
      ['a', 'b', 'late'].map(
        (id) => `The job store could not be told that firing ${id} of trigger DEFAULT.trigger ended.`,
      ),
    )
    expect(clock.timerCount).toBe(0)
  })
})

describe('a completion that is locked', () => {
  it('is tried again apart from the others, soon and then ever more seldom', async () => {
    const { clock, store, errors, written, complete } = rig()
    store.locked.add('locked')
    const all = ['a', 'locked', 'b'].map(complete)
    await clock.settle()
    expect(written).toEqual(['a', 'b'])
    await complete('later')
    await clock.advance(2000)
    const tries = store.writes.filter(({ ids }) => ids.length === 1 && ids[0] === 'locked')
    const delays = tries.slice(1).map(({ atMs }, index) => atMs - (tries[index]?.atMs ?? 0))
    expect(tries[0]?.atMs).toBe(20)
    expect(delays).toEqual([40, 80, 160, 250, 250, 250, 250, 250, 250])
    store.locked.clear()
    await clock.advance(250)
    await Promise.all(all)
    expect(written).toEqual(['a', 'b', 'later', 'locked'])
    expect(errors).toEqual([])
    expect(clock.timerCount).toBe(0)
  })

  it('is tried together with others that are, and soon again when one more is', async () => {
    const { clock, store, written, complete } = rig()
    for (const id of ['x', 'y']) store.locked.add(id)
    void complete('x')
    await clock.advance(5000)
    store.writes.length = 0
    void complete('y')
    await clock.advance(20)
    expect(store.writes.map(({ ids }) => ids)).toEqual([['y'], ['x', 'y']])
    store.locked.delete('x')
    await clock.advance(40)
    expect(written).toEqual(['x'])
  })

  it('is no reason to wait for the store, however many there are', async () => {
    const { clock, store, writer } = rig()
    for (const id of ['1', '2', '3', '4', '5', '6']) store.locked.add(id)
    // More than may lag behind.
    const handedOver = [...store.locked].map((id) => writer.handOver(completionOf(id)))
    for (const held of handedOver) await held
    await writer.handOver(completionOf('another'))
    let isDrained = false
    const drained = writer.drained().then(() => (isDrained = true))
    await clock.advance(10_000)
    expect(isDrained).toBe(false)
    store.locked.clear()
    await clock.advance(250)
    await drained
  })

  it('has one more chance when the scheduler cannot wait, and then ends with an error', async () => {
    const { clock, store, writer, errors, written, complete } = rig()
    for (const id of ['a', 'b']) store.locked.add(id)
    const all = ['a', 'b'].map(complete)
    await clock.advance(1000)
    store.locked.delete('a')
    writer.stopRetrying()
    await Promise.all(all)
    expect(written).toEqual(['a', 'b'])
    expect(errors).toEqual([
      'The job store could not be told that firing b of trigger DEFAULT.trigger ended. ' +
        'Another session holds a lock on its rows.',
    ])
    expect(clock.timerCount).toBe(0)
  })

  it('is told of once when it is locked for long, and once when none is any more', async () => {
    const { clock, store, errors, infos, complete } = rig()
    for (const id of ['x', 'y']) store.locked.add(id)
    void complete('x')
    await clock.advance(4000)
    void complete('y')
    expect(errors).toEqual([])
    await clock.advance(60_000)
    expect(errors).toEqual([
      'The job store could not be told that executions ended, because another session holds a lock on their rows or ' +
        'on a table; trying again. Ends that wait: 2, the oldest of firing x of trigger DEFAULT.trigger.',
    ])
    store.locked.delete('x')
    await clock.advance(250)
    expect(infos).toEqual([])
    store.locked.clear()
    await clock.advance(250)
    expect(infos).toEqual(['The job store has been told of the executions whose rows were locked.'])
    store.locked.add('z')
    void complete('z')
    await clock.advance(4000)
    store.locked.clear()
    await clock.advance(250)
    expect([errors.length, infos.length, clock.timerCount]).toEqual([1, 1, 0])
  })

  it('of whatever job makes executions wait for the store, as long as no end at all is written', async () => {
    const { clock, store, writer } = rig()
    for (const id of ['1', '2', '3', '4', 'x']) store.locked.add(id)
    const sinceMs = clock.now()
    for (const id of ['1', '2']) expect(writer.handOver(completionOf(id))).toBeNull()
    expect(writer.handOver(completionOf('x', otherDetail))).toBeInstanceOf(Promise)
    await clock.advance(4999)
    expect([writer.isFull, writer.inVainSinceMs]).toEqual([false, null])
    await clock.advance(1)
    expect([writer.isFull, writer.inVainSinceMs]).toEqual([true, sinceMs])
    let held = 0
    for (const id of ['3', '4']) void writer.handOver(completionOf(id))?.then(() => held++)
    await clock.advance(60_000)
    expect(held).toBe(0)
    // One that can be written shows that only rows are locked.
    await writer.complete(completionOf('free'))
    await clock.settle()
    expect([held, writer.isFull, writer.inVainSinceMs]).toEqual([2, false, null])
    expect(store.locked.size).toBe(5)
  })

  it('of one job alone says nothing about the ends of others, and makes no execution wait', async () => {
    const { clock, store, writer } = rig()
    for (const id of ['1', '2', '3', '4', '5', '6']) store.locked.add(id)
    for (const id of store.locked) void writer.handOver(completionOf(id))
    await clock.advance(60_000)
    expect([writer.isFull, writer.inVainSinceMs]).toEqual([false, null])
  })

  it('makes executions wait for the store when there are very many, until there are fewer', async () => {
    const { clock, store, writer } = rig()
    for (let id = 0; id <= 10_001; id++) store.locked.add(String(id))
    for (let id = 0; id < 10_000; id++) void writer.handOver(completionOf(String(id)))
    await clock.advance(20)
    expect(writer.isFull).toBe(false)
    let held = 0
    void writer.handOver(completionOf('10000'))?.then(() => held++)
    await clock.advance(1000)
    expect([writer.isFull, held]).toEqual([true, 0])
    store.locked.delete('0')
    await clock.advance(250)
    expect([writer.isFull, held]).toEqual([false, 1])
  })

  it('of an execution that waits for room ends when the scheduler cannot wait', async () => {
    const { clock, store, writer } = rig()
    for (const id of ['1', '2', 'x', '3']) store.locked.add(id)
    for (const id of ['1', '2']) void writer.handOver(completionOf(id))
    void writer.handOver(completionOf('x', otherDetail))
    await clock.advance(5000)
    const held = writer.handOver(completionOf('3'))
    await clock.advance(1000)
    writer.stopRetrying()
    await Promise.all([held, writer.drained()])
    expect([writer.unwrittenCount, writer.isBehind, clock.timerCount]).toEqual([4, false, 0])
  })

  it('is dealt with as any other when the store fails, and set aside again when it is back', async () => {
    const { clock, store, errors, written, complete } = rig()
    store.locked.add('locked')
    void complete('locked')
    await clock.settle()
    store.isDown = true
    await clock.advance(1000)
    expect(errors).toEqual(['The job store could not be told that executions ended; trying again.'])
    store.isDown = false
    await clock.advance(1000)
    expect(written).toEqual([])
    store.locked.clear()
    await clock.advance(250)
    expect(written).toEqual(['locked'])
    expect(clock.timerCount).toBe(0)
  })
})

describe('a scheduler whose store fails when it is told of an end', () => {
  it.each(['before', 'after'] as const)(
    'goes on when the store is back (failing %s the work is done)',
    async (when) => {
      let runs = 0
      const job = jobOf(
        () => {
          runs++
        },
        { disallowConcurrentExecution: true },
      )
      const { clock, scheduler, store, errors, startMs } = await shellRig([job])
      store.failOn({ operation: 'triggeredJobsComplete', times: 4, when })
      await scheduler.scheduleJob(detailOf(job), firing(startMs, 3))
      await clock.advance(30)
      expect(errors.map(({ code }) => code)).toEqual(['ERR_JOB_PERSISTENCE'])
      await clock.advance(10_000)
      expect(runs).toBe(3)
      expect(await scheduler.checkExists(theJob)).toBe(false)
      await scheduler.shutdown()
      expect(clock.timerCount).toBe(0)
    },
  )

  it('shuts down without waiting for a store that stays away', async () => {
    const job = jobOf(() => {})
    const { clock, scheduler, store, errors, startMs } = await shellRig([job])
    store.failOn({ operation: 'triggeredJobsComplete', times: Number.POSITIVE_INFINITY })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(5000)
    await scheduler.shutdown()
    expect(errors.at(-1)?.code).toBe('ERR_JOB_PERSISTENCE')
    expect(clock.timerCount).toBe(0)
  })

  it('and that waits for its jobs shuts down at its deadline', async () => {
    const job = jobOf(() => {})
    const { clock, scheduler, store, startMs } = await shellRig([job])
    store.failOn({ operation: 'triggeredJobsComplete', times: Number.POSITIVE_INFINITY })
    await scheduler.scheduleJob(detailOf(job), firing(startMs))
    await clock.advance(5000)
    const ended = scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 1000 })
    await clock.advance(999)
    expect(scheduler.isShutdown).toBe(false)
    await clock.advance(1)
    await ended
    expect(scheduler.isShutdown).toBe(true)
    expect(clock.timerCount).toBe(0)
  })

  it('leaves the trigger blocked until the store was told', async () => {
    const job = jobOf(() => {}, { disallowConcurrentExecution: true })
    const { clock, scheduler, store, startMs } = await shellRig([job])
    store.failOn({ operation: 'triggeredJobsComplete', times: Number.POSITIVE_INFINITY })
    await scheduler.scheduleJob(detailOf(job), firing(startMs, 10))
    await clock.advance(500)
    expect(await scheduler.getTriggerState(theTrigger)).toBe('BLOCKED')
    store.heal()
    await clock.advance(10_000)
    expect(await scheduler.getTriggerState(theTrigger)).not.toBe('BLOCKED')
    await scheduler.shutdown()
  })
})
