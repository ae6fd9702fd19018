import { type Signal, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { visible } from '../../../../src/core/visible-text.ts'
import { triggerStates } from '../../../../src/jobstore/trigger-state.ts'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import type { JobJson } from '../../../../src/server/wire/jobs.ts'
import type { PageJson } from '../../../../src/server/wire/pages.ts'
import type { TriggerDetailJson } from '../../../../src/server/wire/triggers.ts'
import { call } from '../../api/client.ts'
import { isAboutJob } from '../../api/is-about.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../pages.ts'
import { AuditLink } from '../../parts/audit-link.tsx'
import { Badge, StateBadge } from '../../parts/badge.tsx'
import { Json } from '../../parts/code.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ExecutionTable } from '../../parts/execution-table.tsx'
import { filterTerm } from '../../parts/filter-term.ts'
import { Fresh } from '../../parts/fresh.tsx'
import { keyId, keyText, TriggerLink } from '../../parts/links.tsx'
import { isOverdue } from '../../parts/overdue.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Pager } from '../../parts/pager.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Duration, When } from '../../parts/time.tsx'
import { href, useSearch } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { scheduleText } from '../triggers/schedule-text.ts'
import { type AskedOfTrigger, TriggerButtons, TriggerDialog } from '../triggers/trigger-actions.tsx'
import { JobButtons, type TriggerStates } from './job-actions.tsx'
import { pageSize, traitsOf } from './job-list.tsx'
import { Shards } from './job-shards.tsx'
import { Status } from './job-status.tsx'
import { words } from './words.ts'

export function JobPage({ params }: PageProps): JSX.Element {
  const key = { group: params['group'] ?? '', name: params['name'] ?? '' }
  const after = useSearch().get('after')
  const job = useResource(
    async (signal) => {
      const [detail, triggers, status] = await Promise.all([
        call('jobs.get', { params: key, signal }),
        call('jobs.triggers', { params: key, query: { take: pageSize, after }, signal }),
        call('jobs.status', { params: key, signal }),
      ])
      const isAll = after === '' && triggers.next === null
      const states = isAll ? statesOf(triggers.items) : await statesOfMany(key, signal)
      return { detail, triggers, states, status }
    },
    [after],
    { isAffected: (event) => isAboutJob(event, key), everyMs: 5000 },
  )
  const shown = job.value.value
  const error = job.error.value
  const text = words()
  return (
    <>
      <PageHead
        title={keyText(key)}
        above={<a href={href('/jobs')}>{text.title}</a>}
        below={
          shown !== null &&
          (shown.detail.description === null ? (
            <span class="mono">{shown.detail.jobType}</span>
          ) : (
            visible(shown.detail.description)
          ))
        }
        actions={shown !== null && <JobButtons of={key} states={shown.states} />}
      />
      {error !== null && <ProblemNote error={error} retry={job.reload} />}
      {shown !== null && (
        <>
          <Status status={shown.status} />
          <Details job={shown.detail} />
          {shown.detail.sharding !== null && <Shards of={key} sharding={shown.detail.sharding} />}
          <Triggers
            of={key}
            page={shown.triggers}
            lookedMs={job.loadedMs.value ?? 0}
            isOld={job.isOfOthers.value}
          />
          <History of={key} />
        </>
      )}
    </>
  )
}

function statesOf(triggers: readonly TriggerDetailJson[]): TriggerStates {
  return {
    isAnyPaused: triggers.some(({ state }) => state === 'PAUSED'),
    isAnyOther: triggers.some(({ state }) => state !== 'PAUSED'),
    count: triggers.length,
  }
}

/** A job may have a trigger for each customer: they are not all loaded to know whether one of them is paused. */
async function statesOfMany({ group, name }: KeyJson, signal: AbortSignal): Promise<TriggerStates> {
  const ofJob = { jobGroup: group, jobName: name, take: 1 }
  const others = triggerStates.filter((state) => state !== 'PAUSED').join(',')
  const [paused, other] = await Promise.all([
    call('triggers.list', { query: { ...ofJob, state: 'PAUSED' }, signal }),
    call('triggers.list', { query: { ...ofJob, state: others }, signal }),
  ])
  return { isAnyPaused: paused.items.length > 0, isAnyOther: other.items.length > 0, count: null }
}

