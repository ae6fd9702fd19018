import type { ExecutingJson, ExecutionJson } from '../../server/wire/runs.ts'
import type { TimeZone } from '../../time/zone.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { formatDuration } from '../duration.ts'
import { formatMoment } from '../local-time.ts'
import { requireWindow, requireZone, windowOptions, zoneOption } from '../shared-options.ts'
import type { Column } from '../terminal/table.ts'
import { requireClusterView } from './cluster-view.ts'
import { formatKey } from './keys.ts'
import { pageOptions, printItems, printPages } from './pages.ts'

const spec = {
  name: 'history',
  argument: '[FILTER]',
  summary: 'Lists executions that ended, or those that run',
  options: {
    running: { type: 'boolean', help: 'Those that run now, with the id that interrupt takes' },
    ...windowOptions('Began at or after', 'Began before'),
    zone: zoneOption,
    ...pageOptions,
    ...connectionOptions,
  },
  notes: [
    "FILTER is as in 'job:reports/daily outcome:failed late>5s took>1m'; also trigger:, group:, node:, firing:, " +
      'error: and manual:, data.to=ops for data of the job, and outcome:failed,timedOut,lost for one of several. ' +
      'All of it must hold. Those that began last come first. How much is kept is an option of the store: by ' +
      'default failures.',
    connectionNote,
  ],
} as const

/** `quartz-ts history` */
export const historyCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const filter = positionals.join(' ')
    const zone = requireZone(values.zone)
    const isFiltered = (values.from ?? values.to) !== undefined || filter !== ''
    if (values.running === true && isFiltered) throw new UsageError('--running takes no filter.')
    const window = requireWindow(values)
    await using client = await connect(values, host)
    if (values.running === true) {
      await requireClusterView(client)
      const { items } = await client.call('executing.list')
      return await printItems(items, { columns: runningColumns(zone), none: 'Nothing runs.' }, values, host)
    }
    const list = {
      load: (take: number, after?: string) =>
        client.call('executions.list', { query: { filter, ...window, take, after } }),
      columns: endedColumns(zone),
      none: 'No executions.',
    }
    return await printPages(list, values, host)
  },
}

function commonColumns<Row extends ExecutingJson | ExecutionJson>(zone: TimeZone): readonly Column<Row>[] {
  return [
    { title: `BEGAN (${zone.name})`, of: ({ fireTimeMs }) => formatMoment(zone, fireTimeMs) },
    { title: 'JOB', of: ({ jobKey }) => formatKey(jobKey) },
    { title: 'TRIGGER', of: ({ triggerKey }) => formatKey(triggerKey) },
    { title: 'NODE', of: ({ node }) => node, mayBeCut: true },
  ]
}

const idColumn: Column<{ readonly fireInstanceId: string }> = {
  title: 'ID',
  of: ({ fireInstanceId }) => fireInstanceId,
}

function runningColumns(zone: TimeZone): readonly Column<ExecutingJson>[] {
  return [...commonColumns<ExecutingJson>(zone), idColumn]
}

function endedColumns(zone: TimeZone): readonly Column<ExecutionJson>[] {
  return [
    ...commonColumns<ExecutionJson>(zone),
    { title: 'OUTCOME', of: ({ outcome }) => outcome },
    { title: 'LATE', of: ({ latenessMs }) => formatDuration(latenessMs), align: 'right' },
    {
      title: 'TOOK',
      of: ({ durationMs }) => (durationMs === null ? '' : formatDuration(durationMs)),
      align: 'right',
    },
    { title: 'TRY', of: ({ attempt }) => String(attempt), align: 'right' },
    idColumn,
    { title: 'ERROR', of: ({ errorText }) => errorText ?? '', mayBeCut: true },
  ]
}
