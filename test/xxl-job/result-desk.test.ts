import { expect, test } from 'vitest'
import { ResultDesk } from '../../src/xxl-job/admin/result-desk.ts'

test('numbers of one admin never come twice, and those of others in the same millisecond are others', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const desks = Array.from({ length: 20 }, () => new ResultDesk())
  const firsts = desks.map((desk) => desk.nextLogId(nowMs))
  expect(new Set(firsts).size).toBeGreaterThan(1)
  const [desk = expect.fail('there are some')] = desks
  const many = Array.from({ length: 5000 }, (_, index) => desk.nextLogId(nowMs + Math.floor(index / 4000)))
  expect(new Set([firsts[0], ...many]).size).toBe(5001)
  expect(many.every(Number.isSafeInteger)).toBe(true)
})
