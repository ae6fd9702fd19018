import type { JSX } from 'preact'
import type { ExecutorGroupJson } from '../../../../src/server/wire/xxl-job.ts'
import { call } from '../../api/client.ts'
import { isGone, isNotThere } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { Badge } from '../../parts/badge.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Relative } from '../../parts/time.tsx'
import { may } from '../../state/session.ts'
import { unknownText } from '../../time/format.ts'
import { DailyReport } from './daily-report.tsx'
import { ExecutorJobs } from './executor-jobs.tsx'
import { words } from './words.ts'

const reportedDays = 7

/** An executor; or the AppName alone, where none was entered. */
interface Row {
  readonly group: ExecutorGroupJson
  readonly executor: ExecutorGroupJson['executors'][number] | null
}

async function load(signal: AbortSignal) {
  const [executors, jobs, report] = await Promise.all([
    call('xxlJob.executors', { signal }),
    call('xxlJob.jobs', { signal }),
    call('xxlJob.report', { query: { days: reportedDays }, signal }),
  ])
  return { groups: executors.items, jobs, report }
}

export function ExecutorsPage(): JSX.Element {
  const text = words()
  const loaded = useResource(load, [], {
    isAffected: ({ event }) => event === 'jobWasExecuted' || event === 'jobToBeExecuted',
    everyMs: 5000,
    // A server is given its admin when it is made.
    isFinal: isNotThere,
  })
  const shown = loaded.value.value
  const error = loaded.error.value
  const hasNoAdmin = isGone(error)
  return (
    <>
      <PageHead title={text.title} below={text.below} />
      {hasNoAdmin && <Empty title={text.noAdmin} hint={text.noAdminHint} code={examples.showExecutors} />}
      {error !== null && !hasNoAdmin && <ProblemNote error={error} retry={loaded.reload} />}
      {!hasNoAdmin && (
        <>
          <section class="panel" aria-label={text.title}>
            <Table
              caption={text.title}
              columns={columns()}
              rows={shown && rowsOf(shown.groups)}
              keyOf={({ group, executor }) => `${group.appName} ${executor?.address ?? ''}`}
              empty={<Empty title={text.none} hint={text.noneHint} />}
            />
          </section>
          <ExecutorJobs of={shown?.jobs ?? null} groups={shown?.groups ?? []} mayRun={may('xxlJob.run')} />
          <Panel title={text.report} isFlush>
            <DailyReport of={shown?.report ?? null} />
          </Panel>
        </>
      )}
    </>
  )
}

function rowsOf(groups: readonly ExecutorGroupJson[]): readonly Row[] {
  return groups.flatMap((group): readonly Row[] =>
    group.executors.length === 0
      ? [{ group, executor: null }]
      : group.executors.map((executor) => ({ group, executor })),
  )
}

function columns(): readonly Column<Row>[] {
  const text = words()
  return [
    { id: 'appName', title: text.appName, cell: ({ group }) => <span class="key">{group.appName}</span> },
    {
      id: 'address',
      title: text.address,
      cell: ({ executor }) =>
        executor === null ? (
          <span class="muted">{text.noAddress}</span>
        ) : (
          <span class="mono">{executor.address}</span>
        ),
      isWide: true,
    },
    { id: 'beat', title: text.beat, cell: (row) => <Beat of={row} /> },
    { id: 'dialect', title: text.dialect, cell: ({ executor }) => <Dialect of={executor} /> },
    {
      id: 'running',
      title: text.running,
      cell: ({ group }) => <span title={text.runningHint}>{group.running}</span>,
      isNumber: true,
    },
  ]
}

function Beat({ of: { group, executor } }: { readonly of: Row }): JSX.Element {
  if (group.byHand) return <Badge tone="quiet" text={words().byHand} />
  return <Relative ms={executor?.lastBeatMs} />
}

function Dialect({ of: executor }: { readonly of: Row['executor'] }): JSX.Element {
  const text = words()
  if (executor === null || executor.dialect === null) {
    return (
      <span class="unknown" title={text.dialectUnknown}>
        {unknownText}
      </span>
    )
  }
  return <span class="nowrap">{text.dialects[executor.dialect]}</span>
}
