import type { InvalidArgumentError } from '../../core/errors.ts'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { type ExecutionQuery, type ExecutionSummary, executionOutcomes } from '../../jobstore/queries.ts'
import { durationMsOf, latenessMsOf } from '../wire/runs.ts'
import { type FilterTerm, filterTerms, splitKey as splitKeyOf, wrongFilter } from './filter-terms.ts'

type Predicate = (execution: ExecutionSummary) => boolean
type StoreQuery = { -readonly [Field in keyof ExecutionQuery]: ExecutionQuery[Field] }

/** A filter of executions: what the store knows how to find, and what is left to look at. */
export interface ExecutionFilter {
  readonly query: ExecutionQuery
  readonly rest: readonly Predicate[]
}

const what = 'executions'
const knownTerms = 'job, trigger, group, node, outcome, firing, error, manual, late, took, data.x'
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Reads `job:reports/daily outcome:failed late>5s took>=1m`. Terms: `job:` and `trigger:` (`group/name`, or a name
 * in any group), `group:` (of the job), `node:`, `outcome:`, `firing:` (items of that sharded firing), `late` and
 * `took` with a comparison. Values with blanks stand in double quotes. All terms must hold.
 *
 * @throws InvalidArgumentError for what is no such term, saying where
 */
export function parseExecutionFilter(text: string): ExecutionFilter {
  const query: StoreQuery = {}
  const rest: Predicate[] = []
  for (const term of filterTerms(what, text)) addTerm(term, query, rest)
  return { query, rest }
}

function addTerm({ name, operator, value }: FilterTerm, query: StoreQuery, rest: Predicate[]): void {
  if (name === 'late' || name === 'took') {
    const { holds, limitMs } = durationTerm(name, operator, value)
    if (operator !== '>') rest.push(holds)
    else if (name === 'late') query.laterThanMs = limitMs
    else query.tookLongerThanMs = limitMs
    return
  }
  if (name.startsWith('data.') && operator === '=') {
    query.data = { key: name.slice('data.'.length), value }
    return
  }
  if (operator !== ':') throw wrong(`'${name}${operator}'; only late, took and data.x are compared`)
  switch (name) {
    case 'job': {
      const [group, job] = splitKey(value)
      if (group === null) rest.push(({ jobKey }) => jobKey.name === job)
      else query.jobKey = new JobKey(job, group)
      return
    }
    case 'trigger': {
      const [group, trigger] = splitKey(value)
      if (group === null) rest.push(({ triggerKey }) => triggerKey.name === trigger)
      else query.triggerKey = new TriggerKey(trigger, group)
      return
    }
    case 'group':
      query.jobGroup = value
      return
    case 'node':
      query.node = value
      return
    case 'outcome': {
      const outcome = executionOutcomes.find((known) => known === value)
      if (outcome === undefined) throw wrong(`the outcome '${value}'; known: ${executionOutcomes.join(', ')}`)
      query.outcome = outcome
      return
    }
    case 'firing':
      query.firingId = value
      return
    case 'error':
      query.errorContains = value
      return
    case 'manual':
      if (value !== 'true' && value !== 'false') throw wrong(`manual:${value}; write true or false`)
      query.manual = value === 'true'
      return
    default:
      throw wrong(`'${name}'; known: ${knownTerms}`)
  }
}

function durationTerm(
  name: 'late' | 'took',
  operator: string,
  value: string,
): { readonly holds: Predicate; readonly limitMs: number } {
  const [, digits, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(value) ?? []
  const factor = unitMs[unit]
  if (digits === undefined || factor === undefined) {
    throw wrong(`'${name}${operator}${value}'; write a time as in 500ms, 5s, 1m, 2h, 1d`)
  }
  const limitMs = Number(digits) * factor
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

const splitKey = (value: string): [group: string | null, name: string] => splitKeyOf(what, value)
const wrong = (found: string): InvalidArgumentError => wrongFilter(what, found)
