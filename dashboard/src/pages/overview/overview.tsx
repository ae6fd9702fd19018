import type { JSX } from 'preact'
import { call } from '../../api/client.ts'
import { fullPage } from '../../api/full-page.ts'
import { type Resource, useResource } from '../../api/resource.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { may } from '../../state/session.ts'
import { tick } from '../../time/clock.ts'
import { ActivityChart, ActivityTiles, shownMinutes } from './activity.tsx'
import { Alerts, alertCounts, useAlerts } from './alerts.tsx'
import { Firings } from './firings.tsx'
import { Problems, problemsOf } from './problems.tsx'
import { SchedulerActions } from './scheduler-actions.tsx'
import { StateBars } from './state-bars.tsx'
import { Tiles } from './tiles.tsx'
import { loadTriggers } from './triggers.ts'
import { Verdict } from './verdict.tsx'
import { words } from './words.ts'

export type Overview = Awaited<ReturnType<typeof load>>

/** A job that has failed so often in a row, and more often than it is tried for one firing, is a problem. */
const failingTimes = 3
const failingAsked = 200

/** What those with a role on some groups alone may not see is null, as are nodes that are not known. */
async function load(signal: AbortSignal) {
  const [scheduler, triggers, nodes, groups, executing, failing, misfires] = await Promise.all([
    call('scheduler.get', { signal }),
    loadTriggers(signal),
    may('nodes.list') ? call('nodes.list', { signal }) : null,
    may('groups.list') ? call('groups.list', { signal }) : null,
    call('executing.list', { signal }),
    may('jobStatus.list')
      ? // Jobs that were deleted are left out of a page, and may have been all of it.
        fullPage(
          (after) =>
            call('jobStatus.list', {
              query: {
                minConsecutiveFailures: failingTimes,
                beyondRetries: true,
                take: failingAsked,
                after,
              },
              signal,
            }),
          { after: '', take: failingAsked },
        )
      : null,
    may('misfires.stats') ? call('misfires.stats', { signal }) : null,
  ])
  return {
    scheduler,
    triggers,
    nodes: nodes?.isWhole === true ? nodes.items : null,
    groups,
    executing: executing.items,
    /** Whether that is all that runs, and nodes can be seen at all. */
    seesNodes: executing.isWhole,
    failing: [...(failing?.items ?? [])].sort((a, b) => b.consecutiveFailures - a.consecutiveFailures),
    /** Whether more jobs fail than were asked for. */
    isMoreFailing: (failing?.next ?? null) !== null,
    misfires,
  }
}

/** Three looks of a server that answers: one that stands still, or is cut off, is not waited for any longer. */
const lateMs = 15_000

/** Whether the server has been asked how it is and has not said so for long. */
function isLate({ isLoading, loadedMs }: Resource<Overview>): boolean {
  return isLoading.value && loadedMs.value !== null && tick.value - loadedMs.value > lateMs
}

export function OverviewPage(): JSX.Element {
  const { title, status } = words()
  const overview = useResource(load, [], { isAffected: () => true, everyMs: 5000 })
  const shown = overview.value.value
  const error = overview.error.value
  const stats = useResource(
    async (signal) =>
      may('executions.stats') ? call('executions.stats', { query: { minutes: shownMinutes }, signal }) : null,
    [],
    { everyMs: 5000, isAffected: ({ event }) => event === 'jobWasExecuted' },
  )
  const statsError = stats.error.value
  const alerts = useAlerts()
  const reload = (): void => {
    overview.reload()
    alerts.reload()
  }
  const problems = shown === null ? null : problemsOf(shown)
  return (
    <>
      <PageHead
        title={title}
        below={shown !== null && <span>{status[shown.scheduler.status]}</span>}
        actions={shown !== null && <SchedulerActions scheduler={shown.scheduler} />}
      />
      {error !== null && <ProblemNote error={error} retry={reload} />}
      {error === null && statsError !== null && <ProblemNote error={statsError} retry={stats.reload} />}
      <Verdict
        overview={shown}
        problems={problems}
        alerts={alertCounts(alerts.value.value)}
        isStale={error !== null || alerts.error.value !== null || isLate(overview)}
      />
      {problems !== null && problems.length > 0 && <Problems problems={problems} />}
      <Alerts alerts={alerts} isProblemSaid={error !== null} />
      <Tiles overview={shown} />
      <ActivityTiles stats={stats.value.value} />
      <div class="columns">
        <ActivityChart stats={stats.value.value} />
        {(shown === null || shown.triggers.counts !== null) && <StateBars overview={shown} />}
      </div>
      <Firings overview={shown} />
    </>
  )
}
