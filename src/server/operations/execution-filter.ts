import type { InvalidArgumentError } from '../../core/errors.ts'
import {
  type ExecutionOutcome,
  type ExecutionQuery,
  type ExecutionSummary,
  executionOutcomes,
} from '../../jobstore/queries.ts'
import { durationMsOf as millisecondsOf } from '../../time/duration.ts'
import { durationMsOf, latenessMsOf } from '../wire/runs.ts'
import { addSubject, type FilterTerm, filterTerms, subjectTerms, wrongFilter } from './filter-terms.ts'

type Predicate = (execution: ExecutionSummary) => boolean
type StoreQuery = { -readonly [Field in keyof ExecutionQuery]: ExecutionQuery[Field] }

/** A filter of executions: what the store knows how to find, and what is left to look at. */
export interface ExecutionFilter {
  readonly query: ExecutionQuery
  readonly rest: readonly Predicate[]
}

const what = 'executions'
const terms = new Map<string, (value: string, query: StoreQuery) => void>([
  ['node', (node, query) => Object.assign(query, { node })],
  ['outcome', (value, query) => Object.assign(query, { outcome: value.split(',').map(outcomeOf) })],
  ['firing', (firingId, query) => Object.assign(query, { firingId })],
  ['error', (errorContains, query) => Object.assign(query, { errorContains })],
  ['manual', (value, query) => Object.assign(query, { manual: flagOf(value) })],
])
const namedTerms = [...subjectTerms, ...terms.keys()]

/** What a term begins with. */
export const termBeginnings: readonly string[] = [
  ...namedTerms.map((name) => `${name}:`),
  ...['late>', 'took>', 'data.'],
]

/**
 * Reads `job:reports/daily outcome:failed,lost late>5s took>=1m`. Terms: `job:` and `trigger:` (`group/name`, or a name
 * in any group), `group:` (of the job), `node:`, `outcome:` (one, or several with commas), `firing:` (items of that
 * sharded firing), `error:` (part of it), `manual:`, `data.x=`, `late` and `took` with a comparison. Values with blanks
 * stand in double quotes. All terms must hold; only `late` and `took` can be there more than once.
 *
 * @throws InvalidArgumentError for what is no such term, saying where, and for a second one of its kind
 */
export function parseExecutionFilter(text: string): ExecutionFilter {
  const query: StoreQuery = {}
  const rest: Predicate[] = []
  for (const term of filterTerms(what, text, { beginnings: termBeginnings, repeatable: ['late', 'took'] }))
    addTerm(term, query, rest)
  return { query, rest }
}

function addTerm(term: FilterTerm, query: StoreQuery, rest: Predicate[]): void {
  const { name, operator, value } = term
  if (name === 'late' || name === 'took') {
    const { holds, limitMs } = durationTerm(name, operator, value)
    const field = name === 'late' ? 'laterThanMs' : 'tookLongerThanMs'
    if (operator === '>' && query[field] === undefined) query[field] = limitMs
    else rest.push(holds)
    return
  }
  if (name.startsWith('data.')) {
    if (operator !== '=') throw wrong(`'${name}${operator}${value}'; write ${name}=${value}`)
    query.data = { key: name.slice('data.'.length), value }
    return
  }
  if (operator !== ':') throw wrong(`'${name}${operator}'; only late, took and data.x are compared`)
  if (addSubject(what, term, query, rest)) return
  const add = terms.get(name)
  if (add === undefined) throw wrong(`'${name}'; known: ${namedTerms.join(', ')}, late, took, data.x`)
  add(value, query)
}

function outcomeOf(value: string): ExecutionOutcome {
  const outcome = executionOutcomes.find((known) => known === value)
  if (outcome === undefined) throw wrong(`the outcome '${value}'; known: ${executionOutcomes.join(', ')}`)
  return outcome
}

function flagOf(value: string): boolean {
  if (value !== 'true' && value !== 'false') throw wrong(`manual:${value}; write true or false`)
  return value === 'true'
}

function durationTerm(
  name: 'late' | 'took',
  operator: string,
  value: string,
): { readonly holds: Predicate; readonly limitMs: number } {
  const limitMs = /^\d{1,9}(?:\.\d{1,3})?[a-z]+$/.test(value) ? millisecondsOf(value) : null
  if (limitMs === null) {
    throw wrong(`'${name}${operator}${value}'; write a time as in 500ms, 5s, 1m, 2h, 1d`)
  }
  const measured: (execution: ExecutionSummary) => number | null =
    name === 'late' ? latenessMsOf : durationMsOf
  const holds = comparisons[operator]
  if (holds === undefined) throw wrong(`'${name}${operator}'; use >, >=, < or <=`)
  return {
    limitMs,
    holds: (execution) => {
      const ms = measured(execution)
      return ms !== null && holds(ms, limitMs)
    },
  }
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
}

const wrong = (found: string): InvalidArgumentError => wrongFilter(what, found)