function Details({ job }: { readonly job: JobJson }): JSX.Element {
  const text = words()
  const names = common()
  const { retry, nodeAffinity, sharding } = job
  return (
    <div class="columns">
      <Panel title={text.definition} actions={<AuditLink of={job.key} />}>
        <Facts
          facts={[
            { name: names.type, value: <span class="mono">{job.jobType}</span> },
            { name: text.traits, value: traitsOf(job).join(', ') || names.none },
            {
              name: text.timeout,
              value: job.timeoutMs === null ? names.none : <Duration ms={job.timeoutMs} />,
            },
            { name: text.retry, value: retry === null ? names.none : text.retries(retry.attempts) },
            {
              name: text.sharding,
              value: sharding && text.itemsOf(sharding.items, sharding.strategy),
              isLeftOut: sharding === null,
            },
            {
              name: text.nodes,
              value: nodeAffinity === null ? names.all : nodeAffinity.names.join(', '),
            },
          ]}
        />
      </Panel>
      <Panel title={names.data}>
        <Json value={job.jobDataMap} label={names.data} />
      </Panel>
    </div>
  )
}

interface TriggersProps {
  readonly of: KeyJson
  readonly page: PageJson<TriggerDetailJson>
  /** When the server was asked. */
  readonly lookedMs: number
  /** Whether another page of them was asked for. */
  readonly isOld: boolean
}

function Triggers({ of: key, page, lookedMs, isOld }: TriggersProps): JSX.Element {
  const text = words()
  const asked = useSignal<AskedOfTrigger>(null)
  const create = may('triggers.put') && (
    <a class="button plain" href={href('/triggers/new', { jobGroup: key.group, jobName: key.name })}>
      {text.newTrigger}
    </a>
  )
  return (
    <Panel title={text.triggers} isFlush actions={create}>
      <Fresh isOld={isOld}>
        <Table
          caption={text.triggers}
          columns={triggerColumns(asked, lookedMs)}
          rows={page.items}
          keyOf={(row) => keyId(row.key)}
          empty={<Empty title={text.noTriggers} hint={text.noTriggersHint} />}
        />
        <Pager count={page.items.length} next={page.next} />
      </Fresh>
      <TriggerDialog asked={asked} />
    </Panel>
  )
}

function triggerColumns(
  asked: Signal<AskedOfTrigger>,
  lookedMs: number,
): readonly Column<TriggerDetailJson>[] {
  const text = common()
  return [
    { id: 'trigger', title: text.trigger, cell: ({ key }) => <TriggerLink of={key} /> },
    { id: 'schedule', title: words().schedule, cell: scheduleText, isWide: true },
    { id: 'state', title: text.state, cell: (row) => <State of={row} lookedMs={lookedMs} /> },
    {
      id: 'next',
      title: text.nextFire,
      cell: ({ problem, nextFireTimeMs }) => <When ms={problem === null ? nextFireTimeMs : null} />,
    },
    {
      id: 'actions',
      title: common().actions,
      isTitleHidden: true,
      cell: ({ key, state, problem }) =>
        problem === null && <TriggerButtons of={key} state={state} asked={asked} isSmall />,
    },
  ]
}

/** What the row of a trigger says is no state where the rest of it cannot be read. */
function State({ of, lookedMs }: { readonly of: TriggerDetailJson; readonly lookedMs: number }): JSX.Element {
  if (of.problem !== null) return <Badge tone="bad" text={words().unreadable} />
  return <StateBadge state={of.state} isOverdue={isOverdue(of, lookedMs)} />
}

function History({ of: key }: { readonly of: KeyJson }): JSX.Element | null {
  const text = words()
  const filter = filterTerm('job', key)
  const executions = useResource(
    async (signal) =>
      may('executions.list') ? call('executions.list', { query: { filter, take: 10 }, signal }) : null,
    [],
    { isAffected: (event) => event.event === 'jobWasExecuted' && isAboutJob(event, key) },
  )
  const page = executions.value.value
  const error = executions.error.value
  if (!may('executions.list')) return null
  return (
    <Panel
      title={text.history}
      isFlush
      actions={<a href={href('/history', { filter })}>{text.allHistory}</a>}
    >
      {error !== null && <ProblemNote error={error} retry={executions.reload} />}
      {(error === null || page !== null) && (
        <ExecutionTable
          caption={text.history}
          rows={page?.items ?? null}
          empty={<p class="panel-body muted">{text.historyEmpty}</p>}
          without={['job']}
        />
      )}
    </Panel>
  )
}
