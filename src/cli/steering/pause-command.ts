import type { ActionJson } from '../../server/wire/action.ts'
import type { EpochMs } from '../../time/clock.ts'
import { durationMsOf } from '../../time/duration.ts'
import type { ApiClient } from '../api/api-client.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, type CommandSpec, type OptionValues, parseArguments, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { requireInstant } from '../shared-options.ts'
import { carryOutBulk } from './bulk.ts'
import { changeOptions, printAction, requireYes, type Words } from './changes.ts'
import {
  filterOf,
  filterOptions,
  requireFiltersOf,
  requireOneOf,
  triggerFilterOptions,
  typeOption,
} from './filters.ts'
import { formatKey, parseKey } from './keys.ts'

const kinds = ['job', 'trigger', 'job-group', 'trigger-group', 'jobs', 'triggers', 'all'] as const
type Kind = (typeof kinds)[number]

const pauseOptions = {
  reason: { type: 'string', value: 'TEXT', help: 'Why, for those who look at what is paused' },
  until: {
    type: 'string',
    value: 'TIME',
    help: 'Resume by itself: in 2h, or at an instant such as 2026-03-29T00:00:00Z',
  },
} as const
const resumeOptions = {
  'without-missed': { type: 'boolean', help: 'Go on with the next fire time, whatever was missed' },
} as const

const options = {
  ...filterOptions,
  'job-type': typeOption,
  ...triggerFilterOptions,
  ...changeOptions,
  ...connectionOptions,
}
type Values = OptionValues<typeof options>
type VerbValues = OptionValues<typeof pauseOptions & typeof resumeOptions>

interface Verb {
  readonly name: 'pause' | 'resume'
  readonly options: CommandSpec['options']
  /** What the request says besides what it is about. */
  readonly bodyOf: (values: VerbValues, nowMs: EpochMs) => object
  readonly done: string
  readonly already: string
  readonly summary: string
}

/** `quartz-ts pause` and `quartz-ts resume` */
export const pauseCommand: Command = steering({
  name: 'pause',
  done: 'paused',
  already: 'paused already',
  summary: 'Pauses a job, a trigger, a group, many, or all',
  options: pauseOptions,
  bodyOf: ({ reason, until }, nowMs) => ({
    ...(reason !== undefined && { reason }),
    ...(until !== undefined && { untilMs: untilOf(until, nowMs) }),
  }),
})
export const resumeCommand: Command = steering({
  name: 'resume',
  done: 'resumed',
  already: 'was not paused',
  summary: 'Resumes what was paused',
  options: resumeOptions,
  bodyOf: (values) => (values['without-missed'] === true ? { withoutMissed: true } : {}),
})

/** A duration from now, or an instant. @throws UsageError */
function untilOf(text: string, nowMs: EpochMs): EpochMs {
  const durationMs = durationMsOf(text)
  const untilMs =
    durationMs === null
      ? requireInstant('--until', text, 'a duration such as 2h, an instant')
      : nowMs + durationMs
  if (untilMs > nowMs) return untilMs
  throw new UsageError(`--until must be later than now, got '${text}'.`)
}

function steering(verb: Verb): Command {
  const spec = {
    name: verb.name,
    argument: 'WHAT [KEY]',
    choices: kinds,
    summary: verb.summary,
    options: { ...verb.options, ...options },
    notes: [
      "WHAT is 'job GROUP/NAME', 'trigger GROUP/NAME', 'job-group GROUP' or 'trigger-group GROUP' with what comes " +
        "into it later, 'jobs' or 'triggers' with the filters, or 'all'. A group, all, and a filter that more than " +
        'one fits need --yes.',
      connectionNote,
    ],
  } satisfies CommandSpec
  return {
    spec,
    async run(args, host) {
      const { positionals, values } = parseArguments(spec, args)
      const what = whatOf(verb.name, positionals)
      const { kind } = what
      requireFiltersOf(verb.name, kind, values)
      const given = values as VerbValues
      // What is wrong is said before anything is reached.
      const byOwnClock = verb.bodyOf(given, host.clock.now())
      await using client = await connect(values, host)
      const isFromNow = given.until !== undefined && durationMsOf(given.until) !== null
      const body = isFromNow ? verb.bodyOf(given, (await client.call('scheduler.get')).nowMs) : byOwnClock
      if (kind === 'jobs' || kind === 'triggers') {
        const { name: action, done } = verb
        const bulk = { action, of: kind, filter: filterOf(values), done, [action]: body }
        return await carryOutBulk(client, bulk, values, host)
      }
      await steer(client, verb, { ...what, body }, values, host)
      return exitCodes.ok
    },
  }
}

interface What {
  readonly kind: Kind
  /** Empty where the kind has none. */
  readonly key: string
}

function whatOf(name: string, positionals: readonly string[]): What {
  const [kind, key = '', ...more] = positionals
  if (kind === undefined) throw new UsageError(`'${name}' needs one of ${kinds.join(', ')}.`)
  requireOneOf(name, kind, kinds)
  const hasKey = kind !== 'jobs' && kind !== 'triggers' && kind !== 'all'
  if (hasKey && key === '')
    throw new UsageError(`'${name} ${kind}' needs ${kind.endsWith('group') ? 'GROUP' : 'KEY'}.`)
  if (more.length > 0 || (!hasKey && key !== '')) {
    throw new UsageError(`'${name} ${kind}' has too many arguments.${hasKey ? '' : ' Filters are options.'}`)
  }
  return { kind: kind as Kind, key }
}

/** One request, about one thing that the user named. */
async function steer(
  client: ApiClient,
  verb: Verb,
  { kind, key, body }: What & { readonly body: object },
  values: Values,
  host: CliHost,
): Promise<void> {
  const isDryRun = values['dry-run'] === true
  const print = (object: string, action: ActionJson): void => {
    const isJobPause = verb.name === 'pause' && kind === 'job'
    // A job is paused as far as it has triggers.
    const already = isJobPause ? 'has no trigger that can be paused' : verb.already
    const words: Words = { object, done: verb.done, already }
    printAction(action, words, values, host)
  }
  switch (kind) {
    case 'job':
    case 'trigger': {
      const params = parseKey(key, values.group)
      const action = await client.call(`${kind}s.${verb.name}`, { params: { ...params }, body, isDryRun })
      print(`${kind} ${formatKey(params)}`, action)
      return
    }
    case 'job-group':
    case 'trigger-group': {
      const of = kind === 'job-group' ? 'job' : 'trigger'
      requireYes(`all ${of}s of the group '${key}'`, values)
      print(
        `${of} group ${key}`,
        await client.call(`${of}Groups.${verb.name}`, { params: { group: key }, body, isDryRun }),
      )
      return
    }
    default:
      requireYes('all triggers', values)
      print('all triggers', await client.call(`scheduler.${verb.name}All`, { body, isDryRun }))
  }
}
