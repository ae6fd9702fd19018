import { visibleName } from '../../core/visible-text.ts'
import type { KeyJson } from '../../server/wire/fields.ts'
import type { TriggerDetailJson, TriggerSummaryJson } from '../../server/wire/triggers.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { ApiClient } from '../api/api-client.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, type OptionValues, parseArguments, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { formatLocal, formatMoment } from '../local-time.ts'
import { requireWhole, requireZone, zoneOption } from '../shared-options.ts'
import { type Column, writePairs } from '../terminal/table.ts'
import { filterOf, filterOptions, triggerFilterOptions } from './filters.ts'
import { formatKey, parseKey } from './keys.ts'
import { listAlone, requireFitting } from './one-or-list.ts'
import { pageOptions, printPages } from './pages.ts'

const spec = {
  name: 'triggers',
  argument: '[KEY]',
  summary: 'Lists triggers, or shows one with its next fire times',
  options: {
    ...filterOptions,
    ...triggerFilterOptions,
    job: { type: 'string', value: 'KEY', help: 'Triggers of this job, as GROUP/NAME' },
    count: { type: 'string', value: 'N', help: 'With a KEY: how many fire times, 1 to 100 (default 10)' },
    zone: zoneOption,
    ...pageOptions,
    ...connectionOptions,
  },
  notes: [
    'KEY is GROUP/NAME, or a name in the group DEFAULT; with --group all of it is the name.',
    connectionNote,
  ],
} as const

const fitting = {
  one: ['count'],
  list: ['group-match', 'search', ...Object.keys(triggerFilterOptions), 'job', ...listAlone],
}

type Values = OptionValues<typeof spec.options>

/** `quartz-ts triggers` */
export const triggersCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const [key, ...more] = positionals
    if (more.length > 0)
      throw new UsageError(`'triggers' takes one KEY, got ${positionals.length} arguments.`)
    requireFitting('triggers', key, fitting, values)
    const zone = requireZone(values.zone)
    const filter = key === undefined ? listFilterOf(values) : {}
    await using client = await connect(values, host)
    if (key !== undefined) return await showTrigger(client, parseKey(key, values.group), values, host)
    const list = {
      load: (take: number, after?: string) =>
        client.call('triggers.list', { query: { ...filter, take, after } }),
      columns: columnsIn(zone),
      none: 'No triggers.',
    }
    return await printPages(list, values, host)
  },
}

function listFilterOf(values: Values): Readonly<Record<string, string>> {
  const filter = filterOf(values)
  if (values.job === undefined) return filter
  const { group, name } = parseKey(values.job, undefined)
  return { ...filter, jobGroup: group, jobName: name }
}

function columnsIn(zone: TimeZone): readonly Column<TriggerSummaryJson>[] {
  const moment = (ms: number | null): string => (ms === null ? '' : formatMoment(zone, ms))
  return [
    { title: 'TRIGGER', of: ({ key }) => formatKey(key) },
    { title: 'JOB', of: ({ jobKey }) => formatKey(jobKey) },
    { title: 'KIND', of: ({ type }) => type },
    { title: 'STATE', of: ({ state }) => state },
    { title: `NEXT (${zone.name})`, of: ({ nextFireTimeMs }) => moment(nextFireTimeMs) },
    { title: 'LAST', of: ({ previousFireTimeMs }) => moment(previousFireTimeMs) },
    { title: 'CALENDAR', of: ({ calendarName }) => visibleName(calendarName ?? '') },
    { title: 'PAUSED', of: (trigger) => pauseText(trigger, zone) },
  ]
}

async function showTrigger(
  client: ApiClient,
  key: KeyJson,
  values: Values,
  { stdout }: CliHost,
): Promise<number> {
  const count = requireWhole('--count', values.count ?? '10', { min: 1, max: 100 })
  const params = { ...key }
  const trigger = await client.call('triggers.get', { params })
  const { fireTimesMs } = await client.call('triggers.fireTimes', { params, query: { count } })
  if (values.json === true) {
    stdout.write(`${JSON.stringify({ ...trigger, fireTimesMs }, null, 2)}\n`)
    return exitCodes.ok
  }
  const zone = requireZone(values.zone)
  writePairs(pairsOf(trigger, zone), stdout)
  stdout.write(`\nNext fire times in ${zone.name}:\n`)
  for (const fireMs of fireTimesMs) stdout.write(`  ${formatLocal(zone, fireMs)}\n`)
  if (fireTimesMs.length < count) stdout.write('After that it does not fire any more.\n')
  return exitCodes.ok
}

function pairsOf(trigger: TriggerDetailJson, zone: TimeZone): readonly (readonly [string, string])[] {
  const { definition, previousFireTimeMs: lastMs } = trigger
  const cron = definition?.type === 'cron' ? definition.cronExpression : null
  return [
    ['trigger', formatKey(trigger.key)],
    ['job', definition === null ? '' : formatKey(definition.jobKey)],
    ['state', trigger.state],
    ['paused', pauseText(trigger, zone)],
    ['kind', definition?.type ?? 'one of another program'],
    ['expression', cron === null ? '' : `${cron.expression} (${cron.timeZone})`],
    ['in words', trigger.words ?? ''],
    ['calendar', visibleName(definition?.calendarName ?? '')],
    ['misfires', definition?.misfireInstruction ?? ''],
    ['data', definition === null ? '' : JSON.stringify(definition.jobDataMap)],
    ['last', lastMs === null ? '' : formatLocal(zone, lastMs)],
    ['fired or missed', `${trigger.timesTriggered} times`],
  ].filter((pair): pair is [string, string] => pair[1] !== '')
}

/** Why and until when, as far as that is known. */
export function pauseText({ pause }: Pick<TriggerSummaryJson, 'pause'>, zone: TimeZone): string {
  if (pause === null) return ''
  const { reason, by, sinceMs, untilMs } = pause
  const parts = [
    reason,
    by === null ? null : `by ${by}`,
    `since ${formatLocal(zone, sinceMs)}`,
    untilMs === null ? null : `until ${formatLocal(zone, untilMs)}`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}
