import { defaultGroup } from '../../../../core/key.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { composed, type SqlQuery, type SqlValue, sqlQuery } from '../../kernel/statement.ts'
import type { ListConditions } from './list-conditions.ts'
import { summaryColumns } from './summary-rows.ts'

/** Which rows a listing by key has. */
export interface Listing {
  readonly subject: 'job' | 'trigger'
  readonly conditions: ListConditions
}

/** What a listing has found, and the place up to which it has looked; null when it has looked at everything. */
export interface Found<Item, Place> {
  readonly items: readonly Item[]
  readonly lookedUpTo: Place | null
}

/**
 * Keys are ordered by group, with the group `DEFAULT` first. Each part is a range of the key's index: the group
 * `DEFAULT`, the groups that sort before it, and those that sort behind it. What another index finds is one part,
 * `few`.
 */
export type ListingPart = 'default' | 'before' | 'behind' | 'few'

export type ListQuery = SqlQuery<Readonly<Record<string, SqlValue>>>

/** Behind the group DEFAULT: no group holds a NUL, and each encoding of a database has this character. */
const groupBehindDefault = `${defaultGroup}\u0001`

/** Where a part begins that the key before the page is not in. */
export function beginningOf(part: ListingPart): { readonly afterGroup: string; readonly afterName: string } {
  return part === 'behind'
    ? { afterGroup: groupBehindDefault, afterName: '' }
    : { afterGroup: '', afterName: '' }
}

/** The parts that hold keys after those of a group, in order. */
export function partsAfter(group: string, { isNarrow }: ListConditions): readonly ListingPart[] {
  if (isNarrow) return ['few']
  if (group === defaultGroup) return ['default', 'before', 'behind']
  return group < defaultGroup ? ['before', 'behind'] : ['behind']
}

/**
 * The summaries of one part after `:afterGroup`, `:afterName`, `:limit` at most; with `isBounded` up to `:untilGroup`,
 * `:untilName`.
 */
export function listingQuery(
  vocabulary: SqlVocabulary,
  { subject, conditions }: Listing,
  part: ListingPart,
  { isBounded }: { readonly isBounded: boolean },
): ListQuery {
  const { from, range, until, order } = partOf(vocabulary, subject, part)
  const all = [...range, ...(isBounded ? [until] : []), ...conditions.scope, ...conditions.texts]
  return composed(
    sqlQuery(
      vocabulary.dialect,
      `SELECT ${summaryColumns[subject]} FROM ${from} WHERE ${all.join(' AND ')} ORDER BY ${order} LIMIT :limit`,
    ),
  )
}

/** The key of the row that `:skipped` others of the part come before, whether it fits the conditions or not. */
export function lastLookedAtQuery(
  vocabulary: SqlVocabulary,
  { subject, conditions }: Listing,
  part: ListingPart,
): ListQuery {
  const { from, range, order, name, group } = partOf(vocabulary, subject, part)
  return composed(
    sqlQuery(
      vocabulary.dialect,
      `SELECT ${name}, ${group} FROM ${from} WHERE ${[...range, ...conditions.scope].join(' AND ')}
     ORDER BY ${order} LIMIT 1 OFFSET :skipped`,
    ),
  )
}

function partOf(
  { dialect: { keyCollation }, names }: SqlVocabulary,
  subject: Listing['subject'],
  part: ListingPart,
): { from: string; range: readonly string[]; until: string; order: string; name: string; group: string } {
  const alias = subject === 'job' ? 'j' : 't'
  const [name, group] = [`${alias}.${subject}_name`, `${alias}.${subject}_group`]
  const order = `${group} ${keyCollation}, ${name} ${keyCollation}`
  const ofScheduler = `${alias}.sched_name = :scheduler`
  const from = `${subject === 'job' ? names.jobs : names.triggers} AS ${alias}`
  if (part === 'default') {
    // A page begins after a key, and no key sorts before a value of bytes.
    const range = [ofScheduler, `${group} = '${defaultGroup}'`, `${name} ${keyCollation} > :afterName`]
    return { from, range, until: `${name} ${keyCollation} <= :untilName`, order, name, group }
  }
  if (part === 'few') {
    const rank = `CASE WHEN ${group} = '${defaultGroup}' THEN 0 ELSE 1 END`
    const range = [ofScheduler, `(${rank}, ${order}) > (:afterRank, :afterGroup, :afterName)`]
    return { from, range, until: 'true', order: `${rank}, ${order}`, name, group }
  }
  // One bound on each side: SQLite would begin at the first of two.
  const side =
    part === 'before' ? `${group} ${keyCollation} < '${defaultGroup}'` : `${group} <> '${defaultGroup}'`
  const range = [ofScheduler, side, `(${order}) > (:afterGroup, :afterName)`]
  return { from, range, until: `(${order}) <= (:untilGroup, :untilName)`, order, name, group }
}
