import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import { isPausedState, nextTriggerState, type StoredTriggerState } from '../../../trigger-state.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { PausedGroups } from '../../tables/groups/paused-group-table.ts'
import type { JobRef } from '../../tables/jobs/job-table.ts'
import type { StoredTrigger, TriggerRef } from '../../tables/triggers/trigger-table.ts'
import { endStaleClaims } from './ended-claims.ts'
import type { NewFirings } from './firing-new.ts'
import { forgetOverPauses } from './group-pauses.ts'
import { executingJobs } from './settling.ts'

/** The locked rows of a transaction that exist already. */
export interface LockedRows {
  readonly existing: KeyMap<TriggerKey, TriggerRef>
  readonly jobs: Pick<KeyMap<JobKey, Pick<JobRef, 'nonConcurrent'>>, 'get'>
  /** Null before they were read. */
  readonly paused?: PausedGroups | null
  /** A trigger that replaces one of its job is paused exactly when that one is. Default false: as groups say. */
  readonly keepsPauses?: boolean
  /** Default: every trigger is left to the loops. */
  readonly firings?: NewFirings | null
}

export function* lockTriggers(
  tx: SqlTransaction,
  keys: readonly TriggerKey[],
): SqlProgram<KeyMap<TriggerKey, TriggerRef>> {
  const found = new KeyMap<TriggerKey, TriggerRef>()
  if (keys.length === 0) return found
  for (const ref of yield* tx.session.triggers.lock(keys)) found.set(ref.key, ref)
  return found
}

/** `toAdd`: others may add triggers to the jobs meanwhile, where nothing else needs their locks often. */
export function* lockJobs(
  { session: { jobs } }: SqlTransaction,
  keys: readonly JobKey[],
  { toAdd = false }: { readonly toAdd?: boolean } = {},
): SqlProgram<KeyMap<JobKey, JobRef>> {
  const found = new KeyMap<JobKey, JobRef>()
  if (keys.length === 0) return found
  for (const ref of yield* toAdd ? jobs.lockToAdd(keys) : jobs.lock(keys)) found.set(ref.key, ref)
  return found
}

/** Locks a trigger behind its job: jobs before triggers, as everywhere. */
export function* lockBehindJob(tx: SqlTransaction, key: TriggerKey): SqlProgram<TriggerRef | undefined> {
  yield* lockJobs(tx, (yield* tx.session.keyLists.jobsOfTriggers([key])).values())
  return (yield* lockTriggers(tx, [key])).get(key)
}

/**
 * Stores triggers whose jobs are locked, over those of the same keys: they start anew, WAITING, PAUSED, BLOCKED or
 * COMPLETE as their groups, their job and their fire time say. Notes when they may fire; answers the former jobs of
 * triggers that were replaced by triggers of another job.
 */
export function* storeNewTriggers(
  tx: SqlTransaction,
  triggers: readonly Trigger[],
  { existing, jobs, paused = null, keepsPauses = false, firings = null }: LockedRows,
): SqlProgram<readonly JobKey[]> {
  if (triggers.length === 0) return []
  const states = new StartingStates(
    yield* readCircumstances(tx, triggers, jobs, paused ?? (yield* tx.session.pausedGroups.load())),
  )
  const stored = new KeyMap<TriggerKey, StoredTrigger>()
  const kept = new KeySet<TriggerKey>()
  const jobsLosingTriggers: JobKey[] = []
  for (const trigger of triggers) {
    const { key, jobKey } = trigger
    const formerJob = stored.get(key)?.trigger.jobKey ?? existing.get(key)?.jobKey
    const isOfOther = formerJob !== undefined && jobKey?.equals(formerJob) !== true
    if (isOfOther) jobsLosingTriggers.push(formerJob)
    const replaced = keepsPauses && !isOfOther ? existing.get(key) : undefined
    if (replaced !== undefined) kept.add(key)
    const state = replaced === undefined ? states.of(trigger) : states.after(trigger, replaced)
    stored.set(key, firings?.stored(trigger, state) ?? { trigger, state })
  }
  yield* tx.session.pausedGroups.addTriggerGroups(states.newlyPaused)
  const pausedTriggers = stored
    .values()
    .flatMap(({ trigger, state }) => (isPausedState(state) ? trigger : []))
  yield* forgetOverPauses(tx, pausedTriggers)
  yield* write(tx, stored.values(), existing)
  // They are paused by their groups: what is known of a pause is of the trigger that had the key before.
  yield* tx.session.pauses.forget(
    pausedTriggers.flatMap(({ key }) => (kept.has(key) ? [] : { scope: 'trigger', key })),
  )
  return jobsLosingTriggers
}

