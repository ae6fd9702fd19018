import { expect, test, vi } from 'vitest'
import { fullPage } from '../../dashboard/src/api/full-page.ts'
import { serverSaysNow } from '../../dashboard/src/time/clock.ts'

/** A server that looks at one entry of a list for each answer. */
function listOf(entries: readonly (string | null)[]) {
  return vi.fn((after: string) => {
    const at = after === '' ? 0 : Number(after)
    const entry = entries[at]
    return Promise.resolve({
      items: entry === null || entry === undefined ? [] : [entry],
      next: at + 1 < entries.length ? String(at + 1) : null,
    })
  })
}

test('goes on until the page is full', async () => {
  const load = listOf([null, null, 'a', null, 'b', 'c', 'd'])
  expect(await fullPage(load, { after: '', take: 3 })).toEqual({ items: ['a', 'b', 'c'], next: '6' })
  expect(load).toHaveBeenCalledTimes(6)
})

test('ends with the last page', async () => {
  const load = listOf(['a', null, 'b'])
  expect(await fullPage(load, { after: '1', take: 50 })).toEqual({ items: ['b'], next: null })
})

test('keeps the cursor when its patience is over', async () => {
  const rows = listOf([null, null, null, null, 'a'])
  let laterMs = 0
  const slow = (after: string): ReturnType<typeof rows> => {
    laterMs += 2500
    serverSaysNow(Date.now() + laterMs)
    return rows(after)
  }
  expect(await fullPage(slow, { after: '', take: 50 })).toEqual({ items: [], next: '2' })
})
