import { describe, expect, it } from 'vitest'
import { completionRig as rig } from '../support/completion-rig.ts'

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

  it('ends with one error for all when the scheduler cannot wait any longer, and one more for a late one', async () => {
    const { clock, store, writer, errors, details, written, complete } = rig()
    store.isDown = true
    const all = ['a', 'b', 'c'].map(complete)
    await clock.advance(1000)
    errors.length = 0
    writer.stopRetrying()
    await Promise.all(all)
    expect(written).toEqual(['a', 'b', 'c'])
    await complete('late')
    expect(errors).toEqual([
      'The job store could not be told that 3 executions ended, the first of them firing a of trigger ' +
        'DEFAULT.trigger.',
      'The job store could not be told that firing late of trigger DEFAULT.trigger ended.',
    ])
    expect(details).toEqual(
      ['b', 'c'].map(
        (id) => `The job store could not be told that firing ${id} of trigger DEFAULT.trigger ended.`,
      ),
    )
    expect([writer.unwrittenCount, clock.timerCount]).toEqual([4, 0])
  })

  it('is reported and counted once when the store is cut off while others are tried', async () => {
    const { clock, store, writer, errors, written, complete } = rig()
    store.isDown = true
    const all = ['a', 'b'].map(complete)
    await clock.advance(1000)
    errors.length = 0
    store.hangs.add('b')
    writer.stopRetrying()
    await clock.settle()
    expect([errors, written]).toEqual([[], []])
    writer.abandon()
    await Promise.all(all)
    expect(errors).toEqual([
      'The job store could not be told that firing a of trigger DEFAULT.trigger ended.',
    ])
    expect(writer.unwrittenCount).toBe(2)
  })
})
