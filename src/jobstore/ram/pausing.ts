import type { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { EpochMs } from '../../time/clock.ts'
import { isMadeByScheduler } from '../own-triggers.ts'
import {
  type EndedPauses,
  ordinaryResume,
  type PausedGroups,
  type PauseNote,
  type PauseTarget,
  pausesAtATime,
  type ResumeManner,
} from '../pauses.ts'
import { isPausedState } from '../trigger-state.ts'
import type { KeyIndex } from './key-index.ts'
import { applyMisfire, isMisfired, leaveOutMissed } from './misfires.ts'
import type { RamData } from './ram-data.ts'
import type { RamSession } from './ram-session.ts'
import type { TriggerRecord } from './records.ts'

export function pauseTrigger(session: RamSession, key: TriggerKey, note: PauseNote): boolean {
  const { data } = session
  const record = data.triggers.get(key)
  if (record === undefined) return false
  data.apply(record, 'pause')
  if (record.state === 'PAUSED') data.pauses.note({ scope: 'trigger', key }, note, session.now())
  return true
}

export function pauseTriggers(session: RamSession, matcher: GroupMatcher, note: PauseNote): string[] {
  const { data } = session
  const groups = pauseGroups(data, matcher)
  for (const group of groups) data.pauses.note({ scope: 'triggerGroup', group }, note, session.now())
  return groups
}

function pauseGroups(data: RamData, matcher: GroupMatcher): string[] {
  const groups = groupsToPause(data.triggers, matcher)
  for (const group of groups) {
    data.paused.triggerGroups.add(group)
    for (const [, record] of data.triggers.entriesOf(group)) data.apply(record, 'pause')
  }
  return groups
}

export function pauseJob(session: RamSession, key: JobKey, note: PauseNote): boolean {
  const { data } = session
  const job = data.jobs.get(key)
  if (job === undefined) return false
  for (const record of job.triggers()) data.apply(record, 'pause')
  if (job.hasPaused) data.pauses.note({ scope: 'job', key }, note, session.now())
  return true
}

export function pauseJobs(session: RamSession, matcher: GroupMatcher, note: PauseNote): string[] {
  const { data } = session
  const groups = groupsToPause(data.jobs, matcher)
  for (const group of groups) {
    data.paused.jobGroups.add(group)
    for (const [, job] of data.jobs.entriesOf(group)) {
      for (const record of job.triggers()) data.apply(record, 'pause')
    }
    data.pauses.note({ scope: 'jobGroup', group }, note, session.now())
  }
  return groups
}

export function pauseAll(session: RamSession, note: PauseNote): void {
  const { data } = session
  pauseGroups(data, GroupMatcher.anyGroup())
  data.paused.everyNewTriggerGroup = true
  data.pauses.note({ scope: 'all' }, note, session.now())
}

export function pausedGroups({ paused, pauses }: RamData): PausedGroups {
  return {
    triggerGroups: pauses.ofTriggerGroups(paused.triggerGroups),
    jobGroups: pauses.ofJobGroups(paused.jobGroups),
    everyNewTriggerGroup: paused.everyNewTriggerGroup,
  }
}

// Resuming a group ends the pause of that group only: a trigger goes on when neither its group nor its job's group is
// remembered any more. Resuming one trigger or one job resumes exactly those triggers, whatever groups are paused.

export function resumeTrigger(session: RamSession, key: TriggerKey, manner: ResumeManner): boolean {
  const record = session.data.triggers.get(key)
  if (record === undefined) return false
  resume(session, record, session.now(), manner)
  return true
}

export function resumeJob(session: RamSession, key: JobKey, manner: ResumeManner): boolean {
  const job = session.data.jobs.get(key)
  if (job === undefined) return false
  const nowMs = session.now()
  for (const record of job.triggers()) resume(session, record, nowMs, manner)
  session.data.pauses.forget({ scope: 'job', key })
  return true
}

export function resumeTriggers(session: RamSession, matcher: GroupMatcher, manner: ResumeManner): string[] {
  const { data } = session
  const groups = groupsToResume(data.triggers, data.paused.triggerGroups, matcher)
  if (matcher.operator === 'anything') resumeNewGroups(data)
  const nowMs = session.now()
  for (const group of groups) {
    data.pauses.forget({ scope: 'triggerGroup', group })
    for (const [, record] of data.triggers.entriesOf(group)) resumeAsGroupsSay(session, record, nowMs, manner)
  }
  return groups
}

export function resumeJobs(session: RamSession, matcher: GroupMatcher, manner: ResumeManner): string[] {
  const { data } = session
  const groups = groupsToResume(data.jobs, data.paused.jobGroups, matcher)
  const nowMs = session.now()
  for (const group of groups) {
    data.pauses.forget({ scope: 'jobGroup', group })
    for (const [, job] of data.jobs.entriesOf(group)) {
      for (const record of job.triggers()) resumeAsGroupsSay(session, record, nowMs, manner)
    }
  }
  return groups
}

export function resumeAll(session: RamSession, manner: ResumeManner): void {
  const { data } = session
  data.paused.clear()
  data.pauses.clear()
  const nowMs = session.now()
  for (const record of data.triggers.values()) resume(session, record, nowMs, manner)
}

function resumeNewGroups({ paused, pauses }: RamData): void {
  paused.everyNewTriggerGroup = false
  pauses.forget({ scope: 'all' })
}

function resumeAsGroupsSay(
  session: RamSession,
  record: TriggerRecord,
  nowMs: EpochMs,
  manner: ResumeManner,
): void {
  const { paused } = session.data
  if (paused.areClear(record.trigger.key.group, record.job.detail.key.group))
    resume(session, record, nowMs, manner)
}

function resume(session: RamSession, record: TriggerRecord, nowMs: EpochMs, manner: ResumeManner): void {
  const { data } = session
  if (!isPausedState(data.stateOf(record))) return
  // What the scheduler itself made is work that was begun, and no time of a schedule.
  if (manner.withoutMissed && !isMadeByScheduler(record.trigger)) leaveOutMissed(session, record, nowMs)
  else if (isMisfired(session, record.trigger, nowMs)) applyMisfire(session, record, nowMs, 'paused')
  // A calendar may have left it no fire time while it was paused.
  const isOver = record.trigger.nextFireTimeMs === null
  const isChanged = data.apply(record, isOver ? 'complete' : 'resume')
  if (isOver && isChanged) session.signals.add('triggerFinalized', record.trigger)
}

/** Ends pauses whose time is over. */
export function endPauses(session: RamSession): EndedPauses {
  const nowMs = session.now()
  const { jobs, pauses } = session.data
  for (const job of pauses.jobs().flatMap((key) => jobs.get(key) ?? [])) pauses.forgetSpent(job)
  const timed = pauses.timed()
  const over = timed.filter(({ untilMs }) => untilMs <= nowMs).slice(0, pausesAtATime)
  for (const { target } of over) endPause(session, target, nowMs)
  return { ended: over.map(({ target }) => target), nextMs: timed[over.length]?.untilMs ?? null }
}

function endPause(session: RamSession, target: PauseTarget, nowMs: EpochMs): void {
  const { data } = session
  data.pauses.forget(target)
  forgetGroups(data, target)
  for (const record of triggersOf(data, target)) {
    if (!data.pauses.holds(record)) resumeAsGroupsSay(session, record, nowMs, ordinaryResume)
  }
}

/** With everything, groups that were paused on their own stay paused; while everything is paused, each group does. */
function forgetGroups(data: RamData, target: PauseTarget): void {
  const { paused, pauses } = data
  if (target.scope === 'triggerGroup' && !paused.everyNewTriggerGroup) {
    paused.triggerGroups.delete(target.group)
  }
  if (target.scope === 'jobGroup') paused.jobGroups.delete(target.group)
  if (target.scope !== 'all') return
  paused.everyNewTriggerGroup = false
  for (const group of paused.triggerGroups) {
    if (pauses.of({ scope: 'triggerGroup', group }) === null) paused.triggerGroups.delete(group)
  }
}

function triggersOf(data: RamData, target: PauseTarget): readonly TriggerRecord[] {
  switch (target.scope) {
    case 'trigger': {
      const record = data.triggers.get(target.key)
      return record === undefined ? [] : [record]
    }
    case 'job':
      return data.jobs.get(target.key)?.triggers() ?? []
    case 'triggerGroup':
      return Array.from(data.triggers.entriesOf(target.group), ([, record]) => record)
    case 'jobGroup':
      return Array.from(data.jobs.entriesOf(target.group), ([, job]) => job.triggers()).flat()
    case 'all':
      return [...data.triggers.values()]
  }
}

/** The matching groups that exist, and the one that an `equals` matcher names in any case. */
function groupsToPause(index: KeyIndex<unknown>, matcher: GroupMatcher): string[] {
  return matcher.operator === 'equals' ? [matcher.operand] : index.groups(matcher)
}

/** The matching groups that exist or are remembered; they are forgotten. */
function groupsToResume(index: KeyIndex<unknown>, remembered: Set<string>, matcher: GroupMatcher): string[] {
  const groups = new Set(index.groups(matcher))
  for (const group of remembered) if (matcher.isMatchGroup(group)) groups.add(group)
  for (const group of groups) remembered.delete(group)
  return [...groups]
}
