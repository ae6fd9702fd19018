import { nowMs } from '../time/clock.ts'

interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/** So long a page goes on by itself for rows of which there are few. */
const patienceMs = 3000

/**
 * A page with as many rows as the viewer asked for. The server looks at a bounded number of entries for an answer: one
 * that finds few of them, or none, may have a next one all the same.
 */
export async function fullPage<Item>(
  load: (after: string) => Promise<Page<Item>>,
  { after, take }: { readonly after: string; readonly take: number },
): Promise<Page<Item>> {
  const untilMs = nowMs() + patienceMs
  const items: Item[] = []
  for (let next = after; ; ) {
    const page = await load(next)
    items.push(...page.items)
    if (page.next === null || items.length >= take || nowMs() >= untilMs) return { items, next: page.next }
    next = page.next
  }
}
