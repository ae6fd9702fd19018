import { z } from 'zod'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { beginningOf } from '../../core/text-beginning.ts'
import {
  executionOutcomes,
  lowerAscii,
  type Page,
  type PageRequest,
  queryLimits,
} from '../../jobstore/queries.ts'
import { type Operation, type OperationCall, operation } from '../catalogue/operation.ts'
import { type KeyJson, nothing, textUpTo, wholeQuery } from '../wire/fields.ts'
import { filledPage, visibleTo } from '../wire/pages.ts'
import { readTypedKey, typedKey } from '../wire/typed-key.ts'
import { termBeginnings } from './execution-filter.ts'

/** What may stand in a field instead of what was typed. */
export interface CompletionJson {
  /** All of the field, also the terms before the one that is typed. */
  readonly value: string
  /** For people. */
  readonly label: string
}

const completionQuery = z.strictObject({
  of: z.enum(['jobs', 'triggers', 'executions']).describe('Whose list is searched, or filtered.'),
  text: textUpTo(2000).default('').describe('What was typed.'),
  take: wholeQuery(1, 50).default(20),
})

type Call = OperationCall<unknown, z.output<typeof completionQuery>, unknown>
type Source = Pick<Call, 'scheduler' | 'access' | 'parts'>

const complete: Operation = operation({
  id: 'completion.list',
  method: 'GET',
  path: '/completion',
  summary:
    'What may be meant in a search of jobs or triggers, or in the last term of a filter of executions.',
  role: 'viewer',
  reach: null,
  jobGroups: 'visible',
  params: nothing,
  query: completionQuery,
  body: null,
  answer: z.strictObject({ items: z.array(z.strictObject({ value: z.string(), label: z.string() })) }),
  async handle(call) {
    const { of, text, take } = call.query
    const found =
      of === 'executions'
        ? await termsLike(call, text, take)
        : namesLike(await keysLike(call, of, text), text)
    return { items: [...new Map(found.map((each) => [each.value, each])).values()].slice(0, take) }
  },
})

/** How many keys one answer is made of. */
const keysMax = 50

/** Keys with a part in their name or group; after `group/`, in the name alone. */
async function keysLike(source: Source, of: 'jobs' | 'triggers', text: string): Promise<readonly KeyJson[]> {
  const { scheduler, access } = source
  const { group, name } = readTypedKey(text)
  const like = {
    ...(group !== null && group.trim() !== '' && { group: GroupMatcher.groupEquals(group) }),
    search: beginningOf(name, queryLimits.searchLength),
  }
  return of === 'jobs'
    ? keysOf<JobKey>(source, (page) =>
        scheduler.queryJobs({ ...visibleTo(access, 'viewer'), ...like, ...page }),
      )
    : keysOf<TriggerKey>(source, (page) =>
        scheduler.queryTriggers({ ...visibleTo(access, 'viewer'), ...like, ...page }),
      )
}

async function keysOf<Key extends KeyJson>(
  { parts }: Source,
  load: (page: PageRequest<Key>) => Promise<Page<{ readonly key: Key }, Key>>,
): Promise<readonly KeyJson[]> {
  const { items } = await filledPage(
    (take, after: Key | undefined) => load({ take, ...(after !== undefined && { after }) }),
    { take: keysMax, after: undefined, clock: parts.clock },
  )
  return items.map(({ key }) => key)
}

/** Names and groups that have what was typed in them: the search also finds descriptions and types. */
function namesLike(keys: readonly KeyJson[], text: string): CompletionJson[] {
  return [
    ...keys.map(({ group }) => ({ value: group, label: group })),
    ...keys.map(({ group, name }) => ({ value: name, label: `${group}/${name}` })),
  ].filter(({ value }) => contains(value, text))
}

function contains(value: string, text: string): boolean {
  return lowerAscii(value).includes(lowerAscii(text))
}

const durations = ['1s', '5s', '1m', '10m', '1h']
/** The last term of a filter, with a quotation that has not ended. */
const lastTerm = /(?:[^\s"]|"(?:[^"\\]|\\.)*(?:"|$))*$/

async function termsLike(source: Source, filter: string, take: number): Promise<CompletionJson[]> {
  const term = lastTerm.exec(filter)?.[0] ?? ''
  const before = filter.slice(0, filter.length - term.length)
  const name = termBeginnings.find((each) => term.startsWith(each))
  const found =
    name === undefined
      ? termBeginnings.filter((each) => each.startsWith(term)).map((each) => ({ value: each, label: each }))
      : await valuesLike(source, name, term.slice(name.length).replace(/^"|"$/g, '').replace(/\\(.)/g, '$1'))
  return found.slice(0, take).map(({ value, label }) => ({ value: before + value, label: before + label }))
}

async function valuesLike(source: Source, name: string, typed: string): Promise<CompletionJson[]> {
  const { scheduler, access, parts } = source
  const among = (values: readonly string[]): CompletionJson[] =>
    values
      .filter((value) => contains(value, typed))
      .map((value) => ({ value: name + quoted(value), label: name + value }))
  switch (name) {
    case 'job:':
    case 'trigger:': {
      const keys = await keysLike(source, name === 'job:' ? 'jobs' : 'triggers', typed)
      return keys
        .filter((key) => contains(typedKey(key), typed))
        .map((key) => {
          const value = typedKey(key)
          // Fields show what has the typed text in its value or its label, and few type the group first.
          return { value: name + quoted(value), label: `${name}${key.name} (${key.group})` }
        })
    }
    case 'group:':
      return among(
        access.groupsWith('viewer') ?? (await parts.groupCounts.of(scheduler)).jobs.map(({ group }) => group),
      )
    case 'node:':
      return among(
        access.has('viewer') ? (await scheduler.cluster.nodes()).map(({ instanceId }) => instanceId) : [],
      )
    case 'outcome:':
      return outcomesLike(typed)
    case 'manual:':
      return among(['true', 'false'])
    case 'late>':
    case 'took>':
      return among(durations)
    default:
      return []
  }
}

/** The last of several is completed. */
function outcomesLike(typed: string): CompletionJson[] {
  const known = typed.slice(0, typed.lastIndexOf(',') + 1)
  return executionOutcomes
    .filter((outcome) => contains(outcome, typed.slice(known.length)))
    .map((outcome) => `outcome:${known}${outcome}`)
    .map((value) => ({ value, label: value }))
}

/** As the filter reads it. */
function quoted(value: string): string {
  return /^[^\s"]+$/.test(value) ? value : `"${value.replace(/[\\"]/g, '\\$&')}"`
}

export const completionOperations: readonly Operation[] = [complete]
