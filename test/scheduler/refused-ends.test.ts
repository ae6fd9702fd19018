import { JobPersistenceError } from 'quartz-ts'
import { describe, expect, it } from 'vitest'
import { type CompletionRig, completionOf, completionRig } from '../support/completion-rig.ts'
import { detailOf, jobOf } from '../support/shell-rig.ts'

const otherDetail = detailOf(
  jobOf(() => {}),
  (builder) => builder.withIdentity('other'),
)

/** Hands over ends of two jobs that the store refuses, more of them than may lag behind; notes which are held up. */
function refusing(ids: readonly string[]): CompletionRig & { readonly released: string[] } {
  const rig = completionRig()
  const released: string[] = []
  for (const [index, id] of ids.entries()) {
    rig.store.refused.add(id)
    const completion = index % 2 === 0 ? completionOf(id) : completionOf(id, otherDetail)
    void rig.writer.handOver(completion)?.then(() => released.push(id))
  }
  return { ...rig, released }
}

const refusal = new JobPersistenceError('a rule of the DBA', { code: 'ERR_DATABASE' })
const outage = new JobPersistenceError('away', { code: 'ERR_DATABASE_UNAVAILABLE' })
const six = ['1', '2', '3', '4', '5', '6']

describe('ends that the store refuses while it takes others', () => {
  it('make no execution wait, however long', async () => {
    const { clock, store, writer, released, complete, written } = refusing(six)
    await clock.advance(60_000)
    expect([writer.isFull, released]).toEqual([true, []])
    await complete('well')
    await clock.advance(10_000)
    expect([writer.isFull, released.length]).toEqual([false, 4])
    await clock.advance(600_000)
    store.refused.add('7')
    const seventh = writer.handOver(completionOf('7'))
    expect([writer.isFull, seventh]).toEqual([false, null])
    store.refused.clear()
    await clock.advance(10_000)
    await writer.drained()
    expect([written, clock.timerCount]).toEqual([['well'], 0])
  })

  it('count no longer when the store is away: then executions wait as ever', async () => {
    const { clock, store, writer, complete } = refusing(six)
    await complete('well')
    await clock.advance(10_000)
    store.isDown = true
    for (const id of ['a', 'b']) expect(writer.handOver(completionOf(id))).toBeNull()
    const third = writer.handOver(completionOf('c'))
    await clock.advance(60_000)
    expect([writer.isFull, third]).toEqual([true, expect.any(Promise)])
    store.isDown = false
    await clock.advance(1000)
    await third
    expect(writer.isFull).toBe(false)
  })

  it('are tried seldom where they are many, and all as soon as the store takes them', async () => {
    const ids = Array.from({ length: 500 }, (_, id) => String(id))
    const { clock, store, writer, complete } = refusing(ids)
    await complete('well')
    await clock.advance(20_000)
    store.writes.length = 0
    await clock.advance(100_000)
    expect(store.writes.length).toBeLessThanOrEqual(3 * 11)
    store.refused.clear()
    store.refused.add('0')
    await clock.advance(20_000)
    expect(writer.isBehind).toBe(true)
    store.refused.clear()
    await clock.advance(20_000)
    expect([writer.isBehind, clock.timerCount]).toEqual([false, 0])
  })

  it('make executions wait when there are very many', async () => {
    const { clock, writer, complete, store } = completionRig()
    for (let id = 0; id < 10_000; id++) {
      store.refused.add(String(id))
      void complete(String(id))
    }
    await clock.settle()
    await complete('well')
    await clock.advance(10_000)
    expect(writer.isFull).toBe(false)
    expect(writer.handOver(completionOf('well as well'))).toBeInstanceOf(Promise)
  })

  it('have one more chance when the scheduler cannot wait', async () => {
    const { clock, store, writer, complete } = refusing(six)
    await complete('well')
    await clock.advance(10_000)
    store.refused.delete('6')
    writer.stopRetrying()
    await writer.drained()
    expect([writer.unwrittenCount, clock.timerCount]).toEqual([5, 0])
  })
})

describe('while the store takes no end at all', () => {
  it('because it is away, now and then, executions wait for it', async () => {
    const { clock, store, writer, released, complete } = refusing(six)
    store.failure = outage
    for (let time = 0; time < 5; time++) {
      await complete(`well ${time}`)
      await clock.advance(20_000)
    }
    expect([writer.isFull, released]).toEqual([true, []])
  })

  it('though it is there, one execution goes on now and then: its end may be one that is written', async () => {
    const { clock, store, writer, released } = refusing(six)
    store.failure = refusal
    await clock.advance(4000)
    expect([writer.isFull, released.length]).toEqual([true, 2])
    await clock.advance(60_000)
    const held: string[] = []
    for (let id = 100; id < 200; id++) {
      store.refused.add(String(id))
      void writer.handOver(completionOf(String(id)))?.then(() => held.push(String(id)))
    }
    await clock.advance(600_000)
    // There is room for as many as ten times the backlog.
    expect(held.length).toBeLessThan(10 * 2)
    await writer.complete(completionOf('well'))
    await clock.advance(10_000)
    expect([writer.isFull, held.length]).toEqual([false, 100])
  })
})
