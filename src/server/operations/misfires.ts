import { z } from 'zod'
import {
  type Misfire,
  type MisfireCause,
  type MisfireCursor,
  type MisfireQuery,
  misfireCauses,
  misfiresCounted,
} from '../../jobstore/misfires.ts'
import { type Operation, operation } from '../catalogue/operation.ts'
import { instantMs, nothing, textUpTo, wholeQuery } from '../wire/fields.ts'
import { misfireJson, misfireStatsJson, misfireToJson } from '../wire/misfires.ts'
import { cursorsOf, filteredPage, pageJson, pageQuery, windowOf, windowQuery } from '../wire/pages.ts'
import { addSubject, filterTerms, subjectTerms, wrongFilter } from './filter-terms.ts'

type Predicate = (misfire: Misfire) => boolean
type StoreQuery = { -readonly [Field in keyof MisfireQuery]: MisfireQuery[Field] }

const what = 'misfires'
const beginnings = [...subjectTerms, 'cause'].map((name) => `${name}:`)

const cursorJson: z.ZodType<MisfireCursor> = z.strictObject({ noticedTimeMs: instantMs, id: textUpTo(500) })

/**
 * Reads `job:reports/daily cause:outage`: `job:` and `trigger:` (`group/name`, or a name in any group), `group:` (of
 * the job), `cause:`. All terms must hold; several causes are several terms, of which one must hold.
 *
 * @throws InvalidArgumentError for what is no such term, and for a second one of another kind
 */
function parseMisfireFilter(text: string): {
  readonly query: MisfireQuery
  readonly rest: readonly Predicate[]
} {
  const query: StoreQuery = {}
  const rest: Predicate[] = []
  const causes: MisfireCause[] = []
  for (const term of filterTerms(what, text, { beginnings, repeatable: ['cause'] })) {
    const { name, operator, value } = term
    if (operator !== ':') throw wrongFilter(what, `'${name}${operator}'; write ${name}:`)
    if (addSubject(what, term, query, rest)) continue
    if (name !== 'cause') throw wrongFilter(what, `'${name}'; known: ${subjectTerms.join(', ')}, cause`)
    const cause = misfireCauses.find((known) => known === value)
    if (cause === undefined)
      throw wrongFilter(what, `the cause '${value}'; known: ${misfireCauses.join(', ')}`)
    causes.push(cause)
  }
  return { query: causes.length === 0 ? query : { ...query, cause: causes }, rest }
}

const listMisfires: Operation = operation({
  id: 'misfires.list',
  method: 'GET',
  path: '/misfires',
  summary:
    'Planned instants that did not become runs, and why, as far as the store remembers them; those that were ' +
    'noticed last first.',
  role: 'viewer',
  reach: null,
  isList: true,
  jobGroups: 'visible',
  params: nothing,
  query: z.strictObject({
    ...pageQuery,
    filter: textUpTo(2000)
      .default('')
      .describe('As in `trigger:reports/daily cause:outage`; also job:, group:.'),
    ...windowQuery('Noticed at or after', 'Noticed before'),
  }),
  body: null,
  answer: pageJson(misfireJson),
  async handle({ scheduler, params, query, access }) {
    const { after, next } = cursorsOf('misfires.list', { params, query }, cursorJson)
    const { query: wanted, rest } = parseMisfireFilter(query.filter)
    const isVisible: Predicate | null = access.has('viewer')
      ? null
      : ({ jobKey }) => jobKey !== null && access.hasOn(jobKey.group, 'viewer')
    const predicates = isVisible === null ? rest : [...rest, isVisible]
    const found = await filteredPage<Misfire, MisfireCursor>(
      (size, from) =>
        scheduler.queryMisfires({
          ...wanted,
          ...windowOf(query),
          ...(from !== undefined && { after: from }),
          take: size,
        }),
      { take: query.take, after },
      predicates.length === 0
        ? null
        : { isWanted: (misfire) => predicates.every((holds) => holds(misfire)), keyOf: placeOf },
    )
    return { items: found.items.map(misfireToJson), next: next(found.next && placeOf(found.next)) }
  },
})

const misfireStats: Operation = operation({
  id: 'misfires.stats',
  method: 'GET',
  path: '/misfire-stats',
  summary: `What was missed lately, in numbers; of the ${misfiresCounted} newest misfires at most.`,
  role: 'viewer',
  reach: null,
  jobGroups: null,
  params: nothing,
  query: z.strictObject({ hours: wholeQuery(1, 744).default(24).describe('How far back.') }),
  body: null,
  answer: misfireStatsJson,
  handle: ({ scheduler, query, parts }) => parts.misfireStats.of(scheduler, query.hours * 3_600_000),
})

function placeOf({ noticedTimeMs, id }: MisfireCursor): MisfireCursor {
  return { noticedTimeMs, id }
}

export const misfireOperations: readonly Operation[] = [listMisfires, misfireStats]
