import { requireInteger } from '../core/options.ts'
import type { Page, PageRequest } from './queries.ts'

const defaultTake = 100
const maxTake = 1000

/** How many items a page holds at most. */
export function pageSize(what: string, { take }: PageRequest<unknown>): number {
  return requireInteger(what, 'take', take ?? defaultTake, { min: 1, max: maxTake })
}

/** Makes a page of what was found. Ask for one more than the page holds: it tells whether there is another page. */
export function pageOf<Key, Item extends { readonly key: Key }>(
  found: readonly Item[],
  size: number,
): Page<Item, Key> {
  const items = found.slice(0, size)
  return { items, next: found.length > size ? (items.at(-1)?.key ?? null) : null }
}
