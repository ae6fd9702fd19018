import type { SchedulerNode } from '../../jobstore/cluster-view.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseCommandLine } from '../command.ts'
import { formatDuration } from '../duration.ts'
import type { Column } from '../terminal/table.ts'
import { requireClusterView } from './cluster-view.ts'
import { jsonOption, printItems } from './pages.ts'

const spec = {
  name: 'nodes',
  argument: '',
  summary: 'Lists the nodes that share the data',
  options: { json: jsonOption, ...connectionOptions },
  notes: ['A node is known by its check-ins; what is not known is left empty.', connectionNote],
} as const

/** `quartz-ts nodes` */
export const nodesCommand: Command = {
  spec,
  async run(args, host) {
    const { values } = parseCommandLine(spec, args)
    await using client = await connect(values, host)
    await requireClusterView(client)
    const { items } = await client.call('nodes.list')
    return await printItems(items, { columns: columnsAt(host.clock.now()), none: 'No nodes.' }, values, host)
  },
}

function columnsAt(nowMs: number): readonly Column<SchedulerNode>[] {
  return [
    { title: 'NODE', of: ({ instanceId }) => instanceId },
    { title: 'STATE', of: ({ state }) => state },
    {
      title: 'CHECKED IN',
      of: ({ lastCheckInMs: ms }) => (ms === null ? '' : `${formatDuration(Math.max(0, nowMs - ms))} ago`),
    },
    { title: 'HOST', of: ({ host }) => host ?? '' },
    { title: 'PID', of: ({ pid }) => String(pid ?? ''), align: 'right' },
    { title: 'VERSION', of: ({ version }) => version ?? '' },
    {
      title: 'CLOCK',
      of: ({ clockOffsetMs: ms }) => (ms === null ? '' : `${ms > 0 ? '+' : ''}${Math.round(ms)} ms`),
      align: 'right',
    },
    { title: 'JOB TYPES', of: ({ jobTypes }) => jobTypes?.join(', ') ?? '' },
  ]
}
