import { RowsLockedError } from './sql-runner.ts'

/** How many items are tried by themselves at a time. */
const sideBySide = 4

export interface LeftOver<Item> {
  /** Items that were not done because of another session's lock. */
  readonly locked: readonly Item[]
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[]
}

/**
 * Runs an operation on all items together. When it was given up because of another session's lock, it is run for each
 * item by itself, so that locked items do not hold up the others.
 *
 * @throws whatever the attempt with all items throws
 */
export async function eachOrAll<Item>(
  items: readonly Item[],
  attempt: (items: readonly Item[]) => Promise<void>,
): Promise<LeftOver<Item>> {
  try {
    await attempt(items)
    return { locked: [], failed: [] }
  } catch (error) {
    if (!(error instanceof RowsLockedError)) throw error
    if (items.length === 1) return { locked: items, failed: [] }
  }
  const locked: Item[] = []
  const failed: LeftOver<Item>['failed'][number][] = []
  const waiting = [...items]
  const lane = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await attempt([item])
      } catch (error) {
        if (error instanceof RowsLockedError) locked.push(item)
        else failed.push({ item, error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(sideBySide, items.length) }, lane))
  return { locked, failed }
}
