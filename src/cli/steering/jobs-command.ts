import type { JobJson, JobSummaryJson } from '../../server/wire/jobs.ts'
import type { TriggerDetailJson } from '../../server/wire/triggers.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { ApiClient } from '../api/api-client.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { formatDuration } from '../duration.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { formatMoment } from '../local-time.ts'
import { requireZone, zoneOption } from '../shared-options.ts'
import { type Column, Table, writePairs } from '../terminal/table.ts'
import { filterOf, filterOptions, typeOption } from './filters.ts'
import { formatKey, parseKey } from './keys.ts'
import { listAlone, requireFitting } from './one-or-list.ts'
import { pageOptions, printPages } from './pages.ts'
import { pauseText } from './triggers-command.ts'

const spec = {
  name: 'jobs',
  argument: '[KEY]',
  summary: 'Lists jobs, or shows one with its triggers',
  options: {
    ...filterOptions,
    'job-type': typeOption,
    zone: zoneOption,
    ...pageOptions,
    ...connectionOptions,
  },
  notes: [
    'KEY is GROUP/NAME, or a name in the group DEFAULT; with --group all of it is the name.',
    connectionNote,
  ],
} as const

const fitting = { one: [], list: ['group-match', 'search', 'job-type', ...listAlone] }

const columns: readonly Column<JobSummaryJson>[] = [
  { title: 'JOB', of: ({ key }) => formatKey(key) },
  { title: 'TYPE', of: ({ jobType }) => jobType, mayBeCut: true },
  { title: 'TRAITS', of: traitsOf, mayBeCut: true },
  { title: 'DESCRIPTION', of: ({ description }) => description ?? '', mayBeCut: true },
]

/** `quartz-ts jobs` */
export const jobsCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const [key, ...more] = positionals
    if (more.length > 0) throw new UsageError(`'jobs' takes one KEY, got ${positionals.length} arguments.`)
    requireFitting('jobs', key, fitting, values)
    const zone = requireZone(values.zone)
    const filter = filterOf(key === undefined ? values : {})
    await using client = await connect(values, host)
    if (key !== undefined) {
      return await showJob(client, parseKey(key, values.group), { isJson: values.json === true, zone }, host)
    }
    const list = {
      load: (take: number, after?: string) => client.call('jobs.list', { query: { ...filter, take, after } }),
      columns,
      none: 'No jobs.',
    }
    return await printPages(list, values, host)
  },
}

async function showJob(
  client: ApiClient,
  key: { readonly group: string; readonly name: string },
  { isJson, zone }: { readonly isJson: boolean; readonly zone: TimeZone },
  { stdout }: CliHost,
): Promise<number> {
  const params = { ...key }
  const job = await client.call('jobs.get', { params })
  const items: TriggerDetailJson[] = []
  let after: string | undefined
  do {
    const page = await client.call('jobs.triggers', { params, query: { take: 1000, after } })
    items.push(...page.items)
    after = page.next ?? undefined
  } while (after !== undefined)
  if (isJson) {
    stdout.write(`${JSON.stringify({ ...job, triggers: items }, null, 2)}\n`)
    return exitCodes.ok
  }
  writePairs(pairsOf(job), stdout)
  stdout.write('\n')
  if (items.length === 0) stdout.write('No triggers.\n')
  else new Table(triggerColumns(zone), stdout).write(items)
  return exitCodes.ok
}

function pairsOf(job: JobJson): readonly (readonly [string, string])[] {
  const { retry, nodeAffinity, sharding } = job
  return [
    ['job', formatKey(job.key)],
    ['type', job.jobType],
    ['traits', traitsOf(job)],
    ['description', job.description ?? ''],
    ['data', JSON.stringify(job.jobDataMap)],
    ['timeout', job.timeoutMs === null ? '' : formatDuration(job.timeoutMs)],
    ['retry', retry === null ? '' : `${retry.attempts} attempts, ${retry.backoff.type} backoff`],
    ['sharding', shardingText(sharding)],
    ['nodes', nodeAffinity === null ? '' : nodeAffinity.names.join(', ')],
  ].filter((pair): pair is [string, string] => pair[1] !== '')
}

function shardingText(sharding: JobJson['sharding']): string {
  if (sharding === null) return ''
  const { items, strategy } = sharding
  if (items === 'remote') return 'as many items as the remote job says when it fires'
  return items === 'nodes' ? 'one item for each node' : `${items} items, ${strategy}`
}

function triggerColumns(zone: TimeZone): readonly Column<TriggerDetailJson>[] {
  return [
    { title: 'TRIGGER', of: ({ key }) => formatKey(key) },
    { title: 'STATE', of: ({ problem, state }) => (problem === null ? state : 'unreadable') },
    {
      title: `NEXT (${zone.name})`,
      of: ({ nextFireTimeMs }) => (nextFireTimeMs === null ? '' : formatMoment(zone, nextFireTimeMs)),
    },
    {
      title: 'SCHEDULE',
      of: ({ problem, words, definition }) => problem ?? words ?? definition?.type ?? '',
      mayBeCut: true,
    },
    { title: 'PAUSED', of: (trigger) => pauseText(trigger, zone), mayBeCut: true },
  ]
}

function traitsOf(job: Omit<JobSummaryJson, 'pause'>): string {
  const traits = [
    job.durable && 'durable',
    job.requestsRecovery && 'recovered',
    job.disallowConcurrentExecution && 'one at a time',
    job.persistJobDataAfterExecution && 'keeps data',
  ]
  return traits.filter((trait) => trait !== false).join(', ')
}