function* write(
  tx: SqlTransaction,
  stored: readonly StoredTrigger[],
  existing: KeyMap<TriggerKey, TriggerRef>,
): SqlProgram<void> {
  const { triggers } = tx.session
  const fresh = stored.filter(({ trigger }) => !existing.has(trigger.key))
  const replacing = stored.filter(({ trigger }) => existing.has(trigger.key))
  yield* triggers.insert(fresh)
  yield* triggers.put(replacing)
  for (const { trigger, state } of stored) {
    if (state === 'WAITING') tx.offers.note(trigger.nextFireTimeMs)
  }
  if (replacing.some(({ trigger }) => existing.get(trigger.key)?.state === 'ACQUIRED')) {
    yield* endStaleClaims(tx)
  }
}

/** What decides the first state of a trigger, besides its own fire time. */
interface Circumstances {
  readonly paused: PausedGroups
  /** Groups that hold a trigger; known only while `pauseAll` is in force. */
  readonly existingGroups: readonly string[]
  readonly executing: KeySet<JobKey>
}

function* readCircumstances(
  tx: SqlTransaction,
  triggers: readonly Trigger[],
  jobs: LockedRows['jobs'],
  paused: PausedGroups,
): SqlProgram<Circumstances> {
  const { keyLists } = tx.session
  const groups = paused.everyNewTriggerGroup ? new Set(triggers.map(({ key }) => key.group)) : []
  const existingGroups = paused.everyNewTriggerGroup ? yield* keyLists.triggerGroupsAmong(groups) : []
  const nonConcurrent = new KeySet<JobKey>()
  for (const { jobKey } of triggers) {
    if (jobKey !== null && jobs.get(jobKey)?.nonConcurrent === true) nonConcurrent.add(jobKey)
  }
  const executing = yield* executingJobs(tx, nonConcurrent.keys())
  return { paused, existingGroups, executing }
}

class StartingStates {
  /** New groups of this call while `pauseAll` is in force. */
  readonly newlyPaused: string[] = []
  readonly #circumstances: Circumstances
  readonly #pausedGroups: Set<string>
  readonly #existingGroups: Set<string>

  constructor(circumstances: Circumstances) {
    this.#circumstances = circumstances
    this.#pausedGroups = new Set(circumstances.paused.triggerGroups)
    this.#existingGroups = new Set(circumstances.existingGroups)
  }

  of({ key: { group }, jobKey, nextFireTimeMs }: Trigger): StoredTriggerState {
    const { paused } = this.#circumstances
    const isNewGroup = paused.everyNewTriggerGroup && !this.#existingGroups.has(group)
    this.#existingGroups.add(group)
    if (nextFireTimeMs === null) return 'COMPLETE'
    if (isNewGroup) {
      this.#pausedGroups.add(group)
      this.newlyPaused.push(group)
    }
    const isPaused = this.#pausedGroups.has(group) || (jobKey !== null && paused.jobGroups.has(jobKey.group))
    return this.#blocked(isPaused ? 'PAUSED' : 'WAITING', jobKey)
  }

  /** The state of a trigger that takes the place of another one, which lives on in it. */
  after(trigger: Trigger, { state }: TriggerRef): StoredTriggerState {
    const isPaused = isPausedState(state)
    const isOver = state === 'COMPLETE' || state === 'ERROR' || trigger.nextFireTimeMs === null
    if (isOver && !isPaused) return this.of(trigger)
    return this.#blocked(isPaused ? 'PAUSED' : 'WAITING', trigger.jobKey)
  }

  #blocked(state: StoredTriggerState, jobKey: JobKey | null): StoredTriggerState {
    const isBlocked = jobKey !== null && this.#circumstances.executing.has(jobKey)
    return isBlocked ? (nextTriggerState(state, 'block') ?? state) : state
  }
}
