import type { JSX } from 'preact'
import type { XxlJobDayJson, XxlJobReportJson } from '../../../../src/server/wire/xxl-job.ts'
import { Empty } from '../../parts/empty.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { numberText } from '../../time/format.ts'
import { words } from './words.ts'

/** What ran each day, today first. */
export function DailyReport({ of: report }: { readonly of: XxlJobReportJson | null }): JSX.Element {
  const text = words()
  const rows = report === null ? null : report.items.filter(({ total }) => total > 0).toReversed()
  return (
    <>
      <Table
        caption={text.report}
        columns={columns()}
        rows={rows}
        keyOf={({ day }) => day}
        empty={<Empty title={text.reportNone} />}
      />
      {report?.isWhole === false && <p class="note info">{text.notWhole}</p>}
    </>
  )
}

function columns(): readonly Column<XxlJobDayJson>[] {
  const text = words()
  const count = (id: 'total' | 'succeeded' | 'failed' | 'running'): Column<XxlJobDayJson> => ({
    id,
    title: text[id],
    cell: (day) => numberText(day[id]),
    isNumber: true,
  })
  return [
    { id: 'day', title: text.day, cell: ({ day }) => <span class="nowrap">{day}</span>, isWide: true },
    count('total'),
    count('succeeded'),
    count('failed'),
    count('running'),
  ]
}
