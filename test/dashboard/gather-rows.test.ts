import { expect, test, vi } from 'vitest'
import { gatherRows, type PageOf } from '../../dashboard/src/api/gather-rows.ts'

/** A server that looks at one entry of a list for each answer. */
function listOf(entries: readonly (string | null)[]) {
  return vi.fn((after: string): Promise<PageOf<string>> => {
    const at = after === '' ? 0 : Number(after)
    const entry = entries[at] ?? null
    const next = at + 1 < entries.length ? String(at + 1) : null
    return Promise.resolve({ items: entry === null ? [] : [entry], next })
  })
}
const isPatient = (): boolean => true

test('goes on until the page is full', async () => {
  const load = listOf([null, null, 'a', null, 'b', 'c', 'd'])
  const page = await gatherRows(load, { after: '', take: 3, isPatient })
  expect(page).toEqual({ items: ['a', 'b', 'c'], next: '6' })
  expect(load).toHaveBeenCalledTimes(6)
})

test('ends with the last page', async () => {
  const load = listOf(['a', null, 'b'])
  expect(await gatherRows(load, { after: '1', take: 50, isPatient })).toEqual({ items: ['b'], next: null })
})

test('keeps the cursor when its patience is over', async () => {
  const load = listOf([null, null, null, null, 'a'])
  let left = 2
  const page = await gatherRows(load, { after: '', take: 50, isPatient: () => --left > 0 })
  expect(page).toEqual({ items: [], next: '2' })
})
