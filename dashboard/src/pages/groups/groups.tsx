import type { JSX } from 'preact'
import { visibleName } from '../../../../src/core/visible-text.ts'
import type { GroupJson, GroupsJson, JobGroupJson } from '../../../../src/server/operations/scheduler.ts'
import { call } from '../../api/client.ts'
import type { OperationId } from '../../api/operations.ts'
import { useResource } from '../../api/resource.ts'
import { examples } from '../../examples.ts'
import { act } from '../../parts/action.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { href, useSearch } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { numberText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

type Kind = 'job' | 'trigger'

const groupEvents = new Set([
  'jobAdded',
  'jobDeleted',
  'jobScheduled',
  'jobUnscheduled',
  'triggerFinalized',
  'triggersPaused',
  'triggersResumed',
  'jobsPaused',
  'jobsResumed',
  'schedulingDataCleared',
  'changedElsewhere',
])

export function GroupsPage(): JSX.Element {
  const text = words()
  const groups = useResource((signal) => call('groups.list', { signal }), [], {
    isAffected: ({ event }) => groupEvents.has(event),
  })
  const sought = useSearch().get('search').toLowerCase()
  const shown = groups.value.value
  const found = <Group extends GroupJson>(all: readonly Group[]): readonly Group[] =>
    sought === '' ? all : all.filter(({ name }) => name.toLowerCase().includes(sought))
  const error = groups.error.value
  return (
    <>
      <PageHead title={text.title} below={text.below} />
      <div class="toolbar">
        <SearchBox label={text.searchHint} />
      </div>
      {error !== null && <ProblemNote error={error} retry={groups.reload} />}
      {shown?.knowsLimits === false && <p class="note info">{text.limitsNotKnown}</p>}
      {(error === null || shown !== null) && (
        <div class="columns">
          <Groups
            title={text.jobGroups}
            columns={jobColumns(shown)}
            rows={shown && found(shown.jobGroups)}
            isNarrowed={sought !== ''}
          />
          <Groups
            title={text.triggerGroups}
            columns={columns('trigger')}
            rows={shown && found(shown.triggerGroups)}
            isNarrowed={sought !== ''}
          />
        </div>
      )}
    </>
  )
}

interface GroupsProps<Group extends GroupJson> {
  readonly title: string
  readonly columns: readonly Column<Group>[]
  readonly rows: readonly Group[] | null
  readonly isNarrowed: boolean
}

function Groups<Group extends GroupJson>({
  title,
  columns,
  rows,
  isNarrowed,
}: GroupsProps<Group>): JSX.Element {
  const text = words()
  return (
    <Panel title={title} isFlush>
      <Table
        caption={title}
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
        empty={
          isNarrowed ? (
            <Empty title={text.noneFound} hint={text.noneFoundHint} />
          ) : (
            <Empty title={text.empty} hint={text.emptyHint} code={examples.firstTrigger} />
          )
        }
      />
    </Panel>
  )
}

/** A limit is worth its column where there is one, or may be one. */
function jobColumns(shown: GroupsJson | null): readonly Column<JobGroupJson>[] {
  const all = columns('job')
  if (shown === null) return all
  const { jobGroups, knowsLimits } = shown
  if (knowsLimits && jobGroups.every(({ limit }) => limit === null)) return all
  const text = words()
  const atOnce: Column<JobGroupJson> = {
    id: 'limit',
    title: text.atOnce,
    cell: ({ limit, executing }) =>
      limit === null && knowsLimits
        ? numberText(executing)
        : text.ofLimit(numberText(executing), numberText(limit)),
    isNumber: true,
  }
  return [...all.slice(0, -1), atOnce, ...all.slice(-1)]
}

function columns(kind: Kind): readonly Column<GroupJson>[] {
  const text = words()
  const names = common()
  return [
    {
      id: 'name',
      title: names.group,
      cell: ({ name }) => (
        <a class="key" href={href(kind === 'job' ? '/jobs' : '/triggers', { group: name })}>
          {visibleName(name)}
        </a>
      ),
      isWide: true,
    },
    {
      id: 'state',
      title: names.state,
      cell: ({ isPaused, isEmpty }) => (
        <span class="actions">
          {isPaused ? (
            <Badge tone="warn" text={names.states.PAUSED} />
          ) : (
            <span class="muted nowrap">{text.notPaused}</span>
          )}
          {isEmpty && <small>{text.nothingInIt}</small>}
        </span>
      ),
    },
    {
      id: 'count',
      title: kind === 'job' ? text.jobs : text.triggers,
      cell: ({ count }) => numberText(count),
      isNumber: true,
    },
    {
      id: 'actions',
      title: names.actions,
      isTitleHidden: true,
      cell: (group) => <GroupActions kind={kind} group={group} />,
    },
  ]
}

interface GroupActionsProps {
  readonly kind: Kind
  readonly group: GroupJson
}

function GroupActions({ kind, group: { name, isPaused } }: GroupActionsProps): JSX.Element {
  const text = words()
  const names = common()
  const [pause, resume]: readonly [
    OperationId & `${Kind}Groups.pause`,
    OperationId & `${Kind}Groups.resume`,
  ] = [`${kind}Groups.pause`, `${kind}Groups.resume`]
  const ask = (title: string, body: string): Promise<boolean> =>
    confirm({ title: `${title}: ${shown}`, body, verb: title })
  const params = { group: name }
  const shown = visibleName(name)
  return (
    <div class="row-actions">
      {may(pause) && !isPaused && (
        <Button
          text={`${names.pause}: ${shown}`}
          icon="pause"
          kind="quiet"
          isSmall
          onPress={async () => {
            if (await ask(names.pause, kind === 'job' ? text.pauseJobs : text.pauseTriggers))
              await act(call(pause, { params }), text.paused(shown))
          }}
        />
      )}
      {may(resume) && isPaused && (
        <Button
          text={`${names.resume}: ${shown}`}
          icon="play"
          kind="quiet"
          isSmall
          onPress={async () => {
            if (await ask(names.resume, text.resumeAsk))
              await act(call(resume, { params }), text.resumed(shown))
          }}
        />
      )}
    </div>
  )
}
