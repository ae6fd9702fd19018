import { visibleName } from '../../core/visible-text.ts'
import { type AuditEntry, auditOutcomes } from '../../jobstore/audit.ts'
import type { TimeZone } from '../../time/zone.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseCommandLine } from '../command.ts'
import { formatMoment } from '../local-time.ts'
import { requireWindow, requireZone, windowOptions, zoneOption } from '../shared-options.ts'
import type { Column } from '../terminal/table.ts'
import { groupOption, requireOneOf } from './filters.ts'
import { pageOptions, printPages } from './pages.ts'

const spec = {
  name: 'audit',
  argument: '',
  summary: 'Lists who did what, the newest first',
  options: {
    by: { type: 'string', value: 'WHO', help: 'Asked by this user or token' },
    operation: { type: 'string', value: 'ID', help: 'This operation, such as jobs.put' },
    group: groupOption,
    name: { type: 'string', value: 'NAME', help: 'About what has this name' },
    outcome: {
      type: 'string',
      value: 'OUTCOME',
      help: `With this outcome: ${auditOutcomes.join(', ')}`,
      choices: auditOutcomes,
    },
    node: { type: 'string', value: 'NODE', help: 'Asked of this node' },
    ...windowOptions('At or after', 'Before'),
    zone: zoneOption,
    ...pageOptions,
    ...connectionOptions,
  },
  notes: [
    'With --json each entry has what was sent, and what was there before and after. What was refused or failed is ' +
      'counted: one line stands for as many requests as TIMES says, and shows the last of them.',
    connectionNote,
  ],
} as const

/** `quartz-ts audit` */
export const auditCommand: Command = {
  spec,
  async run(args, host) {
    const { values } = parseCommandLine(spec, args)
    requireOneOf('--outcome', values.outcome, auditOutcomes)
    const zone = requireZone(values.zone)
    const { by, group, name, node, operation, outcome } = values
    const window = requireWindow(values)
    const filter = { by, group, name, node, operation, outcome, ...window }
    await using client = await connect(values, host)
    const list = {
      load: (take: number, after?: string) =>
        client.call('audit.list', { query: { ...filter, take, after } }),
      columns: columns(zone),
      none: 'No entries.',
    }
    return await printPages(list, values, host)
  },
}

function columns(zone: TimeZone): readonly Column<AuditEntry>[] {
  return [
    { title: `TIME (${zone.name})`, of: ({ timeMs }) => formatMoment(zone, timeMs) },
    { title: 'WHO', of: ({ by }) => visibleName(by ?? ''), mayBeCut: true },
    { title: 'FROM', of: ({ address }) => address ?? '', mayBeCut: true },
    { title: 'OPERATION', of: ({ operation }) => operation },
    {
      title: 'TARGET',
      of: ({ targetGroup, targetName }) =>
        visibleName([targetGroup, targetName].filter((part) => part !== null).join('/')),
    },
    { title: 'OUTCOME', of: ({ outcome }) => outcome },
    { title: 'TIMES', of: ({ times }) => String(times), align: 'right' },
    { title: 'NODE', of: ({ node }) => node, mayBeCut: true },
    { title: 'ERROR', of: ({ errorText }) => errorText ?? '', mayBeCut: true },
  ]
}
