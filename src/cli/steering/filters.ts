import { triggerStates } from '../../jobstore/trigger-state.ts'
import type { StringOption } from '../command.ts'
import { UsageError } from '../command.ts'

const groupMatches = ['equals', 'startsWith', 'endsWith', 'contains'] as const
/** NONE is the state of a trigger that is not there. */
const states = triggerStates.filter((state) => state !== 'NONE')

export const groupOption: StringOption = { type: 'string', value: 'GROUP', help: 'Of this group' }

/** What lists of jobs and of triggers, and actions on many of them, take. */
export const filterOptions: Readonly<Record<'group' | 'group-match' | 'search', StringOption>> = {
  group: groupOption,
  'group-match': {
    type: 'string',
    value: 'HOW',
    help: `How --group is compared: ${groupMatches.join(', ')} (default equals)`,
    choices: groupMatches,
  },
  search: {
    type: 'string',
    value: 'TEXT',
    help: 'Part of the name, the group or the like, in any case of letters',
  },
}

export const typeOption: StringOption = { type: 'string', value: 'TYPE', help: 'Jobs of this type' }

export const triggerFilterOptions: Readonly<Record<'state' | 'calendar', StringOption>> = {
  state: {
    type: 'string',
    value: 'STATE',
    help: `Triggers in this state: ${states.join(', ')}`,
    choices: states,
  },
  calendar: { type: 'string', value: 'NAME', help: 'Triggers with this calendar' },
}

/** Names of options and what the API calls them. */
const fields: Readonly<Record<string, string>> = {
  group: 'group',
  'group-match': 'groupMatch',
  search: 'search',
  type: 'jobType',
  state: 'state',
  calendar: 'calendarName',
}

type FilterValues = Readonly<Partial<Record<string, string | boolean>>>

/** The filters among the values of a command line, as the API calls them. @throws UsageError */
export function filterOf(values: FilterValues): Readonly<Record<string, string>> {
  requireOneOf('--group-match', values['group-match'], groupMatches)
  requireOneOf('--state', values['state'], states)
  if (values['group-match'] !== undefined && values['group'] === undefined) {
    throw new UsageError('--group-match goes with --group.')
  }
  return Object.fromEntries(
    Object.entries(fields).flatMap(([option, field]) => {
      const value = values[option]
      return typeof value === 'string' ? [[field, value]] : []
    }),
  )
}

export function requireOneOf(
  option: string,
  value: string | boolean | undefined,
  known: readonly string[],
): void {
  if (value === undefined || known.some((each) => each === value)) return
  throw new UsageError(`${option} takes one of ${known.join(', ')}, got '${value}'.`)
}
