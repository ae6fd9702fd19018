import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { visible, visibleName } from '../../../../src/core/visible-text.ts'
import type { TriggerDetailJson } from '../../../../src/server/wire/triggers.ts'
import { call } from '../../api/client.ts'
import { isAboutTrigger } from '../../api/is-about.ts'
import { isUnreadable } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../pages.ts'
import { AuditLink } from '../../parts/audit-link.tsx'
import { Badge, StateBadge } from '../../parts/badge.tsx'
import { Json } from '../../parts/code.tsx'
import { ExecutionTable } from '../../parts/execution-table.tsx'
import { filterTerm } from '../../parts/filter-term.ts'
import { FireTimes } from '../../parts/fire-times.tsx'
import { JobLink, keyText } from '../../parts/links.tsx'
import { isOverdue } from '../../parts/overdue.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { PauseNote } from '../../parts/pause-dialog.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { When } from '../../parts/time.tsx'
import { href } from '../../state/place.ts'
import { may } from '../../state/session.ts'
import { numberText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { MisfireTable } from '../misfires/misfire-table.tsx'
import { kindText, scheduleText, zoneOf } from './schedule-text.ts'
import { type AskedOfTrigger, DefinitionButtons, TriggerButtons, TriggerDialog } from './trigger-actions.tsx'
import { words } from './words.ts'

export function TriggerPage({ params }: PageProps): JSX.Element {
  const key = { group: params['group'] ?? '', name: params['name'] ?? '' }
  const trigger = useResource(
    async (signal) => {
      const [detail, times] = await Promise.all([
        call('triggers.get', { params: key, signal }),
        call('triggers.fireTimes', { params: key, query: { count: 10 }, signal }),
      ])
      return { detail, fireTimesMs: times.fireTimesMs }
    },
    [],
    { isAffected: (event) => isAboutTrigger(event, key), everyMs: 5000 },
  )
  const asked = useSignal<AskedOfTrigger>(null)
  const shown = trigger.value.value
  const error = trigger.error.value
  const text = words()
  const zone = shown === null ? null : zoneOf(shown.detail.definition)
  return (
    <>
      <PageHead
        title={keyText(key)}
        above={<a href={href('/triggers')}>{text.title}</a>}
        below={
          shown !== null && (
            <>
              <StateBadge
                state={shown.detail.state}
                isOverdue={isOverdue(shown.detail, trigger.loadedMs.value ?? 0)}
              />
              {shown.detail.definition !== null && (
                <>
                  <Badge tone="quiet" text={kindText(shown.detail.definition.type)} />
                  <JobLink of={shown.detail.definition.jobKey} />
                </>
              )}
            </>
          )
        }
        actions={
          shown === null ? (
            // It can still be deleted.
            isUnreadable(error) && <DefinitionButtons of={key} canEdit={false} />
          ) : (
            <>
              <TriggerButtons of={key} state={shown.detail.state} asked={asked} />
              <DefinitionButtons of={key} canEdit={shown.detail.definition !== null} />
            </>
          )
        }
      />
      {error !== null && <ProblemNote error={error} retry={trigger.reload} />}
      <TriggerDialog asked={asked} />
      {shown !== null && (
        <>
          {shown.detail.pause !== null && <PauseNote pause={shown.detail.pause} />}
          <div class="columns">
            <Schedule trigger={shown.detail} zone={zone} />
            <Panel title={text.fireTimes} isFlush>
              <FireTimes fireTimesMs={shown.fireTimesMs} zone={zone} empty={text.noFireTimes} />
            </Panel>
          </div>
          <Definition trigger={shown.detail} />
          <Missed of={key} />
          <History of={key} />
        </>
      )}
    </>
  )
}

interface ScheduleProps {
  readonly trigger: TriggerDetailJson
  readonly zone: string | null
}

function Schedule({ trigger, zone }: ScheduleProps): JSX.Element {
  const text = words()
  const names = common()
  const { definition } = trigger
  const endTimeMs = definition?.endTimeMs ?? null
  return (
    <Panel title={text.schedule} actions={<AuditLink of={trigger.key} />}>
      <Facts
        facts={[
          { name: text.schedule, value: scheduleText(trigger) },
          { name: text.timeZone, value: zone, isLeftOut: zone === null },
          { name: names.nextFire, value: <When ms={trigger.nextFireTimeMs} zone={zone} /> },
          { name: names.previousFire, value: <When ms={trigger.previousFireTimeMs} zone={zone} /> },
          {
            name: text.finalFire,
            value: <When ms={trigger.finalFireTimeMs} zone={zone} />,
            isLeftOut: trigger.finalFireTimeMs === null,
          },
          { name: text.fired, value: numberText(trigger.timesTriggered) },
          { name: text.start, value: <When ms={definition?.startTimeMs} zone={zone} /> },
          {
            name: text.end,
            value: endTimeMs === null ? text.never : <When ms={endTimeMs} zone={zone} />,
          },
        ]}
      />
    </Panel>
  )
}

function Definition({ trigger: { definition } }: { readonly trigger: TriggerDetailJson }): JSX.Element {
  const text = words()
  const names = common()
  if (definition === null) return <p class="note info">{text.ownFamily}</p>
  const { description, calendarName, priority, misfireInstruction, jobDataMap } = definition
  return (
    <div class="columns">
      <Panel title={text.further}>
        <Facts
          facts={[
            { name: names.description, value: description === null ? names.none : visible(description) },
            { name: names.calendar, value: calendarName === null ? names.none : visibleName(calendarName) },
            { name: names.priority, value: priority },
            { name: text.misfire, value: text.misfires[misfireInstruction] },
          ]}
        />
      </Panel>
      <Panel title={names.data}>
        <Json value={jobDataMap} label={names.data} />
      </Panel>
    </div>
  )
}

function History({
  of: key,
}: {
  readonly of: { readonly group: string; readonly name: string }
}): JSX.Element | null {
  const text = words()
  const filter = filterTerm('trigger', key)
  const executions = useResource(
    async (signal) =>
      may('executions.list') ? call('executions.list', { query: { filter, take: 10 }, signal }) : null,
    [],
    {
      isAffected: (event) =>
        /^(jobWasExecuted|executionLost)$/.test(event.event) && isAboutTrigger(event, key),
    },
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
          without={['trigger', 'job']}
        />
      )}
    </Panel>
  )
}

/** What it missed lately; nothing when it missed nothing. */
function Missed({
  of: key,
}: {
  readonly of: { readonly group: string; readonly name: string }
}): JSX.Element | null {
  const text = words()
  const filter = filterTerm('trigger', key)
  const misfires = useResource(
    async (signal) =>
      may('misfires.list') ? call('misfires.list', { query: { filter, take: 5 }, signal }) : null,
    [],
    { isAffected: ({ event }) => event === 'triggerMisfired' },
  )
  const rows = misfires.value.value?.items ?? []
  const error = misfires.error.value
  if (rows.length === 0 && error === null) return null
  return (
    <Panel title={text.missed} isFlush actions={<a href={href('/misfires', { filter })}>{text.allMissed}</a>}>
      {error !== null && <ProblemNote error={error} retry={misfires.reload} />}
      <MisfireTable caption={text.missed} rows={rows} empty="" without={['trigger', 'job']} />
    </Panel>
  )
}
