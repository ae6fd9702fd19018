import type { JSX } from 'preact'
import type { ExecutionJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../pages.ts'
import { act } from '../../parts/action.ts'
import { OutcomeBadge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Empty } from '../../parts/empty.tsx'
import { filterTerm } from '../../parts/filter-term.ts'
import { JobLink, TriggerLink } from '../../parts/links.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { Duration, When } from '../../parts/time.tsx'
import { href, useSearch } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { Phases } from './phases.tsx'
import { words } from './words.ts'

/** Null when the store does not remember it. */
async function find(id: string, at: string, signal: AbortSignal): Promise<ExecutionJson | null> {
  const atMs = Number(at)
  const span = at === '' || !Number.isFinite(atMs) ? {} : { fromMs: atMs, toMs: atMs + 1 }
  const { items } = await call('executions.list', { query: { ...span, take: 1000 }, signal })
  return items.find(({ fireInstanceId }) => fireInstanceId === id) ?? null
}

export function ExecutionPage({ params }: PageProps): JSX.Element {
  const text = words()
  const id = params['id'] ?? ''
  const at = useSearch().get('at')
  const found = useResource(async (signal) => ({ execution: await find(id, at, signal) }), [id, at], {
    isAffected: ({ event, fireInstanceId }) => event === 'jobWasExecuted' && fireInstanceId === id,
    everyMs: 60_000,
  })
  const execution = found.value.value?.execution
  if (found.error.value !== null) return <ProblemNote error={found.error.value} retry={found.reload} />
  return (
    <>
      <PageHead
        title={text.execution}
        windowTitle={`${text.execution} ${id}`}
        above={<a href={href('/history')}>{text.title}</a>}
        below={execution && <OutcomeBadge outcome={execution.outcome} />}
        actions={execution && <RunAgain execution={execution} />}
      />
      {execution === null && <Empty title={text.gone} />}
      {execution && <Details execution={execution} />}
    </>
  )
}

function RunAgain({ execution }: { readonly execution: ExecutionJson }): JSX.Element | null {
  const text = words()
  if (!may('jobs.run')) return null
  const again = (): Promise<void> =>
    act(call('jobs.run', { params: execution.jobKey, body: { jobDataMap: {} } }), text.ranAgain)
  return <Button text={text.runAgain} icon="play" onPress={again} />
}

function Details({ execution }: { readonly execution: ExecutionJson }): JSX.Element {
  const text = words()
  const names = common()
  const { jobKey, triggerKey, errorText } = execution
  return (
    <>
      <Panel
        title={text.execution}
        actions={<a href={href('/history', { filter: filterTerm('job', jobKey) })}>{text.sameJob}</a>}
      >
        <Facts
          facts={[
            { name: names.job, value: <JobLink of={jobKey} /> },
            { name: names.trigger, value: <TriggerLink of={triggerKey} /> },
            { name: names.type, value: <span class="mono">{execution.jobType ?? '–'}</span> },
            { name: names.node, value: execution.node },
            { name: names.attempt, value: execution.attempt },
            { name: names.planned, value: <When ms={execution.scheduledFireTimeMs} /> },
            { name: names.began, value: <When ms={execution.fireTimeMs} /> },
            { name: names.ended, value: <When ms={execution.finishedTimeMs} /> },
            { name: names.late, value: <Duration ms={execution.latenessMs} /> },
            { name: names.took, value: <Duration ms={execution.durationMs} /> },
            { name: text.recovering, value: names.yes, isLeftOut: !execution.recovering },
            { name: text.instance, value: <span class="mono">{execution.fireInstanceId}</span> },
          ]}
        />
      </Panel>
      <Panel title={text.phases}>
        <Phases execution={execution} />
      </Panel>
      <Panel title={names.error}>
        {errorText === null ? (
          <p class="muted">{text.noError}</p>
        ) : (
          <Code text={errorText} label={names.error} />
        )}
      </Panel>
    </>
  )
}
