import { closestPause, type Pause, type PausedGroups, type PauseTarget } from '../../../pauses.ts'
import type { JobSummary, TriggerSummary } from '../../../queries.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlSession } from '../../session/sql-session.ts'
import { textOfTarget } from '../../tables/triggers/pause-table.ts'

// What is known of pauses, for whole pages: one statement for all that a page names.

const everything: PauseTarget = { scope: 'all' }

/** The page with the pauses of its triggers. */
export function* withPausesOfTriggers(
  session: SqlSession,
  page: readonly TriggerSummary[],
): SqlProgram<readonly TriggerSummary[]> {
  const targetsOf = ({ key, jobKey }: TriggerSummary): readonly PauseTarget[] => [
    { scope: 'trigger', key },
    { scope: 'job', key: jobKey },
    { scope: 'triggerGroup', group: key.group },
    { scope: 'jobGroup', group: jobKey.group },
    everything,
  ]
  const paused = page.filter(({ state }) => state === 'PAUSED')
  const pauseOf = yield* pausesOf(session, paused.flatMap(targetsOf))
  return page.map((trigger) =>
    trigger.state === 'PAUSED'
      ? { ...trigger, pause: closestPause(...targetsOf(trigger).map(pauseOf)) }
      : trigger,
  )
}

/** The page with the pauses of its jobs. */
export function* withPausesOfJobs(
  session: SqlSession,
  page: readonly JobSummary[],
): SqlProgram<readonly JobSummary[]> {
  const targetsOf = ({ key }: JobSummary): readonly PauseTarget[] => [
    { scope: 'job', key },
    { scope: 'jobGroup', group: key.group },
  ]
  const pauseOf = yield* pausesOf(session, page.flatMap(targetsOf))
  return page.map((job) => ({ ...job, pause: closestPause(...targetsOf(job).map(pauseOf)) }))
}

/** The groups that are remembered as paused, with what is known of that. */
export function* getPausedGroups(session: SqlSession): SqlProgram<PausedGroups> {
  const { triggerGroups, jobGroups, everyNewTriggerGroup } = yield* session.pausedGroups.load()
  const ofTriggers = (group: string): PauseTarget => ({ scope: 'triggerGroup', group })
  const ofJobs = (group: string): PauseTarget => ({ scope: 'jobGroup', group })
  const targets = [everything, ...Array.from(triggerGroups, ofTriggers), ...Array.from(jobGroups, ofJobs)]
  const pauseOf = yield* pausesOf(session, targets)
  return {
    triggerGroups: Array.from(triggerGroups, (group) => {
      return { group, pause: closestPause(pauseOf(ofTriggers(group)), pauseOf(everything)) }
    }),
    jobGroups: Array.from(jobGroups, (group) => ({ group, pause: pauseOf(ofJobs(group)) })),
    everyNewTriggerGroup,
  }
}

function* pausesOf(
  { pauses }: SqlSession,
  targets: readonly PauseTarget[],
): SqlProgram<(target: PauseTarget) => Pause | null> {
  const unique = new Map(targets.map((target) => [textOfTarget(target), target]))
  const found = unique.size === 0 ? new Map<string, Pause>() : yield* pauses.load([...unique.values()])
  return (target) => found.get(textOfTarget(target)) ?? null
}
