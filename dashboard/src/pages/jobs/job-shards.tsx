import type { JSX } from 'preact'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import type { ShardingJson } from '../../../../src/server/wire/jobs.ts'
import type { ExecutingJson } from '../../../../src/server/wire/runs.ts'
import type { ShardedFiringJson, ShardedItemJson, ShardsJson } from '../../../../src/server/wire/shards.ts'
import { call } from '../../api/client.ts'
import { isAboutJob, isSameKey } from '../../api/is-about.ts'
import { useResource } from '../../api/resource.ts'
import { act } from '../../parts/action.ts'
import { Badge, OutcomeBadge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { executionHref } from '../../parts/execution-table.tsx'
import { itemsTerm } from '../../parts/filter-term.ts'
import { keyId } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { When } from '../../parts/time.tsx'
import { href } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

/** An item of an open firing, or of the definition where no firing is open. */
interface Row extends Pick<ShardedItemJson, 'item' | 'parameter'> {
  readonly open: ShardedItemJson | null
  /** Its execution; null while it does not run. */
  readonly running: ExecutingJson | null
  readonly isOff: boolean
}

interface ShardsProps {
  readonly of: KeyJson
  readonly sharding: ShardingJson
}

interface FiringHeadProps {
  readonly firing: ShardedFiringJson
}

/** The items of a sharded job: who has them, and how far they are. */
export function Shards({ of: key, sharding }: ShardsProps): JSX.Element {
  const text = words()
  const loaded = useResource(
    async (signal) => {
      const [shards, executing] = await Promise.all([
        call('jobs.shards', { params: key, signal }),
        call('executing.list', { signal }),
      ])
      return { shards, running: executing.items.filter(({ jobKey }) => isSameKey(jobKey, key)) }
    },
    [],
    { isAffected: (event) => isAboutJob(event, key), everyMs: 4000 },
  )
  const shown = loaded.value.value
  const error = loaded.error.value
  return (
    <Panel title={text.shards} isFlush>
      {error !== null && <ProblemNote error={error} retry={loaded.reload} />}
      {shown?.shards.firings.map((firing) => (
        <div key={firing.fireInstanceId}>
          <FiringHead firing={firing} />
          <ItemTable of={key} rows={rowsOf(firing.items, shown.shards, shown.running)} />
        </div>
      ))}
      {shown?.shards.firings.length === 0 && (
        <ItemTable of={key} rows={definedRows(sharding, shown.shards)} />
      )}
    </Panel>
  )
}

function FiringHead({ firing: { fireInstanceId, fireTimeMs, items } }: FiringHeadProps): JSX.Element {
  const text = words()
  const open = items.filter(({ state }) => state !== 'ended').length
  return (
    <div class="panel-head">
      <span>
        {text.firedAt} <When ms={fireTimeMs} />: <span>{text.openItems(open, items.length)}</span>
      </span>
      <div class="actions">
        <a href={href('/history', { filter: itemsTerm(fireInstanceId) })}>{text.endedItems}</a>
      </div>
    </div>
  )
}

function rowsOf(
  items: readonly ShardedItemJson[],
  { disabledItems }: ShardsJson,
  executing: readonly ExecutingJson[],
): readonly Row[] {
  const byTrigger = new Map(executing.map((each) => [keyId(each.triggerKey), each]))
  return items.map((open) => ({
    item: open.item,
    parameter: open.parameter,
    open,
    running: open.triggerKey === null ? null : (byTrigger.get(keyId(open.triggerKey)) ?? null),
    isOff: disabledItems.includes(open.item),
  }))
}

/** A broadcast and a remote job have items only while a firing is open. */
function definedRows({ items, parameters }: ShardingJson, { disabledItems }: ShardsJson): readonly Row[] {
  return Array.from({ length: typeof items === 'number' ? items : 0 }, (_, item) => ({
    item,
    parameter: parameters[String(item)] ?? null,
    open: null,
    running: null,
    isOff: disabledItems.includes(item),
  }))
}

function ItemTable({ of: key, rows }: { readonly of: KeyJson; readonly rows: readonly Row[] }): JSX.Element {
  const text = words()
  return (
    <Table
      caption={text.shards}
      columns={columns(key)}
      rows={rows}
      keyOf={({ item }) => String(item)}
      empty={<p class="panel-body muted">{text.shardStates.idle}</p>}
    />
  )
}

function columns(key: KeyJson): readonly Column<Row>[] {
  const text = words()
  const names = common()
  return [
    { id: 'item', title: names.item, cell: ({ item }) => item, isNumber: true },
    { id: 'parameter', title: text.parameter, cell: ({ parameter }) => parameter, isWide: true },
    { id: 'owner', title: text.owner, cell: ({ open, running }) => running?.node ?? open?.owner },
    { id: 'state', title: names.state, cell: (row) => <ItemState of={row} /> },
    {
      id: 'actions',
      title: names.actions,
      isTitleHidden: true,
      cell: (row) => <Switch of={key} row={row} />,
    },
  ]
}

function ItemState({ of: { open, running, isOff } }: { readonly of: Row }): JSX.Element {
  const { shardStates, running: runs } = words()
  if (running !== null) {
    return (
      <a href={executionHref(running.fireInstanceId)}>
        <Badge tone="info" text={runs} />
      </a>
    )
  }
  if (open === null) return <Badge tone="quiet" text={isOff ? shardStates.disabled : shardStates.idle} />
  const { outcome, state } = open
  if (outcome === 'skipped' || outcome === 'disabled') {
    return <Badge tone="quiet" text={shardStates[outcome]} />
  }
  if (outcome !== null) return <OutcomeBadge outcome={outcome} />
  return <Badge tone="quiet" text={state === 'held' ? shardStates.held : shardStates.given} />
}

function Switch({ of: key, row }: { readonly of: KeyJson; readonly row: Row }): JSX.Element | null {
  const text = words()
  const { item, isOff } = row
  const verb = isOff ? 'jobs.enableShard' : 'jobs.disableShard'
  if (!may(verb)) return null
  const press = (): Promise<void> =>
    act(
      call(verb, { params: { ...key, item: String(item) } }),
      isOff ? text.enabledShard(item) : text.disabledShard(item),
    )
  const name = `${isOff ? text.enableShard : text.disableShard}: ${item}`
  return (
    <div class="row-actions">
      <Button text={name} icon={isOff ? 'play' : 'pause'} kind="quiet" isSmall onPress={press} />
    </div>
  )
}
