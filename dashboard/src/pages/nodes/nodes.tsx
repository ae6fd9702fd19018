import type { JSX } from 'preact'
import type { SchedulerNode } from '../../../../src/jobstore/cluster-view.ts'
import type { SchedulerJson } from '../../../../src/server/wire/runs.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Empty } from '../../parts/empty.tsx'
import { nodeTerm } from '../../parts/filter-term.ts'
import { Listing } from '../../parts/listing.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Relative } from '../../parts/time.tsx'
import { href } from '../../state/place.ts'
import { durationText, unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { NodeActions } from './node-actions.tsx'
import { words } from './words.ts'

const nodeEvents = new Set([
  'nodeFailed',
  'nodeRecovered',
  'schedulerStarted',
  'schedulerInStandbyMode',
  'schedulerShuttingdown',
])

async function load(signal: AbortSignal) {
  const [{ items, isWhole }, scheduler] = await Promise.all([
    call('nodes.list', { signal }),
    call('scheduler.get', { signal }),
  ])
  return { nodes: items, isWhole, scheduler }
}

export function NodesPage(): JSX.Element {
  const text = words()
  const loaded = useResource(load, [], {
    isAffected: ({ event }) => nodeEvents.has(event),
    everyMs: 4000,
  })
  const shown = loaded.value.value
  return (
    <>
      <PageHead title={text.title} below={text.below} />
      {shown?.scheduler.jobStoreClustered === false && shown.isWhole && (
        <p class="note info">
          <span>{text.alone}</span> <span>{text.aloneHint}</span>
        </p>
      )}
      <Listing title={text.title} of={loaded}>
        <Table
          caption={text.title}
          columns={columns(shown?.scheduler ?? null)}
          rows={shown?.nodes ?? null}
          keyOf={({ instanceId }) => instanceId}
          empty={
            shown?.isWhole === false ? (
              <Empty title={text.notSeen} hint={common().notSeenHint} />
            ) : (
              <Empty title={text.none} hint={text.noneHint} />
            )
          }
        />
      </Listing>
    </>
  )
}

function columns(scheduler: SchedulerJson | null): readonly Column<SchedulerNode>[] {
  const text = words()
  const names = common()
  return [
    {
      id: 'node',
      title: names.node,
      cell: (node) => (
        <span class="actions">
          <a class="key" href={href('/history', { filter: nodeTerm(node.instanceId) })}>
            {node.instanceId}
          </a>
          {node.isSelf && <span class="muted">{text.self}</span>}
        </span>
      ),
      isWide: true,
    },
    { id: 'state', title: names.state, cell: (node) => <State node={node} scheduler={scheduler} /> },
    {
      id: 'executing',
      title: text.executing,
      cell: ({ executing }) => <span class="number">{executing}</span>,
    },
    { id: 'checkIn', title: text.checkIn, cell: (node) => <CheckIn node={node} /> },
    { id: 'offset', title: text.offset, cell: (node) => <ClockOffset ms={node.clockOffsetMs} /> },
    { id: 'lag', title: text.lag, cell: (node) => <LoopLag ms={node.eventLoopLagMs} /> },
    { id: 'place', title: text.place, cell: (node) => <Place node={node} /> },
    { id: 'jobTypes', title: text.jobTypes, cell: ({ jobTypes }) => <JobTypes types={jobTypes} /> },
    {
      id: 'actions',
      title: names.actions,
      isTitleHidden: true,
      cell: (node) => <NodeActions node={node} scheduler={scheduler} />,
    },
  ]
}

function Unknown(): JSX.Element {
  return <span class="unknown">{unknownText}</span>
}

interface StateProps {
  readonly node: SchedulerNode
  readonly scheduler: SchedulerJson | null
}

const stateTones: Readonly<Record<SchedulerNode['state'], Tone>> = {
  alive: 'good',
  overdue: 'warn',
  failed: 'bad',
}

/** Whether it fires, of a node that says so; of others that they live. */
function State({ node, scheduler }: StateProps): JSX.Element {
  const text = words()
  const { executing, state, status } = node
  if (state === 'alive' && node.isSelf && scheduler?.status === 'attached')
    return <Badge tone="warn" text={text.attached} />
  if (state !== 'alive' || status === null)
    return <Badge tone={stateTones[state]} text={text.states[state]} />
  if (status === 'draining')
    return (
      <Badge tone={executing > 0 ? 'warn' : 'info'} text={executing > 0 ? text.draining : text.drained} />
    )
  return <Badge tone={status === 'started' ? 'good' : 'warn'} text={text.status[status]} />
}

function CheckIn({ node }: { readonly node: SchedulerNode }): JSX.Element {
  if (node.lastCheckInTimeMs === null) return <Unknown />
  const { checkInIntervalMs } = node
  return (
    <span class="when">
      <Relative ms={node.lastCheckInTimeMs} />
      {checkInIntervalMs !== null && (
        <small class="trait">{words().every(durationText(checkInIntervalMs))}</small>
      )}
    </span>
  )
}

/** More than this is worth a look. */
const offsetNoticedMs = 1000

function ClockOffset({ ms }: { readonly ms: number | null }): JSX.Element {
  if (ms === null) return <Unknown />
  const text = `${ms > 0 ? '+' : ''}${durationText(ms)}`
  return Math.abs(ms) < offsetNoticedMs ? (
    <span class="number" title={words().offsetHint}>
      {text}
    </span>
  ) : (
    <Badge tone="warn" text={text} />
  )
}

/** Above this what is due starts late for others to see. */
const lagNoticedMs = 100

function LoopLag({ ms }: { readonly ms: number | null }): JSX.Element {
  if (ms === null) return <Unknown />
  if (ms >= lagNoticedMs) return <Badge tone="warn" text={durationText(ms)} />
  return (
    <span class="number" title={words().lagHint}>
      {durationText(ms)}
    </span>
  )
}

/** A column for each would leave no room for what can be done with a node. */
function Place({ node: { host, pid, version } }: { readonly node: SchedulerNode }): JSX.Element {
  if (host === null && version === null) return <Unknown />
  return (
    <span class="mono">
      {host ?? <Unknown />}
      {pid !== null && <span class="muted"> {pid}</span>}
      {version !== null && <small class="trait">{version}</small>}
    </span>
  )
}

/** A few are named at once. */
const namedMax = 3

function JobTypes({ types }: { readonly types: readonly string[] | null }): JSX.Element {
  if (types === null) return <Unknown />
  if (types.length === 0) return <>{common().none}</>
  if (types.length <= namedMax) return <span class="mono">{types.join(', ')}</span>
  return (
    <details>
      <summary>{words().types(types.length)}</summary>
      <span class="mono">{types.join(', ')}</span>
    </details>
  )
}
