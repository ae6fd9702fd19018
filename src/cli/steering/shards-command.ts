import type { ShardedFiringJson, ShardedItemJson, ShardsJson } from '../../server/wire/shards.ts'
import type { TimeZone } from '../../time/zone.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, type OptionValues, parseCommandLine, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { formatMoment } from '../local-time.ts'
import { requireWhole, requireZone, zoneOption } from '../shared-options.ts'
import { type Column, Table } from '../terminal/table.ts'
import { lineOf } from '../terminal/text.ts'
import { changeOptions, printAction } from './changes.ts'
import { groupOption } from './filters.ts'
import { formatKey, parseKey } from './keys.ts'

const { 'dry-run': dryRun, json } = changeOptions

const options = {
  group: groupOption,
  disable: { type: 'string', value: 'ITEM', help: 'Leave this item out, from the next firing on' },
  enable: { type: 'string', value: 'ITEM', help: 'Run this item again, from the next firing on' },
  zone: zoneOption,
  'dry-run': dryRun,
  json,
  ...connectionOptions,
} as const

const spec = {
  name: 'shards',
  argument: 'KEY',
  summary: 'Shows the items of a sharded job, or turns one off or on',
  options,
  notes: [
    'KEY is the GROUP/NAME of a job, or a name in the group DEFAULT. Each firing that has not ended is shown with ' +
      "its items: 'given' waits for its node or runs, 'held' waits for that item of an earlier firing; one that has " +
      'ended shows its outcome.',
    connectionNote,
  ],
} as const

/** `quartz-ts shards` */
export const shardsCommand: Command = {
  spec,
  async run(args, host) {
    const { argument, values } = parseCommandLine(spec, args)
    const key = parseKey(argument, values.group)
    const zone = requireZone(values.zone)
    const asked = askedChange(values)
    await using client = await connect(values, host)
    if (asked === null) {
      const shards = await client.call('jobs.shards', { params: { ...key } })
      if (values.json === true) host.stdout.write(`${JSON.stringify(shards, null, 2)}\n`)
      else printShards(shards, zone, host)
      return exitCodes.ok
    }
    const { operation, item, words } = asked
    const params = { ...key, item: String(item) }
    const action = await client.call(operation, { params, isDryRun: values['dry-run'] === true })
    printAction(action, { ...words, object: `item ${item} of job ${formatKey(key)}` }, values, host)
    return exitCodes.ok
  },
}

/** Null where the items are to be shown. @throws UsageError */
function askedChange({ disable, enable, 'dry-run': isDryRun }: OptionValues<typeof options>) {
  if (disable !== undefined && enable !== undefined) {
    throw new UsageError('--disable and --enable: give one of them.')
  }
  const limits = { min: 0, max: 999 }
  if (disable !== undefined) {
    const item = requireWhole('--disable', disable, limits)
    return { operation: 'jobs.disableShard', item, words: { done: 'turned off', already: 'is off' } } as const
  }
  if (enable !== undefined) {
    const item = requireWhole('--enable', enable, limits)
    return { operation: 'jobs.enableShard', item, words: { done: 'turned on', already: 'is on' } } as const
  }
  if (isDryRun === true) throw new UsageError('--dry-run goes with --disable and --enable.')
  return null
}

function printShards({ firings, disabledItems }: ShardsJson, zone: TimeZone, { stdout }: CliHost): void {
  if (disabledItems.length > 0) stdout.write(`Turned off: ${disabledItems.join(', ')}\n`)
  if (firings.length === 0) stdout.write('No firing of it is open.\n')
  for (const firing of firings) {
    stdout.write(firingLine(firing, zone))
    new Table(columns, stdout).write(firing.items)
  }
}

function firingLine({ fireInstanceId, triggerKey, fireTimeMs }: ShardedFiringJson, zone: TimeZone): string {
  const began = `${formatMoment(zone, fireTimeMs)} (${zone.name})`
  return lineOf(`Firing ${fireInstanceId} of ${formatKey(triggerKey)}, ${began}:`)
}

const columns: readonly Column<ShardedItemJson>[] = [
  { title: 'ITEM', of: ({ item }) => String(item), align: 'right' },
  { title: 'OWNER', of: ({ owner }) => owner, mayBeCut: true },
  { title: 'STATE', of: ({ state, outcome }) => outcome ?? state },
  { title: 'PARAMETER', of: ({ parameter }) => parameter ?? '', mayBeCut: true },
  { title: 'ERROR', of: ({ errorText }) => errorText ?? '', mayBeCut: true },
]
