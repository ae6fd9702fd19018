import { misfireCauses } from '../../jobstore/misfires.ts'
import type { MisfireJson } from '../../server/wire/misfires.ts'
import type { TimeZone } from '../../time/zone.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseArguments } from '../command.ts'
import { formatMoment } from '../local-time.ts'
import { requireWindow, requireZone, windowOptions, zoneOption } from '../shared-options.ts'
import type { Column } from '../terminal/table.ts'
import { formatKey } from './keys.ts'
import { pageOptions, printPages } from './pages.ts'

const spec = {
  name: 'misfires',
  argument: '[FILTER]',
  summary: 'Lists planned fire times that nothing ran at, and why',
  options: {
    ...windowOptions('Noticed at or after', 'Noticed before'),
    zone: zoneOption,
    ...pageOptions,
    ...connectionOptions,
  },
  notes: [
    `FILTER is as in 'trigger:reports/daily cause:outage'; also job: and group:. Causes: ` +
      `${misfireCauses.join(', ')}. Those that were noticed last come first.`,
    connectionNote,
  ],
} as const

/** `quartz-ts misfires` */
export const misfiresCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const filter = positionals.join(' ')
    const zone = requireZone(values.zone)
    const window = requireWindow(values)
    await using client = await connect(values, host)
    const list = {
      load: (take: number, after?: string) =>
        client.call('misfires.list', { query: { filter, ...window, take, after } }),
      columns: columns(zone),
      none: 'No misfires.',
    }
    return await printPages(list, values, host)
  },
}

function columns(zone: TimeZone): readonly Column<MisfireJson>[] {
  return [
    { title: `NOTICED (${zone.name})`, of: ({ noticedTimeMs }) => formatMoment(zone, noticedTimeMs) },
    { title: 'TRIGGER', of: ({ triggerKey }) => formatKey(triggerKey) },
    { title: 'JOB', of: ({ jobKey }) => (jobKey === null ? '' : formatKey(jobKey)) },
    { title: 'CAUSE', of: ({ cause }) => cause },
    { title: 'POLICY', of: ({ policy }) => policy ?? '' },
    { title: 'FIRST', of: ({ fromMs }) => formatMoment(zone, fromMs) },
    { title: 'LAST', of: ({ toMs }) => formatMoment(zone, toMs) },
    { title: 'FIRES', of: ({ count }) => (count === null ? 'many' : String(count)), align: 'right' },
    { title: 'NODE', of: ({ node }) => node, mayBeCut: true },
  ]
}
