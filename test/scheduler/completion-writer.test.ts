import { describe, expect, it } from 'vitest'
import { completionOf, completionRig as rig } from '../support/completion-rig.ts'
import { detailOf, firing, jobOf, shellRig, theJob, theTrigger } from '../support/shell-rig.ts'

const otherDetail = detailOf(
  jobOf(() => {}),
  (builder) => builder.withIdentity('other'),
)

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
    await scheduler.scheduleJob(detailOf(jobOf(() => {})), triggers)
    await clock.advance(10)
    expect(store.callsOf('triggeredJobsComplete')).toBe(1)
    await scheduler.shutdown()
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
