import { visibleName } from '../../core/visible-text.ts'
import type { SchedulerNode } from '../../jobstore/cluster-view.ts'
import { pause } from '../../time/pause.ts'
import type { ApiClient } from '../api/api-client.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { formatDuration, parseDuration } from '../duration.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import type { Column } from '../terminal/table.ts'
import { count, lineOf } from '../terminal/text.ts'
import { afterChange, changeOptions, printAction, requireYes, type Words } from './changes.ts'
import { requireClusterView } from './cluster-view.ts'
import { requireOneOf } from './filters.ts'
import { printItems } from './pages.ts'

const verbs = {
  standby: { operation: 'nodes.standby', done: 'put in standby', already: 'is in standby' },
  start: { operation: 'nodes.start', done: 'started', already: 'is started' },
  drain: { operation: 'nodes.drain', done: 'told to drain', already: 'drains' },
  remove: { operation: 'nodes.remove', done: 'removed', already: 'is removed' },
} as const
type Verb = keyof typeof verbs
const verbNames = Object.keys(verbs) as Verb[]

const spec = {
  name: 'nodes',
  argument: '[VERB ID]',
  choices: verbNames,
  summary: 'Lists the nodes that share the data, or steers one',
  options: {
    wait: {
      type: 'string',
      value: 'DURATION',
      help: 'How long drain waits for what runs (default: as long as that takes)',
    },
    ...changeOptions,
    yes: { type: 'boolean', help: 'Needed for remove' },
    ...connectionOptions,
  },
  notes: [
    'A node is known by its check-ins; what is not known is left empty.',
    "VERB is 'standby', so that the node fires nothing and running jobs go on; 'start'; 'drain', which is standby " +
      "and waits for what runs; or 'remove', which recovers the work of a node that has missed check-ins and takes " +
      'it off the list: its process must have ended. Another node is asked by a message; the exit code is 1 when it ' +
      'does not say that it has done so. A process that is started anew does as its own options say.',
    connectionNote,
  ],
} as const
type Values = ReturnType<typeof parseArguments<typeof spec>>['values']

/** `quartz-ts nodes` */
export const nodesCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const asked = askedOf(positionals, values)
    await using client = await connect(values, host)
    await requireClusterView(client)
    if (asked !== null) return await steer(client, asked, values, host)
    const { items } = await client.call('nodes.list')
    const { nowMs } = await client.call('scheduler.get')
    return await printItems(items, { columns: columnsAt(nowMs), none: 'No nodes.' }, values, host)
  },
}

interface Asked {
  readonly verb: Verb
  readonly instanceId: string
  /** Null for as long as it takes. */
  readonly waitMs: number | null
}

/** Null where the nodes are to be listed. @throws UsageError */
function askedOf(positionals: readonly string[], values: Values): Asked | null {
  const [verb, instanceId, ...more] = positionals
  if (values.wait !== undefined && verb !== 'drain')
    throw new UsageError("--wait goes with 'nodes drain ID'.")
  if (verb === undefined) return null
  requireOneOf('nodes', verb, verbNames)
  if (instanceId === undefined || instanceId === '') throw new UsageError(`'nodes ${verb}' needs ID.`)
  if (more.length > 0) throw new UsageError(`'nodes ${verb}' takes one ID.`)
  const waitMs = values.wait === undefined ? null : parseDuration('--wait', values.wait)
  return { verb: verb as Verb, instanceId, waitMs }
}

async function steer(
  client: ApiClient,
  { verb, instanceId, waitMs }: Asked,
  values: Values,
  host: CliHost,
): Promise<number> {
  if (verb === 'remove')
    requireYes(`the firings of node '${instanceId}', whose process must have ended`, values)
  const isDryRun = values['dry-run'] === true
  const { operation, done, already } = verbs[verb]
  const action = await client.call(operation, { params: { instanceId }, isDryRun })
  const { confirmed } = action.result
  const words: Words = { object: `node ${instanceId}`, done: confirmed || isDryRun ? done : 'asked', already }
  printAction(action, words, values, host)
  if (isDryRun) return exitCodes.ok
  if (!confirmed) {
    host.stderr.write(lineOf(`${instanceId} does not say that it has done so; it may not have heard.`))
    return exitCodes.failed
  }
  if (verb === 'drain') await drained(client, { instanceId, waitMs }, values, host)
  return exitCodes.ok
}

const lookEveryMs = 500

/** Waits for what runs there, and says how far it is. @throws CommandFailure */
async function drained(
  client: ApiClient,
  { instanceId, waitMs }: Pick<Asked, 'instanceId' | 'waitMs'>,
  { json }: Values,
  { clock, stderr }: CliHost,
): Promise<void> {
  const startedMs = clock.elapsedMs()
  for (let said: number | null = null; ; ) {
    const { items } = await client.call('nodes.list').catch((error: unknown) => {
      stderr.write(lineOf(`Node '${instanceId}' was told to drain, and may go on.`))
      throw afterChange(error)
    })
    // One that has shut down meanwhile has left the list.
    const executing = items.find((node) => node.instanceId === instanceId)?.executing ?? 0
    if (executing !== said && json !== true)
      stderr.write(
        executing === 0
          ? 'Nothing runs there.\n'
          : `${count(executing, 'execution')} still ${executing === 1 ? 'runs' : 'run'} there.\n`,
      )
    if (executing === 0) return
    said = executing
    if (waitMs !== null && clock.elapsedMs() - startedMs >= waitMs) {
      throw new CommandFailure(
        exitCodes.failed,
        `Node '${instanceId}' still runs ${count(executing, 'execution')}; it goes on draining.`,
      )
    }
    await pause(clock, lookEveryMs)
  }
}

function columnsAt(nowMs: number): readonly Column<SchedulerNode>[] {
  return [
    { title: 'NODE', of: ({ instanceId }) => visibleName(instanceId) },
    { title: 'STATE', of: ({ state }) => state },
    { title: 'STATUS', of: ({ status }) => status ?? '' },
    { title: 'RUNNING', of: ({ executing }) => String(executing), align: 'right' },
    {
      title: 'CHECKED IN',
      of: ({ lastCheckInTimeMs: ms }) =>
        ms === null ? '' : `${formatDuration(Math.max(0, nowMs - ms))} ago`,
    },
    { title: 'HOST', of: ({ host }) => host ?? '', mayBeCut: true },
    { title: 'PID', of: ({ pid }) => String(pid ?? ''), align: 'right' },
    { title: 'VERSION', of: ({ version }) => version ?? '' },
    {
      title: 'CLOCK',
      of: ({ clockOffsetMs: ms }) => (ms === null ? '' : `${ms > 0 ? '+' : ''}${Math.round(ms)} ms`),
      align: 'right',
    },
    {
      title: 'LAG',
      of: ({ eventLoopLagMs: ms }) => (ms === null ? '' : `${Math.round(ms)} ms`),
      align: 'right',
    },
    { title: 'JOB TYPES', of: ({ jobTypes }) => jobTypes?.join(', ') ?? '', mayBeCut: true },
  ]
}
