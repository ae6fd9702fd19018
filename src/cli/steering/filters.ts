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
  'job-type': 'jobType',
  state: 'state',
  calendar: 'calendarName',
}

/** The filters that count for what a command is about; what is not listed here takes none. */
const counting: Readonly<Record<string, readonly string[]>> = {
  job: ['group'],
  trigger: ['group'],
  jobs: ['group', 'group-match', 'search', 'job-type'],
  triggers: Object.keys(fields),
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

/** A filter that does not count would be about more than the user meant. @throws UsageError */
export function requireFiltersOf(verb: string, kind: string, values: FilterValues): void {
  const foreign = Object.keys(fields).find(
    (option) => values[option] !== undefined && counting[kind]?.includes(option) !== true,
  )
  if (foreign === undefined) return
  const many = ['jobs', 'triggers'].find((each) => counting[each]?.includes(foreign))
  throw new UsageError(`--${foreign} is not for '${verb} ${kind}': use '${verb} ${many} --${foreign} ...'.`)
}

export function requireOneOf(
  option: string,
  value: string | boolean | undefined,
  known: readonly string[],
): void {
  if (value === undefined || known.some((each) => each === value)) return
  throw new UsageError(`${option} takes one of ${known.join(', ')}, got '${value}'.`)
}
