import type { JSX } from 'preact'
import type { ExecutingJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { act } from '../../parts/action.ts'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { executionHref } from '../../parts/execution-table.tsx'
import { JobLink, keyText, TriggerLink } from '../../parts/links.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Duration, Elapsed, Instant } from '../../parts/time.tsx'
import { may } from '../../state/session.ts'
import { percentText, unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { dictionary } from '../../words/dictionary.ts'

const words = dictionary({
  en: {
    title: 'Running',
    below: 'Executions in flight, on every node',
    empty: 'Nothing runs at the moment',
    emptyHint: 'Executions appear here when a trigger fires, and when a job is run from its page.',
    ask: (job: string) =>
      `${job} is asked to stop. A job that does not look at its signal goes on, or its thread is ended.`,
    done: (job: string) => `${job} was asked to stop.`,
    instance: 'Execution',
    progress: 'Progress',
  },
  zh: {
    title: '运行中',
    below: '所有节点上正在进行的执行',
    empty: '当前没有运行中的执行',
    emptyHint: '触发器触发或从作业页面运行时，执行会显示在这里。',
    ask: (job) => `将请求停止 ${job}。不检查信号的作业会继续，或其线程会被终止。`,
    done: (job) => `已请求停止 ${job}。`,
    instance: '执行',
    progress: '进度',
  },
})

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
  const { error } = executing
  return (
    <>
      <PageHead title={text.title} below={text.below} />
      {error.value !== null && <ProblemNote error={error.value} retry={executing.reload} />}
      <section class="panel" aria-label={text.title}>
        <Table
          caption={text.title}
          columns={columns()}
          rows={executing.value.value?.items ?? null}
          keyOf={({ fireInstanceId }) => fireInstanceId}
          empty={<Empty title={text.empty} hint={text.emptyHint} />}
        />
      </section>
    </>
  )
}

function columns(): readonly Column<ExecutingJson>[] {
  const text = common()
  const { instance } = words()
  return [
    { id: 'job', title: text.job, cell: ({ jobKey }) => <JobLink of={jobKey} />, isWide: true },
    { id: 'trigger', title: text.trigger, cell: ({ triggerKey }) => <TriggerLink of={triggerKey} /> },
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
      cell: ({ fireTimeMs }) => <Elapsed sinceMs={fireTimeMs} />,
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
      cell: (row) => may('executing.interrupt') && <InterruptButton row={row} />,
    },
  ]
}

/** A number from 0 to 1 is a share, one up to 100 a percentage; anything else is shown as it was said. */
function Progress({ text }: { readonly text: string | null }): JSX.Element {
  if (text === null) return <span class="unknown">{unknownText}</span>
  const value = Number(text)
  if (Number.isNaN(value) || value < 0 || value > 100) return <span class="mono">{text}</span>
  const share = value <= 1 ? value : value / 100
  return (
    <span class="progress">
      <progress value={share} aria-label={words().progress} />
      <span class="number">{percentText(share)}</span>
    </span>
  )
}

function InterruptButton({ row }: { readonly row: ExecutingJson }): JSX.Element {
  const text = words()
  const { interrupt } = common()
  const job = keyText(row.jobKey)
  const press = async (): Promise<void> => {
    if (!(await confirm({ title: interrupt, body: text.ask(job), verb: interrupt, isDanger: true }))) return
    await act(call('executing.interrupt', { params: { fireInstanceId: row.fireInstanceId } }), text.done(job))
  }
  return (
    <div class="row-actions">
      <Button text={`${interrupt}: ${job}`} icon="stop" kind="quiet" isSmall onPress={press} />
    </div>
  )
}
