import { describe, expect, test } from 'vitest'
import { type NodeState, NodeWatch } from '../../../../src/jobstore/sql/cluster/node-watch.ts'
import type { NodeRow } from '../../../../src/jobstore/sql/tables/nodes/node-row.ts'

const own = { checkInIntervalMs: 1500, failedAfterMs: 6000 }

function node(lastCheckInTimeMs: number, changes: Partial<NodeRow> = {}): NodeRow {
  return {
    instanceId: 'n',
    bootId: 'boot',
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
      witness: null,
      status: null,
      eventLoopLagMs: null,
    },
    isOrphan: false,
    ...changes,
  }
}

/** Looks at a row at each of these times; answers what it is at the last one. */
function stateAfter(row: NodeRow, ...looksMs: readonly number[]): NodeState {
  const watch = new NodeWatch(own)
  for (const nowMs of looksMs) watch.observe({ rows: [row], nowMs })
  return watch.state(row, looksMs.at(-1) ?? 0)
}

describe('whether a node has failed', () => {
  test.each<readonly [string, NodeRow, readonly number[], NodeState]>([
    ['just checked in', node(0), [0], 'alive'],
    ['one check-in late', node(0), [0, 1500, 3000], 'overdue'],
    ['silent for less than its time', node(0), [0, 1500, 3000, 4500, 5900], 'overdue'],
    ['silent for its time', node(0), [0, 1500, 3000, 4500, 6000], 'failed'],
    ['seen for the first time, from long ago', node(0), [3_600_000], 'alive'],
    ['seen once more after a gap', node(0), [0, 3_600_000], 'alive'],
    ['silent over gaps, seen often enough', node(0), [0, 10_000, 20_000, 30_000, 40_000], 'failed'],
    ['seen by a clock that goes back', node(0), [0, 6000, 3000, 4500], 'overdue'],
    ['of Java, first seen, from long ago', node(0, { bootId: null, info: null }), [3_600_000], 'alive'],
    [
      'of Java, silent for as long as one of ours may be',
      node(0, { bootId: null, info: null }),
      [0, 1500, 3000, 4500, 6000, 7500],
      'overdue',
    ],
    [
      'of Java, silent for its interval and its grace',
      node(0, { bootId: null, info: null }),
      [0, 1500, 3000, 4500, 6000, 7500, 9000],
      'failed',
    ],
    [
      'with a short time, seen rarely',
      node(0, { checkInIntervalMs: 100, info: null }),
      [0, 60_000, 120_000],
      'overdue',
    ],
  ])('one that is %s', (_what, row, looksMs, state) => {
    const watched = stateAfter(row, ...looksMs)
    expect(watched).toBe(state)
  })

  test('is asked between looks, too', () => {
    const watch = new NodeWatch(own)
    for (const nowMs of [0, 1500, 3000, 4500]) watch.observe({ rows: [node(0)], nowMs })
    expect(watch.state(node(0), 5900)).toBe('overdue')
    expect(watch.state(node(0), 6000)).toBe('failed')
    expect(watch.state(node(5000), 6000)).toBe('alive')
  })

  test('is a matter of the last check-in for one who never looked before', () => {
    const watch = new NodeWatch(own)
    expect(watch.state(node(0), 2900)).toBe('alive')
    expect(watch.state(node(0), 5900)).toBe('overdue')
    expect(watch.state(node(0), 6000)).toBe('failed')
  })

  test('begins anew with a sign of life or a new start', () => {
    const watch = new NodeWatch(own)
    for (const nowMs of [0, 1500, 3000, 4500]) watch.observe({ rows: [node(0)], nowMs })
    expect(watch.hasMoved('n')).toBe(false)
    watch.observe({ rows: [node(0, { bootId: 'next' })], nowMs: 6000 })
    expect(watch.hasMoved('n')).toBe(true)
    expect(watch.state(node(0, { bootId: 'next' }), 6000)).toBe('alive')
  })
})
