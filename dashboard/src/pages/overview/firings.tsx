import type { JSX } from 'preact'
import type { ExecutingJson } from '../../../../src/server/wire/runs.ts'
import type { TriggerSummaryJson } from '../../../../src/server/wire/triggers.ts'
import { examples } from '../../examples.ts'
import { Empty } from '../../parts/empty.tsx'
import { FiredBy, JobLink, keyId, TriggerLink } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Elapsed, When } from '../../parts/time.tsx'
import { common } from '../../words/common.ts'
import type { Overview } from './overview.tsx'
import { words } from './words.ts'

/** What runs, and what comes next. */
export function Firings({ overview }: { readonly overview: Overview | null }): JSX.Element {
  const { next, nextNone, running, runningNone, emptyHint, verdict } = words()
  const triggers = overview?.triggers ?? null
  const isEmpty = triggers?.counts?.triggers === 0
  return (
    <>
      <Panel title={running} isFlush>
        <Table
          caption={running}
          columns={runningColumns()}
          rows={overview?.executing ?? null}
          keyOf={({ fireInstanceId }) => fireInstanceId}
          empty={
            <p class="panel-body muted">
              {overview?.seesNodes === false ? common().notSeenHint : runningNone}
            </p>
          }
        />
      </Panel>
      <Panel title={next} isFlush>
        <Table
          caption={next}
          columns={nextColumns()}
          rows={triggers?.next ?? null}
          keyOf={({ key }) => keyId(key)}
          empty={
            isEmpty ? (
              <Empty title={verdict.empty} hint={emptyHint} code={examples.firstTrigger} />
            ) : (
              <p class="panel-body muted">{nextNone}</p>
            )
          }
        />
      </Panel>
    </>
  )
}

function runningColumns(): readonly Column<ExecutingJson>[] {
  const { job, trigger, node, began, took } = common()
  return [
    { id: 'job', title: job, cell: ({ jobKey }) => <JobLink of={jobKey} />, isWide: true },
    {
      id: 'trigger',
      title: trigger,
      cell: ({ triggerKey }) => <FiredBy of={triggerKey} />,
      isMinor: true,
    },
    { id: 'node', title: node, cell: (row) => row.node },
    { id: 'began', title: began, cell: ({ fireTimeMs }) => <When ms={fireTimeMs} /> },
    { id: 'took', title: took, cell: ({ fireTimeMs }) => <Elapsed sinceMs={fireTimeMs} />, isNumber: true },
  ]
}

function nextColumns(): readonly Column<TriggerSummaryJson>[] {
  const { job, trigger, nextFire, previousFire } = common()
  return [
    { id: 'trigger', title: trigger, cell: ({ key }) => <TriggerLink of={key} />, isWide: true },
    { id: 'job', title: job, cell: ({ jobKey }) => <JobLink of={jobKey} />, isMinor: true },
    { id: 'next', title: nextFire, cell: ({ nextFireTimeMs }) => <When ms={nextFireTimeMs} /> },
    {
      id: 'previous',
      title: previousFire,
      cell: ({ previousFireTimeMs }) => <When ms={previousFireTimeMs} />,
      isMinor: true,
    },
  ]
}
