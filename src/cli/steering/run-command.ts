import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { carryOutBulk } from './bulk.ts'
import { changeOptions, printAction, sayPaused } from './changes.ts'
import {
  filterOf,
  filterOptions,
  requireFiltersOf,
  requireOneOf,
  triggerFilterOptions,
  typeOption,
} from './filters.ts'
import { formatKey, parseKey } from './keys.ts'

const kinds = ['job', 'trigger', 'jobs', 'triggers'] as const

const spec = {
  name: 'run',
  argument: 'WHAT [KEY]',
  choices: kinds,
  summary: 'Runs a job once, now, whatever its triggers say',
  options: {
    data: { type: 'string', value: 'JSON', help: "An object that goes over the job's own data" },
    ...filterOptions,
    'job-type': typeOption,
    ...triggerFilterOptions,
    ...changeOptions,
    ...connectionOptions,
  },
  notes: [
    "WHAT is 'job GROUP/NAME'; 'trigger GROUP/NAME' for its job with its data; or 'jobs' or 'triggers' with the " +
      'filters, which need --yes when more than one fits. A node that is up runs it; the command does not wait. ' +
      'Where its group, the trigger group DEFAULT or everything is paused, the run waits, and the command says so.',
    connectionNote,
  ],
} as const

/** `quartz-ts run` */
export const runCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const [kind, key, ...more] = positionals
    if (kind === undefined) throw new UsageError(`'run' needs one of ${kinds.join(', ')}.`)
    requireOneOf('run', kind, kinds)
    requireFiltersOf('run', kind, values)
    const isMany = kind === 'jobs' || kind === 'triggers'
    if (isMany === (key !== undefined) || more.length > 0) {
      throw new UsageError(
        isMany ? `'run ${kind}' takes filters as options.` : `'run ${kind}' needs one KEY.`,
      )
    }
    const jobDataMap = values.data === undefined ? {} : parseData(values.data)
    if (isMany && values.data !== undefined) throw new UsageError('--data is for one job or trigger.')
    await using client = await connect(values, host)
    if (isMany) {
      return await carryOutBulk(
        client,
        { action: 'run', of: kind, filter: filterOf(values), done: 'run' },
        values,
        host,
      )
    }
    const params = parseKey(key ?? '', values.group)
    const operation = kind === 'job' ? 'jobs.run' : 'triggers.run'
    const isDryRun = values['dry-run'] === true
    const action = await client.call(operation, { params: { ...params }, body: { jobDataMap }, isDryRun })
    const { triggerKey, paused } = action.result
    const done = triggerKey === null ? 'run' : `told to run, by trigger ${formatKey(triggerKey)},`
    printAction(action, { object: `${kind} ${formatKey(params)}`, done, already: 'not run' }, values, host)
    if (paused) {
      const [who, remedy] =
        triggerKey === null
          ? ['It would wait', 'Resume that first.']
          : ['It waits', `'quartz-ts resume trigger ${formatKey(triggerKey)}' lets it run.`]
      sayPaused(who, remedy, values, host)
    }
    return exitCodes.ok
  },
}

function parseData(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Said below, like text that is JSON and no object.
  }
  throw new UsageError(`--data takes a JSON object such as '{"to":"ops@example.com"}'.`)
}
