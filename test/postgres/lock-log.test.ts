import { expect, test } from 'vitest'
import { lineLogger } from '../../src/core/line-logger.ts'
import type { LockHolder, LockWait } from '../../src/jobstore/lock-wait.ts'
import { LockLog } from '../../src/jobstore/postgres/lock-log.ts'

const holder = (processId: number, more: Partial<LockHolder> = {}): LockHolder => ({
  processId,
  application: 'psql',
  state: 'idle in transaction',
  statement: 'LOCK TABLE qrtz_triggers',
  transactionAgeMs: 31_499,
  ...more,
})
const waitFor = (...holders: readonly LockHolder[]): LockWait => ({
  statement: `SELECT ${'x'.repeat(900)}`,
  processId: 7,
  waitedMs: 1130,
  holders,
})

function logOf() {
  const lines: string[] = []
  let elapsedMs = 0
  const logger = lineLogger(
    () => 0,
    (line) => lines.push(line),
  )
  const log = new LockLog(logger, () => elapsedMs)
  const pass = (ms: number): void => {
    elapsedMs += ms
  }
  return { lines, log, pass }
}

test('names the session that holds the lock, and cuts long statements', () => {
  const { lines, log } = logOf()
  log.tell(waitFor(holder(4711, { statement: `UPDATE ${'y'.repeat(900)}` })))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(
    /a statement waits for a lock of session 4711 \(psql, idle in transaction, for 31 s: UPDATE y+\)/,
  )
  expect(lines[0]).toContain('waitedMs=1130')
  expect(lines[0]?.length).toBeLessThan(600)
})

test('leaves out what the database hides, and names three of many', () => {
  const { lines, log } = logOf()
  const hidden = holder(1, { application: '', state: '', statement: 'no', transactionAgeMs: null })
  log.tell(waitFor(hidden, holder(2), holder(3), holder(4), holder(5)))
  expect(lines[0]).toMatch(/lock of session 1 \(no\) and session 2 \(.+\) and session 3 \(.+\) and 2 more /)
  expect(lines[0]).not.toContain('session 4')
})

test('tells of one session once a minute, whatever waits for it', () => {
  const { lines, log, pass } = logOf()
  log.tell(waitFor(holder(1)))
  // What waits in the queue before this one is in its way as well.
  log.tell({ ...waitFor(holder(1), holder(7)), statement: 'DELETE', processId: 8 })
  log.tell(waitFor(holder(2)))
  expect(lines).toHaveLength(2)
  pass(54_000)
  log.tell(waitFor(holder(1)))
  expect(lines).toHaveLength(2)
  pass(6000)
  log.tell(waitFor(holder(1)))
  expect(lines).toHaveLength(3)
})
