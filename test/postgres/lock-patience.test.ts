import { describe, expect, test } from 'vitest'
import { LockPatience } from '../../src/jobstore/postgres/lock-patience.ts'
import type { SlowStatement } from '../../src/jobstore/postgres/postgres-session.ts'

/** The waits and pauses of a transaction whose lock another one holds for so long. */
function attempts({
  lockTimeoutMs,
  heldMs,
  hasWaitedMs,
  isCrowded = false,
}: {
  readonly lockTimeoutMs: number
  readonly heldMs: number
  readonly hasWaitedMs?: number
  readonly isCrowded?: boolean
}): {
  readonly waits: readonly number[]
  readonly pauses: readonly number[]
  readonly hasGivenUp: boolean
} {
  let nowMs = 0
  const patience = new LockPatience({
    slow: null,
    lockTimeoutMs,
    hasWaitedMs,
    elapsedMs: () => nowMs,
    random: () => 1,
  })
  const waits: number[] = []
  const pauses: number[] = []
  while (nowMs < heldMs) {
    const waitMs = patience.next({ isCrowded }).lockTimeoutMs ?? 0
    waits.push(waitMs)
    nowMs += waitMs
    const pauseMs = patience.pauseMs()
    if (pauseMs === null) return { waits, pauses, hasGivenUp: true }
    pauses.push(pauseMs)
    nowMs += pauseMs
  }
  return { waits, pauses, hasGivenUp: false }
}

/** When the wait for a lock that is never free is told, if each look finds the holder. */
function tellings({
  lockTimeoutMs,
  heldMs,
  onWait = () => {},
}: {
  readonly lockTimeoutMs: number
  readonly heldMs: number
  readonly onWait?: (waitMs: number) => void
}): readonly number[] {
  let nowMs = 0
  const told: number[] = []
  const report = ({ waitedMs, onTold }: SlowStatement): void => {
    told.push(waitedMs)
    onTold?.()
  }
  const patience = new LockPatience({
    slow: { afterMs: 1000, report },
    lockTimeoutMs,
    elapsedMs: () => nowMs,
    random: () => 1,
  })
  while (nowMs < heldMs) {
    const { lockTimeoutMs: waitMs, slow } = patience.next()
    // One that is absent would be that of other transactions.
    expect(slow).not.toBe(undefined)
    slow?.report({ waitedMs: slow.afterMs, processId: 1 })
    onWait(waitMs ?? 0)
    nowMs += waitMs ?? 0
    nowMs += patience.pauseMs() ?? heldMs
  }
  return told
}

describe('a transaction that waits for a lock', () => {
  test('waits for a moment only each time, and gives up when its time is over', () => {
    const { waits, hasGivenUp } = attempts({ lockTimeoutMs: 10_000, heldMs: 60_000 })
    expect(hasGivenUp).toBe(true)
    expect(new Set(waits)).toEqual(new Set([25]))
  })

  test('without a limit waits longer the longer it has waited, and mostly leaves the lock to others', () => {
    const { waits, pauses, hasGivenUp } = attempts({ lockTimeoutMs: 0, heldMs: 60_000 })
    expect(hasGivenUp).toBe(false)
    expect(waits[0]).toBe(25)
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    // Longer than the second after which an autovacuum gives way.
    expect(waits.at(-1)).toBeGreaterThan(2000)
    for (const [index, waitMs] of waits.entries()) {
      if (index > 0) expect(pauses[index]).toBeGreaterThanOrEqual(4 * waitMs)
    }
  })

  test('with others of its process behind it waits in the queue for longer, for two seconds', () => {
    const { waits, hasGivenUp } = attempts({ lockTimeoutMs: 10_000, heldMs: 60_000, hasWaitedMs: 0 })
    const long = waits.findIndex((ms) => ms !== 250)
    expect(long).toBeGreaterThan(4)
    expect(new Set(waits.slice(long))).toEqual(new Set([25]))
    const late = attempts({ lockTimeoutMs: 10_000, heldMs: 60_000, hasWaitedMs: 2000 })
    expect(new Set(late.waits)).toEqual(new Set([25]))
    expect(hasGivenUp).toBe(true)
  })

  test('does not wait for longer than its limit, nor while others wait for its connection', () => {
    expect(attempts({ lockTimeoutMs: 100, heldMs: 200, hasWaitedMs: 0 }).waits[0]).toBe(100)
    const crowded = attempts({ lockTimeoutMs: 10_000, heldMs: 60_000, hasWaitedMs: 0, isCrowded: true })
    expect(new Set(crowded.waits)).toEqual(new Set([25]))
  })

  test('counts the time in which it waited for its turn', () => {
    const all = attempts({ lockTimeoutMs: 10_000, heldMs: 60_000, hasWaitedMs: 0 })
    const late = attempts({ lockTimeoutMs: 10_000, heldMs: 60_000, hasWaitedMs: 9000 })
    expect(late.hasGivenUp).toBe(true)
    expect(late.waits.length).toBeLessThan(all.waits.length / 2)
  })

  test('waits for longer once in each second, also when that was told', () => {
    const waits: number[] = []
    tellings({ lockTimeoutMs: 10_000, heldMs: 60_000, onWait: (ms) => waits.push(ms) })
    expect(waits.filter((ms) => ms === 250).length).toBeGreaterThanOrEqual(6)
  })

  test('is told once where it has a limit, and otherwise again each minute', () => {
    expect(tellings({ lockTimeoutMs: 10_000, heldMs: 60_000 })).toHaveLength(1)
    const told = tellings({ lockTimeoutMs: 0, heldMs: 600_000 })
    expect(told[0]).toBeLessThan(2000)
    expect(told.length).toBeGreaterThanOrEqual(7)
    for (const [index, waitedMs] of told.entries()) {
      if (index > 0) expect(waitedMs - (told[index - 1] ?? 0)).toBeGreaterThanOrEqual(60_000)
    }
  })
})
