import type { JSX } from 'preact'
import type { ExecutingJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Empty } from '../../parts/empty.tsx'
import { executionHref } from '../../parts/execution-table.tsx'
import { InterruptButton } from '../../parts/interrupt-button.tsx'
import { FiredBy, JobLink } from '../../parts/links.tsx'
import { Listing } from '../../parts/listing.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Progress } from '../../parts/progress.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Duration, Elapsed, Instant } from '../../parts/time.tsx'
import { common } from '../../words/common.ts'
import { dictionary } from '../../words/dictionary.ts'

const words = dictionary({
  en: {
    title: 'Running',
    below: 'Executions in flight, on every node',
    empty: 'Nothing runs at the moment',
    emptyThen: 'Nothing ran when this was last known',
    emptyHint: 'Executions appear here when a trigger fires, and when a job is run from its page.',
    notSeen: 'What runs is not known here',
    instance: 'Execution',
    progress: 'Progress',
    itemOf: (item: number, total: number) => `Item ${item} of ${total}`,
  },
  zh: {
    title: '运行中',
    below: '所有节点上正在进行的执行',
    empty: '当前没有运行中的执行',
    emptyThen: '最后一次获知时没有运行中的执行',
    emptyHint: '触发器触发或从作业页面运行时，执行会显示在这里。',
    notSeen: '此处不知道正在运行什么',
    instance: '执行',
    progress: '进度',
    itemOf: (item: number, total: number) => `分片 ${item}，共 ${total} 个`,
  },
})

interface JobOfProps {
  readonly execution: ExecutingJson
}

const runEvents = new Set([
  'jobToBeExecuted',
  'jobWasExecuted',
  'executionLost',
  'jobInterrupted',
  'jobProgress',
  'nodeRecovered',
])

export function RunningPage(): JSX.Element {
  const text = words()
  const executing = useResource((signal) => call('executing.list', { signal }), [], {
    isAffected: ({ event }) => runEvents.has(event),
    everyMs: 4000,
  })
  const shown = executing.value.value
  const isBlind = shown?.isWhole === false
  const isOld = executing.error.value !== null
  return (
    <>
      <PageHead title={text.title} below={text.below} />
      {isBlind && shown.items.length > 0 && <p class="note info">{common().notSeenHint}</p>}
      <Listing title={text.title} of={executing}>
        <Table
          caption={text.title}
          columns={columns(isOld ? executing.loadedMs.value : null)}
          rows={shown?.items ?? null}
          keyOf={({ fireInstanceId }) => fireInstanceId}
          empty={
            isBlind ? (
              <Empty title={text.notSeen} hint={common().notSeenHint} />
            ) : (
              <Empty title={isOld ? text.emptyThen : text.empty} hint={text.emptyHint} />
            )
          }
        />
      </Listing>
    </>
  )
}

/** The job, and below it which item of a sharded firing runs. */
function JobOf({ execution: { jobKey, shard } }: JobOfProps): JSX.Element {
  return (
    <>
      <JobLink of={jobKey} />
      {shard !== null && <div class="muted">{words().itemOf(shard.item, shard.total)}</div>}
    </>
  )
}

/** What runs, or ran when that was last known. */
function columns(knownMs: number | null): readonly Column<ExecutingJson>[] {
  const text = common()
  const { instance } = words()
  return [
    { id: 'job', title: text.job, cell: (row) => <JobOf execution={row} />, isWide: true },
    { id: 'trigger', title: text.trigger, cell: ({ triggerKey }) => <FiredBy of={triggerKey} /> },
    { id: 'node', title: text.node, cell: ({ node }) => node },
    { id: 'began', title: text.began, cell: ({ fireTimeMs }) => <Instant ms={fireTimeMs} /> },
    {
      id: 'late',
      title: text.late,
      cell: ({ fireTimeMs, scheduledFireTimeMs }) => <Duration ms={fireTimeMs - scheduledFireTimeMs} />,
      isNumber: true,
      isMinor: true,
    },
    {
      id: 'took',
      title: text.took,
      cell: ({ fireTimeMs }) => <Elapsed sinceMs={fireTimeMs} knownMs={knownMs} />,
      isNumber: true,
    },
    { id: 'progress', title: words().progress, cell: ({ progressText }) => <Progress text={progressText} /> },
    {
      id: 'id',
      title: instance,
      cell: ({ fireInstanceId }) => (
        <a class="mono" href={executionHref(fireInstanceId)}>
          {fireInstanceId}
        </a>
      ),
      isMinor: true,
    },
    {
      id: 'actions',
      title: common().actions,
      isTitleHidden: true,
      cell: (row) => (
        <div class="row-actions">
          <InterruptButton of={row} isSmall />
        </div>
      ),
    },
  ]
}
