import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Queued, RecordQueue } from '../../src/jobstore/ram/record-queue.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { compareFireOrder } from '../../src/triggers/trigger.ts'

const seed = 20261120

function queuedAt(name: string, fireTimeMs: number, priority: number): Queued {
  const trigger = TriggerBuilder.newTrigger()
    .withIdentity(name)
    .withPriority(priority)
    .startAt(new Date(fireTimeMs))
    .build()
  return { trigger: trigger.computeFirstFireTime(null) }
}

/** The order in which a queue hands its items out. */
function drain(queue: RecordQueue<Queued>): Queued[] {
  const drained: Queued[] = []
  for (let item = queue.first(); item !== null; item = queue.first()) {
    drained.push(item)
    expect(queue.delete(item)).toBe(true)
  }
  return drained
}

function inOrder(items: Iterable<Queued>): Queued[] {
  return [...items].sort((a, b) => compareFireOrder(a.trigger, b.trigger))
}

describe('RecordQueue', () => {
  test('is empty at first', () => {
    const queue = new RecordQueue<Queued>()
    expect(queue.first()).toBeNull()
    expect(queue.delete(queuedAt('a', 5, 5))).toBe(false)
  })

  test.each([
    ['ascending', (index: number) => index],
    ['descending', (index: number) => -index],
    ['scattered', (index: number) => (index * 7919) % 1009],
    ['equal', () => 0],
  ])('hands out a thousand items that came in %s order as they fire', (_order, timeOf) => {
    const items = Array.from({ length: 1000 }, (_, index) => queuedAt(`t${index}`, timeOf(index), 5))
    const queue = new RecordQueue<Queued>()
    for (const item of items) queue.insert(item)
    expect(drain(queue)).toEqual(inOrder(items))
  })

  test(`is a sorted list under random insertions and deletions (seed ${seed})`, () => {
    const times = fc.integer({ min: 0, max: 400 })
    const insertion = fc.record({
      times: fc.array(times, { minLength: 1, maxLength: 80 }),
      priority: fc.integer({ min: 4, max: 6 }),
    })
    const step = fc.oneof(
      fc.record({ kind: fc.constant('insert' as const), what: insertion }),
      fc.record({ kind: fc.constant('takeFirst' as const), count: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ kind: fc.constant('deleteAny' as const), at: fc.array(fc.nat(), { maxLength: 40 }) }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const queue = new RecordQueue<Queued>()
        const model = new Set<Queued>()
        let names = 0
        for (const change of steps) {
          if (change.kind === 'insert') {
            for (const time of change.what.times) {
              const item = queuedAt(`t${++names}`, time, change.what.priority)
              queue.insert(item)
              model.add(item)
            }
          } else {
            const sorted = inOrder(model)
            const victims =
              change.kind === 'takeFirst'
                ? sorted.slice(0, change.count)
                : change.at.flatMap((at) => sorted[at % Math.max(1, sorted.length)] ?? [])
            for (const victim of victims) {
              if (change.kind === 'takeFirst') expect(queue.first()).toBe(victim)
              expect(queue.delete(victim)).toBe(model.delete(victim))
            }
          }
          expect(queue.first()).toBe(inOrder(model)[0] ?? null)
        }
        expect(drain(queue)).toEqual(inOrder(model))
      }),
      { seed, numRuns: 200 },
    )
  })
})
