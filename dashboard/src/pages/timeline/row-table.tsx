import type { JSX } from 'preact'
import { type Column, Table } from '../../parts/table.tsx'
import { Instant } from '../../parts/time.tsx'
import { numberText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import type { Bar, Row, RowKind } from './rows.ts'
import { kindText } from './timeline-canvas.tsx'
import { words } from './words.ts'

interface RowTableProps {
  readonly rows: readonly Row[]
  readonly by: RowKind
}

/** What the drawing shows, for those who do not see it. */
export function RowTable({ rows, by }: RowTableProps): JSX.Element {
  return (
    <Table
      caption={words().table}
      columns={columns(by)}
      rows={rows}
      keyOf={({ id }) => id}
      empty={words().empty}
      detail={(row) => <Troubles of={row} />}
    />
  )
}

const troublesMax = 20

/** When something did not succeed, was missed or is overdue, the last first, with the page of each. */
function Troubles({ of: { bars } }: { readonly of: Row }): JSX.Element {
  const text = words()
  const all = bars
    .filter((bar) => hasNotSucceeded(bar) || isMissed(bar) || isOverdue(bar))
    .sort((a, b) => b.beginMs - a.beginMs)
  if (all.length === 0) return <p class="muted">{text.noTroubles}</p>
  return (
    <ul>
      {all.slice(0, troublesMax).map((bar) => (
        <li key={`${bar.kind} ${bar.beginMs} ${bar.href()}`}>
          <a href={bar.href()}>
            {kindText(bar.kind)}: <Instant ms={bar.beginMs} />
          </a>
        </li>
      ))}
      {all.length > troublesMax && <li class="muted">{text.moreTroubles(all.length - troublesMax)}</li>}
    </ul>
  )
}

const isPlanned = ({ kind }: Bar): boolean => kind === 'planned'
const isMissed = ({ kind }: Bar): boolean => kind === 'missed'
const isOverdue = ({ kind }: Bar): boolean => kind === 'overdue'
const hasRun = ({ kind }: Bar): boolean => !['planned', 'blocked', 'overdue', 'missed'].includes(kind)
const hasNotSucceeded = (bar: Bar): boolean => hasRun(bar) && !['running', 'succeeded'].includes(bar.kind)
const count = ({ bars }: Row, test: (bar: Bar) => boolean): string => numberText(bars.filter(test).length)

function columns(by: RowKind): readonly Column<Row>[] {
  const text = words()
  return [
    { id: 'row', title: text.by[by], cell: (row) => <RowName row={row} />, isWide: true },
    { id: 'ran', title: text.ran, cell: (row) => count(row, hasRun), isNumber: true },
    { id: 'failed', title: text.failed, cell: (row) => count(row, hasNotSucceeded), isNumber: true },
    { id: 'missed', title: text.kinds.missed, cell: (row) => count(row, isMissed), isNumber: true },
    { id: 'planned', title: common().planned, cell: (row) => count(row, isPlanned), isNumber: true },
    { id: 'last', title: text.last, cell: (row) => <Instant ms={lastOf(row)} /> },
    { id: 'next', title: text.next, cell: (row) => <Instant ms={nextOf(row)} /> },
  ]
}

function lastOf({ bars }: Row): number | null {
  return bars.reduce<number | null>(
    (last, bar) => (hasRun(bar) ? Math.max(last ?? bar.beginMs, bar.beginMs) : last),
    null,
  )
}

function nextOf({ bars }: Row): number | null {
  return bars.reduce<number | null>(
    (next, bar) => (isPlanned(bar) ? Math.min(next ?? bar.beginMs, bar.beginMs) : next),
    null,
  )
}

export function RowName({ row }: { readonly row: Row }): JSX.Element {
  if (row.href === null) return <span class="muted">{row.name}</span>
  return (
    <a class="key" href={row.href} title={row.name}>
      {row.name}
    </a>
  )
}
