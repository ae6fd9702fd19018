import type { ComponentChildren, JSX } from 'preact'
import type { ExecutionJson } from '../../../src/server/wire/runs.ts'
import { href, pathText } from '../state/place.ts'
import { common } from '../words/common.ts'
import { OutcomeBadge } from './badge.tsx'
import { FiredBy, JobLink } from './links.tsx'
import { type Column, Table } from './table.tsx'
import { Duration, Instant } from './time.tsx'

type ColumnId = 'outcome' | 'job' | 'trigger' | 'began' | 'late' | 'took' | 'node' | 'attempt' | 'item'

interface ExecutionTableProps {
  readonly caption: string
  readonly rows: readonly ExecutionJson[] | null
  readonly empty: ComponentChildren
  /** Of a page that is about one of these. */
  readonly without?: readonly ColumnId[]
  /** They are items of one sharded firing. Default false. */
  readonly areItems?: boolean
}

/** Executions that have ended; each leads to its own page. */
export function ExecutionTable(props: ExecutionTableProps): JSX.Element {
  const { caption, rows, empty, without = [], areItems = false } = props
  const leftOut: readonly string[] = areItems ? without : [...without, 'item']
  return (
    <Table
      caption={caption}
      columns={columns().filter(({ id }) => !leftOut.includes(id))}
      rows={rows}
      keyOf={({ fireInstanceId }) => fireInstanceId}
      empty={empty}
    />
  )
}

export function executionHref(fireInstanceId: string): string {
  return href(`/history/${pathText(fireInstanceId)}`)
}

function columns(): readonly Column<ExecutionJson>[] {
  const text = common()
  return [
    {
      id: 'outcome',
      title: text.outcome,
      cell: (row) => (
        <a href={executionHref(row.fireInstanceId)}>
          <OutcomeBadge outcome={row.outcome} />
        </a>
      ),
    },
    { id: 'item', title: text.item, cell: ({ shard }) => shard?.item, isNumber: true },
    { id: 'job', title: text.job, cell: ({ jobKey }) => <JobLink of={jobKey} /> },
    {
      id: 'trigger',
      title: text.trigger,
      cell: ({ triggerKey }) => <FiredBy of={triggerKey} />,
      isMinor: true,
    },
    { id: 'began', title: text.began, cell: ({ fireTimeMs }) => <Instant ms={fireTimeMs} /> },
    { id: 'late', title: text.late, cell: ({ latenessMs }) => <Duration ms={latenessMs} />, isNumber: true },
    { id: 'took', title: text.took, cell: ({ durationMs }) => <Duration ms={durationMs} />, isNumber: true },
    { id: 'node', title: text.node, cell: ({ node }) => node, isMinor: true },
    { id: 'attempt', title: text.attempt, cell: ({ attempt }) => attempt, isNumber: true, isMinor: true },
  ]
}
