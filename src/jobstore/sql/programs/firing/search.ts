import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { TriggerFiredBundle } from '../../../fired-bundle.ts'
import type { AcquiredTrigger } from '../../../job-store.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { LeftFor } from '../../session/passed-triggers.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { DueTrigger } from '../../tables/triggers/trigger-table.ts'
import type { BatchPlaces } from './batch-places.ts'
import { GroupRooms } from './group-rooms.ts'

/**
 * For how long other nodes leave an item of a sharded firing to its owner, which may stand by or be busy. Milliseconds.
 */
export const ownersTurnMs = 5000

/**
 * How far ahead the end of an execution sends signals for triggers of its limited group, where searches answer when to
 * look again for those that come later. Otherwise a node whose clock is a little ahead may have found the group full at
 * the time of such a trigger, and hear of no end. Milliseconds.
 */
export const roomsToldAheadMs = 50

/**
 * Beside Java nodes a search never passes over what has been due for less than this. They send no signal of what they
 * store, and commit it after the instant at which it is due. Milliseconds.
 */
const untoldMs = 5000

/** What a search may do with the triggers that it finds. */
export interface SearchManner {
  /** Whether triggers that are due now are fired at once instead of claimed. */
  readonly fires: boolean
  /** Whether the misfire instructions of late triggers are carried out; otherwise late triggers are left. */
  readonly treatsLate: boolean
  /** Whether triggers are left while another session holds the row of their schedule. */
  readonly locksSchedules: boolean
  /** Whether the caller looks again when the answer says so. */
  readonly looksAgain: boolean
}

/** A search under way. */
export interface Search extends SearchManner {
  readonly tx: SqlTransaction
  readonly places: BatchPlaces<DueTrigger>
  readonly fired: TriggerFiredBundle[]
  readonly acquired: AcquiredTrigger[]
  /** Late triggers whose misfire instruction was carried out; one that is still late fires late. */
  readonly treated: KeySet<TriggerKey>
  /** Triggers that could not be read or computed. */
  readonly faulty: KeySet<TriggerKey>
  /** Null where no group is limited. */
  readonly rooms: GroupRooms | null
  /**
   * Whether triggers of limited groups are claimed only when they are due: a claim takes room from what is due now,
   * perhaps on another node.
   */
  readonly limitedWait: boolean
  readonly unknownJobTypes: Set<string>
  /** Notes about passed-over triggers are valid only while this version has not changed. */
  readonly passedVersion: number
  affinityIsUsed: boolean
  /** Jobs of which no further trigger may start in this search. */
  readonly leftJobs: KeySet<JobKey>
  /** Triggers whose schedule another session holds. */
  readonly leftTriggers: KeySet<TriggerKey>
  /** Whether a due trigger was left because of another transaction's lock, whose end sends no signal. */
  hasLeft: boolean
}

/** The range of fire times of a part of a search. */
export interface Range {
  readonly afterMs?: EpochMs
  readonly untilMs: EpochMs
  /** Whether limited groups are left out, full or not. */
  readonly leavesLimited?: boolean
}

export function* beginSearch(
  tx: SqlTransaction,
  manner: SearchManner & Pick<Search, 'places'>,
  untilMs: EpochMs,
): SqlProgram<Search> {
  const { searchMemory: memory, clustered, context } = tx.session
  const { groupLimits } = tx.session
  const rooms = groupLimits === null ? null : yield* GroupRooms.look(groupLimits)
  const limitedWait = rooms !== null && clustered && manner.looksAgain
  const search: Search = {
    tx,
    ...manner,
    fired: [],
    acquired: [],
    treated: new KeySet(),
    faulty: new KeySet(),
    rooms,
    limitedWait,
    unknownJobTypes: new Set([...memory.unknownJobTypes].filter((type) => !context.knowsJobType(type))),
    passedVersion: memory.passed.version,
    affinityIsUsed: memory.affinityIsUsed,
    leftJobs: new KeySet(),
    leftTriggers: new KeySet(),
    hasLeft: false,
  }
  tx.notes.add(() => {
    memory.unknownJobTypes = search.unknownJobTypes
    memory.affinityIsUsed = search.affinityIsUsed
    if (groupLimits !== null) {
      groupLimits.toldAheadMs = limitedWait ? roomsToldAheadMs : Math.max(0, untilMs - tx.nowMs)
    }
    memory.schedulesAreHeld = search.leftTriggers.size > 0
    if (search.treated.size > 0) memory.misfiresTreatedAtMs = tx.nowMs
  })
  return search
}

/** A range without the triggers that this search leaves. */
export interface LeavingOut extends LeftFor, Omit<Range, 'leavesLimited'> {
  readonly ownersUntilMs: EpochMs
  readonly leftJobs: readonly JobKey[]
  readonly leftTriggers: readonly TriggerKey[]
}

export function leavingOut(search: Search, { leavesLimited = false, ...range }: Range): LeavingOut {
  const { nowMs, session } = search.tx
  const leftFor: LeftFor = {
    unknownJobTypes: [...search.unknownJobTypes],
    node: search.affinityIsUsed ? session.context.instanceId : null,
    unread: session.triggersOfJava?.unread.values ?? [],
    fullGroups: (leavesLimited ? search.rooms?.groups : search.rooms?.fullGroups) ?? [],
  }
  const passedMs = session.searchMemory.passed.endFor(leftFor, nowMs)
  const afterMs = passedMs === null ? range.afterMs : Math.max(passedMs, range.afterMs ?? 0)
  return {
    ...range,
    ...(afterMs === undefined ? {} : { afterMs }),
    ...leftFor,
    ownersUntilMs: nowMs - ownersTurnMs,
    leftJobs: search.leftJobs.keys(),
    leftTriggers: search.leftTriggers.keys(),
  }
}

/** All triggers before the first one that was found, or before the end of the range, are passed over. */
export function notePassed(search: Search, request: LeavingOut, firstMs: EpochMs | null): void {
  const { passedVersion } = search
  const { nowMs, notes, session } = search.tx
  if (search.leftJobs.size > 0 || search.leftTriggers.size > 0) return
  const latestMs = session.triggersOfJava === null ? nowMs : nowMs - untoldMs
  const untilMs = Math.min(latestMs, firstMs === null ? request.untilMs : firstMs - 1)
  const note = (): void => {
    session.searchMemory.passed.note(untilMs, request, nowMs, passedVersion)
  }
  // What a search finds that has changed nothing yet holds without its commit. Its own further looks begin there, too.
  const { acquired, fired, treated, faulty } = search
  const hasChanged = acquired.length + fired.length + treated.size + faulty.size > 0
  if (request.unread.length > 0 && !hasChanged) note()
  else notes.add(note)
}
