import { describe, expect, test } from 'vitest'
import { NodeWatch } from '../../../../src/jobstore/sql/cluster/node-watch.ts'
import {
  hasLookers,
  watchedWitnesses,
  witnessGraceMs,
  witnessKey,
} from '../../../../src/jobstore/sql/cluster/witness.ts'
import { type NodeRow, parseNodeInfo } from '../../../../src/jobstore/sql/tables/nodes/node-row.ts'

const own = { checkInIntervalMs: 1500, failedAfterMs: 6000 }

function node(instanceId: string, lastCheckInTimeMs: number, key: number | null): NodeRow {
  return {
    instanceId,
    bootId: `boot of ${instanceId}`,
    lastCheckInTimeMs,
    checkInIntervalMs: 1500,
    info: {
      version: '1',
      pid: 1,
      host: 'h',
      jobTypes: [],
      locking: null,
      clockOffsetMs: null,
      failedAfterMs: 6000,
      witness: key === null ? null : { key, graceMs: 1000 },
      status: 'started',
      eventLoopLagMs: 0.5,
    },
    isOrphan: false,
  }
}

const ofJava: NodeRow = { ...node('java', 0, null), bootId: null, info: null }

/** A look at rows, or at witnesses: what is lost at an instant of the database. */
type Look = { readonly rows: readonly NodeRow[]; readonly atMs: number } | Lost
interface Lost {
  readonly lost: readonly number[]
  readonly atMs: number
}

/** Takes all looks; answers what the row is at the last one. */
function stateAfter(row: NodeRow, looks: readonly Look[]): string {
  const watch = new NodeWatch(own)
  for (const look of looks) {
    if ('rows' in look) watch.observe({ rows: look.rows, nowMs: look.atMs })
    else watch.witnessed({ lost: look.lost, nowMs: look.atMs }, [row])
  }
  return watch.state(row, looks.at(-1)?.atMs ?? 0)
}

const lostAt = (...instants: readonly number[]): Lost[] => instants.map((atMs) => ({ lost: [7], atMs }))
const rowsAt = (atMs: number, row: NodeRow): Look => ({ rows: [row], atMs })

describe('whether a node has failed whose witness is gone', () => {
  const row = node('n', 0, 7)
  const seen = [rowsAt(0, row), ...lostAt(100), rowsAt(100, row)]

  test.each<readonly [string, NodeRow, readonly Look[], string]>([
    ['silent for the grace', row, [...seen, ...lostAt(400, 700, 1000, 1100)], 'failed'],
    ['silent for less', row, [...seen, ...lostAt(400, 700, 1000)], 'alive'],
    ['whose row was not read since', row, [rowsAt(0, row), ...lostAt(100, 400, 700, 1000, 1300)], 'alive'],
    ['with another witness', node('n', 0, 8), [...seen, ...lostAt(400, 700, 1000, 1100)], 'alive'],
    ['without a witness', node('n', 0, null), [...seen, ...lostAt(400, 700, 1000, 1100)], 'alive'],
    ['seen once more after the observer stood still', row, [...seen, ...lostAt(60_000)], 'alive'],
    ['seen twice more after the observer stood still', row, [...seen, ...lostAt(60_000, 60_500)], 'failed'],
    [
      'whose witness is there again, and then gone',
      row,
      [
        ...seen,
        ...lostAt(400, 700),
        { lost: [], atMs: 900 },
        ...lostAt(1000),
        rowsAt(1000, row),
        ...lostAt(1400),
      ],
      'alive',
    ],
    [
      'that has checked in meanwhile',
      node('n', 600, 7),
      [...seen, ...lostAt(400, 700), rowsAt(800, node('n', 600, 7)), ...lostAt(1000, 1200, 1500)],
      'alive',
    ],
    [
      'that has checked in meanwhile, and was silent again',
      node('n', 600, 7),
      [...seen, ...lostAt(400, 700), rowsAt(800, node('n', 600, 7)), ...lostAt(1100, 1400, 1700, 1800)],
      'failed',
    ],
  ])('one %s', (_what, asked, looks, state) => {
    expect(stateAfter(asked, looks)).toBe(state)
  })

  test('is told once, by the look that decides it', () => {
    const watch = new NodeWatch(own)
    const told = [100, 400, 700, 1000, 1100, 1200].map((atMs) => {
      const isNews = watch.witnessed({ lost: [7], nowMs: atMs }, [row])
      if (atMs === 100) watch.observe({ rows: [row], nowMs: atMs })
      return isNews
    })
    expect(told).toEqual([false, false, false, false, true, false])
  })
})

describe('witnesses', () => {
  test.each([
    [200, 1000],
    [6000, 1000],
    [60_000, 10_000],
  ])('leave a node of which silence says %i ms so many: %i', (failedAfterMs, graceMs) => {
    expect(witnessGraceMs(failedAfterMs)).toBe(graceMs)
  })

  test('are looked at by nodes of this library only', () => {
    const orphan = { ...node('o', 0, null), isOrphan: true }
    expect(hasLookers('a', [node('a', 0, null), ofJava, orphan])).toBe(false)
    expect(hasLookers('a', [node('a', 0, null), node('b', 0, null)])).toBe(true)
  })

  test('are those of the next nodes in the ring, and each is looked at by as many', () => {
    const ring = Array.from({ length: 10 }, (_, index) => node(`n${String(index)}`, 0, index))
    expect(watchedWitnesses('n7', [...ring].reverse())).toEqual([8, 9, 0, 1])
    const lookers = ring.flatMap(({ instanceId }) => watchedWitnesses(instanceId, ring))
    expect(lookers.toSorted((a, b) => a - b)).toEqual(
      ring.flatMap((_, index) => [index, index, index, index]),
    )
    expect(watchedWitnesses('a', [node('a', 0, 1), node('b', 0, null), ofJava])).toEqual([])
  })

  test('have a key of 32 bits', () => {
    const keys = Array.from({ length: 100 }, (_, index) => witnessKey(`boot-${String(index)}`))
    expect(new Set(keys).size).toBe(100)
    for (const key of keys) expect(key).toBe(key | 0)
  })

  test.each([
    ['none', undefined],
    ['one that is no object', 7],
    ['one without a grace', { key: 7, graceMs: 0 }],
    ['one without a key', { key: 'x', graceMs: 1000 }],
  ])('are not believed when a row has %s', (_what, witness) => {
    const info = { ...node('n', 0, null).info, witness }
    expect(parseNodeInfo(JSON.stringify(info))).toEqual({ ...info, witness: null })
  })
})

test('what a node of an older version does not say of itself is not known, as is what is no status', () => {
  const { status, eventLoopLagMs, ...older } = node('n', 0, null).info ?? expect.fail('it has one')
  expect([status, eventLoopLagMs]).toEqual(['started', 0.5])
  const unknown = { ...older, status: null, eventLoopLagMs: null }
  expect(parseNodeInfo(JSON.stringify(older))).toEqual(unknown)
  expect(parseNodeInfo(JSON.stringify({ ...older, status: 'asleep', eventLoopLagMs: 'x' }))).toEqual(unknown)
})
