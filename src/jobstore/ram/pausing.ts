import type { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { EpochMs } from '../../time/clock.ts'
import { nextTriggerState } from '../trigger-state.ts'
import type { KeyIndex } from './key-index.ts'
import { applyMisfire, isMisfired } from './misfires.ts'
import type { RamData } from './ram-data.ts'
import type { RamSession } from './ram-session.ts'
import type { TriggerRecord } from './records.ts'

export function pauseTrigger(data: RamData, key: TriggerKey): boolean {
  const record = data.triggers.get(key)
  if (record === undefined) return false
  data.apply(record, 'pause')
  return true
}

export function pauseTriggers(data: RamData, matcher: GroupMatcher): string[] {
  const groups = groupsToPause(data.triggers, matcher)
  for (const group of groups) {
    data.paused.triggerGroups.add(group)
    for (const [, record] of data.triggers.entriesOf(group)) data.apply(record, 'pause')
  }
  return groups
}

export function pauseJob(data: RamData, key: JobKey): boolean {
  const job = data.jobs.get(key)
  if (job === undefined) return false
  for (const record of job.triggers()) data.apply(record, 'pause')
  return true
}

export function pauseJobs(data: RamData, matcher: GroupMatcher): string[] {
  const groups = groupsToPause(data.jobs, matcher)
  for (const group of groups) {
    data.paused.jobGroups.add(group)
    for (const [, job] of data.jobs.entriesOf(group)) {
      for (const record of job.triggers()) data.apply(record, 'pause')
    }
  }
  return groups
}

export function pauseAll(data: RamData): void {
  pauseTriggers(data, GroupMatcher.anyGroup())
  data.paused.everyNewTriggerGroup = true
}

// Resuming a group ends the pause of that group only: a trigger goes on when neither its group nor its job's group is
// remembered any more. Resuming one trigger or one job resumes exactly those triggers, whatever groups are paused.

export function resumeTrigger(session: RamSession, key: TriggerKey): boolean {
  const record = session.data.triggers.get(key)
  if (record === undefined) return false
  resume(session, record, session.now())
  return true
}

export function resumeJob(session: RamSession, key: JobKey): boolean {
  const job = session.data.jobs.get(key)
  if (job === undefined) return false
  const nowMs = session.now()
  for (const record of job.triggers()) resume(session, record, nowMs)
  return true
}

export function resumeTriggers(session: RamSession, matcher: GroupMatcher): string[] {
  const { data } = session
  const { paused } = data
  const groups = groupsToResume(data.triggers, paused.triggerGroups, matcher)
  if (matcher.operator === 'anything') paused.everyNewTriggerGroup = false
  const nowMs = session.now()
  for (const group of groups) {
    for (const [, record] of data.triggers.entriesOf(group)) resumeAsGroupsSay(session, record, nowMs)
  }
  return groups
}

export function resumeJobs(session: RamSession, matcher: GroupMatcher): string[] {
  const { data } = session
  const groups = groupsToResume(data.jobs, data.paused.jobGroups, matcher)
  const nowMs = session.now()
  for (const group of groups) {
    for (const [, job] of data.jobs.entriesOf(group)) {
      for (const record of job.triggers()) resumeAsGroupsSay(session, record, nowMs)
    }
  }
  return groups
}

export function resumeAll(session: RamSession): void {
  const { data } = session
  data.paused.clear()
  const nowMs = session.now()
  for (const record of data.triggers.values()) resume(session, record, nowMs)
}

function resumeAsGroupsSay(session: RamSession, record: TriggerRecord, nowMs: EpochMs): void {
  const { paused } = session.data
  if (paused.areClear(record.trigger.key.group, record.job.detail.key.group)) resume(session, record, nowMs)
}

function resume(session: RamSession, record: TriggerRecord, nowMs: EpochMs): void {
  const { data } = session
  if (nextTriggerState(data.stateOf(record), 'resume') === null) return
  if (isMisfired(session, record.trigger, nowMs)) applyMisfire(session, record, nowMs)
  data.apply(record, 'resume')
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
