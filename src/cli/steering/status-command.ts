import type { JobStatusJson } from '../../server/wire/job-status.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { ApiClient } from '../api/api-client.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { formatDuration } from '../duration.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { formatMoment } from '../local-time.ts'
import { requireWhole, requireZone, zoneOption } from '../shared-options.ts'
import { type Column, Table, writePairs } from '../terminal/table.ts'
import { groupOption } from './filters.ts'
import { formatKey, parseKey } from './keys.ts'
import { listAlone, requireFitting } from './one-or-list.ts'
import { pageOptions, printPages } from './pages.ts'

const spec = {
  name: 'status',
  argument: '[KEY]',
  summary: 'Says how jobs do: last run and success, failures in a row',
  options: {
    failing: { type: 'boolean', help: 'Jobs whose last execution failed' },
    failures: { type: 'string', value: 'N', help: 'Jobs that failed at least so often in a row' },
    group: { ...groupOption, help: 'With a KEY: all of it is the name in this group' },
    zone: zoneOption,
    ...pageOptions,
    ...connectionOptions,
  },
  notes: [
    'KEY is GROUP/NAME, or a name in the group DEFAULT: that job with its counts by day. What is known of a job ' +
      'outlives its executions in the history.',
    connectionNote,
  ],
} as const

const fitting = { one: ['group'], list: ['failing', 'failures', ...listAlone] }

/** `quartz-ts status` */
export const statusCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const [key, ...more] = positionals
    if (more.length > 0) throw new UsageError(`'status' takes one KEY, got ${positionals.length} arguments.`)
    requireFitting('status', key, fitting, values)
    const zone = requireZone(values.zone)
    const least = values.failing === true ? '1' : '0'
    const minConsecutiveFailures = requireWhole('--failures', values.failures ?? least, { min: 0, max: 1e9 })
    await using client = await connect(values, host)
    if (key !== undefined) {
      return await showStatus(
        client,
        parseKey(key, values.group),
        { isJson: values.json === true, zone },
        host,
      )
    }
    const list = {
      load: (take: number, after?: string) =>
        client.call('jobStatus.list', { query: { minConsecutiveFailures, take, after } }),
      columns: columns(zone),
      none: minConsecutiveFailures > 0 ? 'No such jobs.' : 'No job has run yet.',
    }
    return await printPages(list, values, host)
  },
}

function columns(zone: TimeZone): readonly Column<JobStatusJson>[] {
  return [
    { title: 'JOB', of: ({ jobKey }) => formatKey(jobKey) },
    { title: `LAST RUN (${zone.name})`, of: ({ lastFireTimeMs }) => momentOf(zone, lastFireTimeMs) },
    { title: 'OUTCOME', of: ({ lastOutcome }) => lastOutcome ?? '' },
    { title: 'LAST SUCCESS', of: ({ lastSuccessTimeMs }) => momentOf(zone, lastSuccessTimeMs) },
    {
      title: 'FAILURES',
      of: ({ consecutiveFailures }) => String(consecutiveFailures),
      align: 'right',
    },
    {
      title: 'ERROR',
      of: ({ consecutiveFailures, lastErrorText }) => (consecutiveFailures > 0 && lastErrorText) || '',
      mayBeCut: true,
    },
  ]
}

async function showStatus(
  client: ApiClient,
  key: { readonly group: string; readonly name: string },
  { isJson, zone }: { readonly isJson: boolean; readonly zone: TimeZone },
  { stdout }: CliHost,
): Promise<number> {
  const status = await client.call('jobs.status', { params: { ...key } })
  if (isJson) {
    stdout.write(`${JSON.stringify(status, null, 2)}\n`)
    return exitCodes.ok
  }
  writePairs(pairsOf(status, zone), stdout)
  if (status.days.length > 0) {
    stdout.write('\n')
    new Table(dayColumns, stdout).write(status.days)
  }
  return exitCodes.ok
}

function pairsOf(status: JobStatusJson, zone: TimeZone): readonly (readonly [string, string])[] {
  return [
    ['job', formatKey(status.jobKey)],
    [`last run (${zone.name})`, momentOf(zone, status.lastFireTimeMs)],
    ['outcome', status.lastOutcome ?? ''],
    ['last success', momentOf(zone, status.lastSuccessTimeMs)],
    ['last failure', momentOf(zone, status.lastFailureTimeMs)],
    ['last error', status.lastErrorText ?? ''],
    ['failures in a row', String(status.consecutiveFailures)],
    ['execution', status.lastFireInstanceId ?? ''],
  ].filter((pair): pair is [string, string] => pair[1] !== '')
}

const dayColumns: readonly Column<JobStatusJson['days'][number]>[] = [
  { title: 'DAY (UTC)', of: ({ day }) => day },
  { title: 'SUCCEEDED', of: ({ counts }) => String(counts.succeeded), align: 'right' },
  { title: 'FAILED', of: ({ counts }) => String(counts.failed), align: 'right' },
  { title: 'TIMED OUT', of: ({ counts }) => String(counts.timedOut), align: 'right' },
  { title: 'INTERRUPTED', of: ({ counts }) => String(counts.interrupted), align: 'right' },
  { title: 'LOST', of: ({ counts }) => String(counts.lost), align: 'right' },
  { title: 'VETOED', of: ({ counts }) => String(counts.vetoed), align: 'right' },
  { title: 'RAN', of: ({ runTimeMs }) => formatDuration(runTimeMs), align: 'right' },
]

function momentOf(zone: TimeZone, timeMs: number | null): string {
  return timeMs === null ? '' : formatMoment(zone, timeMs)
}
