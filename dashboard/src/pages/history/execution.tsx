import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import type { PageJson } from '../../../../src/server/wire/pages.ts'
import type { ExecutingJson, ExecutionDetailsJson, ExecutionJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { isGone } from '../../api/problem.ts'
import { type Resource, useResource } from '../../api/resource.ts'
import type { PageProps } from '../../pages.ts'
import { Badge, OutcomeBadge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Code } from '../../parts/code.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ExecutionTable } from '../../parts/execution-table.tsx'
import { filterTerm, itemsTerm } from '../../parts/filter-term.ts'
import { InterruptButton } from '../../parts/interrupt-button.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { href } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { RunJobDialog } from '../jobs/run-job-dialog.tsx'
import { ExecutionFacts } from './execution-facts.tsx'
import { ExecutionLog } from './execution-log.tsx'
import { Phases } from './phases.tsx'
import { words } from './words.ts'

/** The others are one link away. */
const itemsShown = 50

interface Found {
  readonly running: ExecutingJson | null
  readonly ended: ExecutionDetailsJson | null
  /** False where it may run without being seen. */
  readonly isWhole: boolean
}

/** It runs, or has ended; neither when the store does not remember it. */
async function find(fireInstanceId: string, signal: AbortSignal): Promise<Found> {
  const { items, isWhole } = await call('executing.list', { signal })
  const running = items.find((each) => each.fireInstanceId === fireInstanceId) ?? null
  if (running !== null) return { running, ended: null, isWhole }
  try {
    return { running, ended: await call('executions.get', { params: { fireInstanceId }, signal }), isWhole }
  } catch (error) {
    if (isGone(error)) return { running, ended: null, isWhole }
    throw error
  }
}

export function ExecutionPage({ params }: PageProps): JSX.Element {
  const text = words()
  const id = params['id'] ?? ''
  const found = useResource((signal) => find(id, signal), [id], {
    isAffected: ({ fireInstanceId }) => fireInstanceId === id,
    everyMs: 4000,
  })
  const shown = found.value.value
  const known = shown?.ended ?? shown?.running ?? null
  return (
    <>
      <PageHead
        title={text.execution}
        windowTitle={`${text.execution} ${id}`}
        above={<a href={href('/history')}>{text.title}</a>}
        below={shown !== null && <State found={shown} />}
        actions={
          known !== null && (
            <>
              {shown?.running && <InterruptButton of={shown.running} />}
              <RunJob of={known} />
            </>
          )
        }
      />
      {found.error.value !== null && <ProblemNote error={found.error.value} retry={found.reload} />}
      {shown !== null && known === null && (
        <Empty title={text.gone} {...(!shown.isWhole && { hint: common().notSeenHint })} />
      )}
      {known !== null && (
        <>
          <Panel
            title={text.execution}
            actions={
              <a href={href('/history', { filter: filterTerm('job', known.jobKey) })}>{text.sameJob}</a>
            }
          >
            <ExecutionFacts running={shown?.running ?? null} ended={shown?.ended ?? null} />
          </Panel>
          {shown?.ended && <Ended execution={shown.ended} />}
          <ExecutionLog id={id} isRunning={shown?.running !== null} />
        </>
      )}
    </>
  )
}

function State({ found: { running, ended } }: { readonly found: Found }): JSX.Element | null {
  if (running !== null) return <Badge tone="info" text={words().running} />
  return ended === null ? null : <OutcomeBadge outcome={ended.outcome} />
}

/** Runs the job, with its stored data: those of the execution may be of its trigger, and have secrets masked. */
function RunJob({ of: { jobKey } }: { readonly of: Pick<ExecutingJson, 'jobKey'> }): JSX.Element | null {
  const asked = useSignal<KeyJson | null>(null)
  if (!may('jobs.run')) return null
  return (
    <>
      <Button
        text={words().runJob}
        icon="play"
        onPress={() => {
          asked.value = jobKey
        }}
      />
      <RunJobDialog asked={asked} />
    </>
  )
}

function Ended({ execution }: { readonly execution: ExecutionDetailsJson }): JSX.Element {
  const text = words()
  const names = common()
  const { fireInstanceId, errorText, resultText, attempts } = execution
  const found = useItems(fireInstanceId)
  const items = found.value.value?.items ?? []
  return (
    <>
      <Panel title={text.phases}>
        <Phases execution={execution} />
      </Panel>
      {errorText !== null && (
        <Panel title={names.error}>
          <Code text={errorText} label={names.error} />
        </Panel>
      )}
      <div class="columns">
        <Panel title={names.data}>
          <Data execution={execution} isFiring={items.length > 0} />
        </Panel>
        <Panel title={text.result}>
          {resultText === null ? (
            <p class="muted">{text.noResult}</p>
          ) : (
            <Code text={pretty(resultText)} label={text.result} />
          )}
        </Panel>
      </div>
      {attempts.length > 1 && (
        <Panel title={text.attempts} isFlush>
          <ExecutionTable caption={text.attempts} rows={attempts} empty="" without={['job', 'trigger']} />
        </Panel>
      )}
      {(items.length > 0 || found.error.value !== null) && <Items firingId={fireInstanceId} found={found} />}
    </>
  )
}

interface DataProps {
  readonly execution: ExecutionDetailsJson
  readonly isFiring: boolean
}

/** A node that ended it said with what it began; of a lost one nobody did, and of a sharded firing its items do. */
function Data({ execution: { dataText, outcome }, isFiring }: DataProps): JSX.Element {
  const text = words()
  if (dataText !== null) return <Code text={pretty(dataText)} label={common().data} />
  return <p class="muted">{outcome === 'lost' || isFiring ? text.notKept : text.noData}</p>
}

/** Where the execution is a sharded firing: those of its items that have ended. */
function useItems(firingId: string): Resource<PageJson<ExecutionJson> | null> {
  const filter = itemsTerm(firingId)
  return useResource(
    async (signal) =>
      may('executions.list')
        ? call('executions.list', { query: { filter, take: itemsShown }, signal })
        : null,
    [filter],
  )
}

interface ItemsProps {
  readonly firingId: string
  readonly found: ReturnType<typeof useItems>
}

function Items({ firingId, found }: ItemsProps): JSX.Element {
  const text = words()
  const error = found.error.value
  const items = found.value.value?.items ?? []
  return (
    <Panel
      title={text.items}
      isFlush
      actions={<a href={href('/history', { filter: itemsTerm(firingId) })}>{text.itemsOfFiring}</a>}
    >
      {error !== null && <ProblemNote error={error} retry={found.reload} />}
      <ExecutionTable caption={text.items} rows={items} empty="" without={['job', 'trigger']} areItems />
    </Panel>
  )
}

/** Text that was cut is no JSON any more, and is shown as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
