import type { JSX } from 'preact'
import type { PreviewedFire } from '../../../../src/server/operations/cron.ts'
import { MinuteLoad, type MinuteLoads, minuteLoadTitle, useMinuteLoads } from '../../parts/minute-load.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Relative } from '../../parts/time.tsx'
import { viewerZone } from '../../state/preferences.ts'
import { may } from '../../state/session.ts'
import { fireTimeText, offsetText } from '../../time/format.ts'
import { words } from './words.ts'

interface FireListProps {
  readonly fires: readonly PreviewedFire[]
  readonly zone: string
}

/** Fire times in the zone of the expression and in the viewer's, with what is special about them. */
export function FireList({ fires, zone }: FireListProps): JSX.Element {
  const text = words()
  const loads = useMinuteLoads(fires.flatMap(({ atMs, isExcluded }) => (isExcluded ? [] : [atMs])))
  return (
    <Table
      caption={text.fires}
      columns={columns(zone, loads)}
      rows={fires}
      keyOf={({ atMs }) => String(atMs)}
      empty={<p class="panel-body">{text.never}</p>}
    />
  )
}

function columns(zone: string, loads: MinuteLoads): readonly Column<PreviewedFire>[] {
  const text = words()
  const viewer = viewerZone()
  const inZone: Column<PreviewedFire> = {
    id: 'zone',
    title: text.inZone(zone),
    cell: ({ atMs, isExcluded }) => (
      <span class={isExcluded ? 'number excluded' : 'number'}>
        {fireTimeText(atMs, zone)} <span class="muted">{offsetText(atMs, zone)}</span>
      </span>
    ),
  }
  const forViewer: Column<PreviewedFire> = {
    id: 'viewer',
    title: text.forYou(viewer),
    cell: ({ atMs }) => <span class="number">{fireTimeText(atMs, viewer)}</span>,
  }
  return [
    inZone,
    ...(viewer === zone ? [] : [forViewer]),
    {
      id: 'relative',
      title: text.fires,
      isTitleHidden: true,
      cell: ({ atMs }) => <Relative ms={atMs} />,
      isMinor: true,
    },
    ...(may('planned.load') ? [othersColumn(loads)] : []),
    {
      id: 'mark',
      title: text.mark,
      cell: ({ dst, isExcluded }) =>
        [dst === null ? null : text.marks[dst], isExcluded ? text.excluded : null]
          .filter((mark) => mark !== null)
          .join(', '),
    },
  ]
}

/** What a new trigger would fire together with. */
function othersColumn(loads: MinuteLoads): Column<PreviewedFire> {
  return {
    id: 'others',
    title: minuteLoadTitle(),
    cell: ({ atMs, isExcluded }) => (isExcluded ? null : <MinuteLoad loads={loads} atMs={atMs} isShort />),
    isNumber: true,
  }
}
