import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import { count } from '../terminal/text.ts'
import { changeOptions, printAction, requireYes } from './changes.ts'
import { requireClusterView } from './cluster-view.ts'
import { groupOption, requireOneOf } from './filters.ts'
import { formatKey, parseKey } from './keys.ts'

const kinds = ['job', 'execution'] as const

const spec = {
  name: 'interrupt',
  argument: 'WHAT KEY',
  choices: kinds,
  summary: 'Asks what runs to stop',
  options: { group: groupOption, ...changeOptions, ...connectionOptions },
  notes: [
    "WHAT is 'job GROUP/NAME' for all its executions, on whatever node, which needs --yes when there are several; or " +
      "'execution ID' for one: 'quartz-ts history --running' has the ids. A job that does not " +
      'look at its signal goes on.',
    'Executions of a process that has a SQLite file are its own: ask its server.',
    connectionNote,
  ],
} as const

/** `quartz-ts interrupt` */
export const interruptCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const [kind, key, ...more] = positionals
    if (kind === undefined || key === undefined || key === '' || more.length > 0) {
      throw new UsageError(`'interrupt' needs 'job KEY' or 'execution ID'.`)
    }
    requireOneOf('interrupt', kind, kinds)
    await using client = await connect(values, host)
    await requireClusterView(client)
    const isDryRun = values['dry-run'] === true
    const words = { done: 'told to stop', already: 'could not be reached' }
    if (kind === 'execution') {
      const params = { fireInstanceId: key }
      const action = await client.call('executing.interrupt', { params, isDryRun })
      printAction(action, { ...words, object: `execution ${key}` }, values, host)
      return action.changed ? exitCodes.ok : exitCodes.failed
    }
    const jobKey = parseKey(key, values.group)
    const { items } = await client.call('executing.list')
    const running = items.filter(
      (each) => each.jobKey.group === jobKey.group && each.jobKey.name === jobKey.name,
    )
    if (running.length === 0) {
      throw new CommandFailure(exitCodes.notFound, `Job '${formatKey(jobKey)}' does not run on any node.`)
    }
    if (running.length > 1) requireYes(count(running.length, 'execution'), values)
    const action = await client.call('jobs.interrupt', { params: { ...jobKey }, isDryRun })
    printAction(action, { ...words, object: `job ${formatKey(jobKey)}` }, values, host)
    return action.changed ? exitCodes.ok : exitCodes.failed
  },
}
