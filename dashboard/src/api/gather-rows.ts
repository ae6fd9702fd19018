/** A page of a list as the server answers it. */
export interface PageOf<Item> {
  readonly items: readonly Item[]
  /** The cursor of the next page; null for the last one. */
  readonly next: string | null
}

/**
 * Asks for pages until there are as many rows as were wanted. The server looks at a bounded number of entries for an
 * answer: one that finds few of them, or none, may have a next one all the same.
 */
export async function gatherRows<Item>(
  load: (after: string) => Promise<PageOf<Item>>,
  options: { readonly after: string; readonly take: number; readonly isPatient: () => boolean },
): Promise<PageOf<Item>> {
  const items: Item[] = []
  for (let { after } = options; ; ) {
    const page = await load(after)
    items.push(...page.items)
    if (page.next === null || items.length >= options.take || !options.isPatient()) {
      return { items, next: page.next }
    }
    after = page.next
  }
}
