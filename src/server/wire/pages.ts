import { createHash } from 'node:crypto'
import { z } from 'zod'
import { InvalidArgumentError } from '../../core/errors.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { Page } from '../../jobstore/queries.ts'
import type { Clock } from '../../time/clock.ts'
import type { Access, Role } from '../catalogue/role.ts'
import { instantQuery, textUpTo, wholeQuery } from './fields.ts'

/** One page of a list. */
export interface PageJson<Item> {
  readonly items: readonly Item[]
  /** Pass it as `after` for the next page; null when this is the last one. */
  readonly next: string | null
}

export function pageJson<Item>(item: z.ZodType<Item>): z.ZodType<PageJson<Item>> {
  return z.strictObject({ items: z.array(item), next: z.string().nullable() })
}

/** What every list takes. */
export const pageQuery: {
  readonly take: z.ZodDefault<z.ZodType<number>>
  readonly after: z.ZodOptional<z.ZodString>
  readonly format: z.ZodDefault<z.ZodEnum<{ json: 'json'; csv: 'csv' }>>
} = {
  take: wholeQuery(1, 1000).default(100).describe('Most items of the page.'),
  after: textUpTo(4000).optional().describe('The `next` of the page before.'),
  format: z.enum(['json', 'csv']).default('json'),
}

/** What lists of what happened take; the words say what happened when. */
export function windowQuery(
  atOrAfter: string,
  before: string,
): Readonly<Record<'fromMs' | 'toMs', z.ZodOptional<z.ZodType<number>>>> {
  return {
    fromMs: instantQuery.optional().describe(`${atOrAfter} this instant.`),
    toMs: instantQuery.optional().describe(`${before} this instant.`),
  }
}

interface WindowChoice {
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
}

export function windowOf({ fromMs, toMs }: WindowChoice): { from?: Date; to?: Date } {
  return {
    ...(fromMs !== undefined && { from: new Date(fromMs) }),
    ...(toMs !== undefined && { to: new Date(toMs) }),
  }
}

export const groupQuery: {
  readonly group: z.ZodOptional<z.ZodString>
  readonly groupMatch: z.ZodDefault<
    z.ZodEnum<{ equals: 'equals'; startsWith: 'startsWith'; endsWith: 'endsWith'; contains: 'contains' }>
  >
} = {
  group: textUpTo(500).optional(),
  groupMatch: z.enum(['equals', 'startsWith', 'endsWith', 'contains']).default('equals'),
}

interface GroupChoice {
  readonly group?: string | undefined
  readonly groupMatch: 'equals' | 'startsWith' | 'endsWith' | 'contains'
}

export function groupMatcherOf({ group, groupMatch }: GroupChoice): { group?: GroupMatcher } {
  if (group === undefined) return {}
  switch (groupMatch) {
    case 'equals':
      return { group: GroupMatcher.groupEquals(group) }
    case 'startsWith':
      return { group: GroupMatcher.groupStartsWith(group) }
    case 'endsWith':
      return { group: GroupMatcher.groupEndsWith(group) }
    case 'contains':
      return { group: GroupMatcher.groupContains(group) }
  }
}

/** Where the pages of one list begin and go on. */
export interface Cursors<Value> {
  /** Undefined for the first page. */
  readonly after: Value | undefined
  /** Null after the last page. */
  readonly next: (value: Value | null) => string | null
}

/**
 * The cursors of a list. They are opaque to clients: the list, and what its next page comes after. With those of
 * another list, or of another choice from it, entries would be left out without a word.
 *
 * @throws InvalidArgumentError for a text that this list has not given
 */
export function cursorsOf<Value>(
  id: string,
  { params, query }: { readonly params: unknown; readonly query: { readonly after?: string | undefined } },
  schema: z.ZodType<Value>,
): Cursors<Value> {
  const list = digestOf([id, params, query])
  return {
    after: valueOf(query.after, list, schema),
    next: (value) =>
      value === null ? null : Buffer.from(JSON.stringify([list, value])).toString('base64url'),
  }
}

/** How much is asked for, in what form, and of what time, may differ from page to page. */
const notChosen = /^(take|after|format|.*Ms)$/

function digestOf(list: unknown): string {
  const text = JSON.stringify(list, (name, value: unknown) => (notChosen.test(name) ? undefined : value))
  return createHash('sha256').update(text).digest('base64url').slice(0, 8)
}

function valueOf<Value>(text: string | undefined, list: string, schema: z.ZodType<Value>): Value | undefined {
  if (text === undefined) return undefined
  const parsed = z
    .tuple([z.literal(list), schema])
    .safeParse(jsonOrNull(Buffer.from(text, 'base64url').toString()))
  if (parsed.success) return parsed.data[1]
  throw new InvalidArgumentError(
    'after',
    "'after' must be the 'next' of a page of this list, with the same filters.",
  )
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** How many items one request looks at, at most, where a filter is not the store's. */
const lookedAtMax = 10_000

/**
 * A page of what satisfies a predicate that the store does not know. It may hold less than asked for and have a
 * next one: a request looks at {@link lookedAtMax} items at most.
 */
export async function filteredPage<Item, Key>(
  load: (take: number, after: Key | undefined) => Promise<Page<Item, Key>>,
  request: { readonly take: number; readonly after: Key | undefined },
  filter: { readonly isWanted: (item: Item) => boolean; readonly keyOf: (item: Item) => Key } | null,
): Promise<Page<Item, Key>> {
  if (filter === null) return load(request.take, request.after)
  const found: Item[] = []
  let after = request.after
  for (let lookedAt = 0; lookedAt < lookedAtMax; ) {
    const page = await load(1000, after)
    for (const item of page.items) {
      if (!filter.isWanted(item)) continue
      if (found.length === request.take) return { items: found, next: filter.keyOf(found.at(-1) ?? item) }
      found.push(item)
    }
    if (page.next === null) return { items: found, next: null }
    after = page.next
    lookedAt += page.items.length
  }
  return { items: found, next: after ?? null }
}

/** Walks through all pages of a listing. */
export async function eachOf<Item, Key>(
  load: (after: Key | null) => Promise<Page<Item, Key>>,
  visit: (item: Item) => void,
): Promise<void> {
  let after: Key | null = null
  do {
    const page: Page<Item, Key> = await load(after)
    page.items.forEach(visit)
    after = page.next
  } while (after !== null)
}

/** What the store is asked for so that a principal gets what it may see. */
export function visibleTo(access: Access, least: Role): { jobGroups?: readonly string[] } {
  const jobGroups = access.groupsWith(least)
  return jobGroups === null ? {} : { jobGroups }
}

/** How long one request goes on looking, once a page of the store has not filled its own. */
const fillMs = 15

/**
 * A page of a list of which the store looks at a bounded part for each of its own pages. It is filled as far as that
 * takes little time: it may hold less than was asked for and have a next one.
 */
export async function filledPage<Item, Key>(
  load: (take: number, after: Key | undefined) => Promise<Page<Item, Key>>,
  { take, after, clock }: { readonly take: number; readonly after: Key | undefined; readonly clock: Clock },
): Promise<Page<Item, Key>> {
  const untilMs = clock.elapsedMs() + fillMs
  let page = await load(take, after)
  const items = [...page.items]
  while (page.next !== null && items.length < take && clock.elapsedMs() < untilMs) {
    page = await load(take - items.length, page.next)
    items.push(...page.items)
  }
  return { items, next: page.next }
}
