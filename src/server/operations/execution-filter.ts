import { InvalidArgumentError } from '../../core/errors.ts'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { type ExecutionQuery, type ExecutionSummary, executionOutcomes } from '../../jobstore/queries.ts'
import { durationMsOf, latenessMsOf } from '../wire/runs.ts'

type Predicate = (execution: ExecutionSummary) => boolean
type StoreQuery = { -readonly [Field in keyof ExecutionQuery]: ExecutionQuery[Field] }

/** A filter of executions: what the store knows how to find, and what is left to look at. */
export interface ExecutionFilter {
  readonly query: ExecutionQuery
  readonly rest: readonly Predicate[]
}

const termsMax = 20
const term = /\s*(?:(\w+(?:\.[^\s:<>="]+)?)(:|>=|<=|>|<|=)("(?:[^"\\]|\\.)*"|[^\s"]+))/y
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Reads `job:reports/daily outcome:failed late>5s took>=1m`. Terms: `job:` and `trigger:` (`group/name`, or a name
 * in any group), `group:` (of the job), `node:`, `outcome:`, `late` and `took` with a comparison. Values with
 * blanks stand in double quotes. All terms must hold.
 *
 * @throws InvalidArgumentError for what is no such term, saying where
 */
export function parseExecutionFilter(text: string): ExecutionFilter {
  const query: StoreQuery = {}
  const rest: Predicate[] = []
  term.lastIndex = 0
  let terms = 0
  for (let at = 0; text.slice(at).trim() !== ''; at = term.lastIndex) {
    term.lastIndex = at
    const match = term.exec(text)
    if (match === null) throw wrong(`nothing that can be read at character ${at + 1}`)
    if (++terms > termsMax) throw wrong(`more than ${termsMax} terms`)
    const [, name = '', operator = '', value = ''] = match
    addTerm({ name, operator, value: unquoted(value) }, query, rest)
  }
  return { query, rest }
}

interface Term {
  readonly name: string
  readonly operator: string
  readonly value: string
}

function addTerm({ name, operator, value }: Term, query: StoreQuery, rest: Predicate[]): void {
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
    case 'error':
      query.errorContains = value
      return
    case 'manual':
      if (value !== 'true' && value !== 'false') throw wrong(`manual:${value}; write true or false`)
      query.manual = value === 'true'
      return
    default:
      throw wrong(`'${name}'; known: job, trigger, group, node, outcome, error, manual, late, took, data.x`)
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

/** `group/name`; null and the name where there is no slash. */
function splitKey(value: string): [group: string | null, name: string] {
  const slash = value.indexOf('/')
  const [group, name] = slash < 0 ? [null, value] : [value.slice(0, slash), value.slice(slash + 1)]
  if (name.trim() === '' || group?.trim() === '') throw wrong(`the key '${value}'; write group/name`)
  return [group, name]
}

function unquoted(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value
}

function wrong(found: string): InvalidArgumentError {
  return new InvalidArgumentError('filter', `The filter of executions has ${found}.`)
}
