import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import {
  boundRows,
  changeRows,
  deleteNamed,
  hasKeyOf,
  insertQuery,
  isRow,
  type KeyQuery,
  type RowSetQuery,
  type RowsQuery,
  runOver,
  storeRows,
  updateQuery,
  withScheduler,
  writeOver,
} from '../../kernel/row-set.ts'
import type { SqlDialect } from '../../kernel/sql-dialect.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, later, type SqlProgram, type SqlQuery, type SqlRows, sqlQuery } from '../../kernel/statement.ts'
import { isAwaited } from '../encoding/awaited-firings.ts'
import { anyText, instant, integer, readable, text } from '../encoding/columns.ts'
import {
  jobKeyColumns,
  jobKeyOf,
  jobKeyRows,
  triggerKeyColumns,
  triggerKeyOf,
  triggerKeyRows,
} from '../encoding/key-rows.ts'
import {
  amendable,
  decodedFirings,
  encodedFiring,
  type FiredRow,
  firedColumns,
  firingStateOf,
} from './fired-rows.ts'

/** The result of locking rows that another session may have locked. */
export interface LockedAmong<Key, Row> {
  readonly found: readonly Row[]
  /** Existing rows that another session has locked. */
  readonly locked: readonly Key[]
}

export type TriggerFiring = Pick<FiredRow, 'triggerKey' | 'state' | 'plannedTimeMs'>

/** The rows of `fired_triggers`: claims (ACQUIRED) and executions in flight (EXECUTING). */
export class FiredTriggerTable {
  readonly #statements: FiredTriggerStatements
  readonly #scheduler: string
  readonly #instance: string

  constructor(vocabulary: SqlVocabulary, instanceId: string) {
    this.#statements = firedTriggerStatements(vocabulary)
    this.#scheduler = vocabulary.schedulerName
    this.#instance = instanceId
  }

  *insert(rows: readonly FiredRow[]): SqlProgram<void> {
    yield* storeRows(this.#scheduler, rows.map(encodedFiring), this.#statements.insert)
  }

  /** Locks the rows of this scheduler instance in this state that no other session has locked. */
  *tryLock(
    fireInstanceIds: readonly string[],
    state: FiredRow['state'],
  ): SqlProgram<LockedAmong<string, FiredRow>> {
    const found = decodedFirings(
      yield* all(this.#statements.tryLock({ ...this.#own(fireInstanceIds), state })),
    )
    return { found, locked: yield* this.#lockedBesides(fireInstanceIds, state, found) }
  }

  /** Locks the claims of this scheduler instance that no other session has locked. */
  *tryLockAllClaims(): SqlProgram<readonly FiredRow[]> {
    const own = { scheduler: this.#scheduler, instance: this.#instance }
    return decodedFirings(yield* all(this.#statements.tryLockAllClaims(own)))
  }

  /** Turns claims into executions. */
  *begin(rows: readonly FiredRow[], nowMs: EpochMs): SqlProgram<void> {
    if (rows.length === 0) return
    const ids = rows.map(({ fireInstanceId }) => fireInstanceId)
    yield* later(this.#statements.begin({ ...this.#own(ids), now: nowMs }))
  }

  /** Writes the jobs of executions that were replaced since the claims. */
  *amend(rows: readonly FiredRow[]): SqlProgram<void> {
    const amended = rows.map((row) => ({
      sched_name: this.#scheduler,
      entry_id: row.fireInstanceId,
      is_nonconcurrent: row.nonConcurrent,
      requests_recovery: row.requestsRecovery,
    }))
    yield* changeRows(amended, this.#statements.amend)
  }

  /** Deletes the rows of this scheduler instance in this state, except those that other sessions have locked. */
  *tryDelete(
    fireInstanceIds: readonly string[],
    state: FiredRow['state'],
  ): SqlProgram<LockedAmong<string, FiredRow>> {
    if (fireInstanceIds.length === 0) return { found: [], locked: [] }
    const found = decodedFirings(
      yield* all(this.#statements.tryDelete({ ...this.#own(fireInstanceIds), state })),
    )
    return { found, locked: yield* this.#lockedBesides(fireInstanceIds, state, found) }
  }

  /** Deletes executions of any node that go on elsewhere, except those that other sessions have locked. */
  *tryDeleteAwaited(fireInstanceIds: readonly string[]): SqlProgram<LockedAmong<string, FiredRow>> {
    if (fireInstanceIds.length === 0) return { found: [], locked: [] }
    const values = { rows: this.#rowsOf(fireInstanceIds) }
    const found = decodedFirings(yield* all(this.#statements.tryDeleteAwaited(values)))
    if (found.length === fireInstanceIds.length) return { found, locked: [] }
    return { found, locked: yield* this.awaitedAmong(fireInstanceIds) }
  }

  /** Those of these executions that are in flight elsewhere, on any node. */
  *awaitedAmong(fireInstanceIds: readonly string[]): SqlProgram<readonly string[]> {
    if (fireInstanceIds.length === 0) return []
    const rows = yield* all(this.#statements.findAwaited({ rows: this.#rowsOf(fireInstanceIds) }))
    return rows.map((row) => text(row, 'entry_id'))
  }

  /** Makes this scheduler instance the one that has these executions of another one, which go on elsewhere. */
  *takeOver(rows: readonly FiredRow[]): SqlProgram<void> {
    if (rows.length === 0) return
    yield* later(this.#statements.takeOver(this.#own(rows.map(({ fireInstanceId }) => fireInstanceId))))
  }

  /** The rows that were not found because another session has locked them. */
  *#lockedBesides(
    fireInstanceIds: readonly string[],
    state: FiredRow['state'],
    found: readonly FiredRow[],
  ): SqlProgram<readonly string[]> {
    const known = new Set(found.map(({ fireInstanceId }) => fireInstanceId))
    const missing = fireInstanceIds.filter((id) => !known.has(id))
    if (missing.length === 0) return []
    const rows = yield* all(this.#statements.find({ ...this.#own(missing), state }))
    return rows.map((row) => text(row, 'entry_id'))
  }

  /** Whether one of these executions of this scheduler instance is in flight. */
  *isInFlight(fireInstanceIds: readonly string[]): SqlProgram<boolean> {
    if (fireInstanceIds.length === 0) return false
    const state = 'EXECUTING'
    return (yield* all(this.#statements.find({ ...this.#own(fireInstanceIds), state }))).length > 0
  }

  /** Deletes the rows of this scheduler instance in this state. */
  *delete(fireInstanceIds: readonly string[], state: FiredRow['state']): SqlProgram<void> {
    if (fireInstanceIds.length === 0) return
    yield* later(this.#statements.delete({ ...this.#own(fireInstanceIds), state }))
  }

  /** Locks the rows of a scheduler instance that no other session has locked. */
  *tryLockOfInstance(instance: string): SqlProgram<readonly FiredRow[]> {
    const { tryLockOfInstance } = this.#statements
    return decodedFirings(yield* all(tryLockOfInstance({ scheduler: this.#scheduler, instance })))
  }

  /** Deletes the given rows of a scheduler instance. */
  *deleteOfInstance(instance: string, rows: readonly FiredRow[]): SqlProgram<void> {
    if (rows.length === 0) return
    const ids = rows.map(({ fireInstanceId }) => fireInstanceId)
    yield* later(this.#statements.deleteOfInstance({ instance, rows: this.#rowsOf(ids) }))
  }

  /** The fire instance ids of this scheduler instance, except those of executions that go on elsewhere. */
  *ownIds(): SqlProgram<readonly string[]> {
    const own = { scheduler: this.#scheduler, instance: this.#instance }
    return (yield* all(this.#statements.ownIds(own))).map((row) => text(row, 'entry_id'))
  }

  /** Deletes all rows except those of executions that go on elsewhere; answers them. */
  *deleteAll(): SqlProgram<readonly FiredRow[]> {
    return decodedFirings(yield* all(this.#statements.deleteAll({ scheduler: this.#scheduler })))
  }

  /** The claims and executions of these triggers, on any node. */
  *ofTriggers(triggerKeys: readonly TriggerKey[]): SqlProgram<readonly TriggerFiring[]> {
    const keyRows = triggerKeyRows(this.#scheduler, triggerKeys)
    const found = yield* runOver(keyRows, (rows) => this.#statements.ofTriggers({ rows }))
    return found.map((row) => ({
      triggerKey: triggerKeyOf(row),
      state: firingStateOf(row),
      plannedTimeMs: readable(instant, row, 'sched_time', 0),
    }))
  }

  /**
   * Deletes claims whose trigger is not ACQUIRED any more, and answers them; called after an operation took triggers
   * out of that state.
   */
  *deleteStaleClaims(): SqlProgram<readonly FiredRow[]> {
    return decodedFirings(yield* all(this.#statements.deleteStaleClaims({ scheduler: this.#scheduler })))
  }

  /** Locks claims that other nodes could have fired by this instant and whose rows no other session has locked. */
  *tryLockOverdueOfPeers(byMs: EpochMs): SqlProgram<readonly FiredRow[]> {
    const values = { scheduler: this.#scheduler, instance: this.#instance, by: byMs }
    return decodedFirings(yield* all(this.#statements.tryLockOverdueOfPeers(values)))
  }

  /** The executions in flight on every node. */
  *allExecuting(): SqlProgram<readonly FiredRow[]> {
    return decodedFirings(yield* all(this.#statements.allExecuting({ scheduler: this.#scheduler })))
  }

  /** How many executions are in flight on each node, by its instance id. */
  *countExecuting(): SqlProgram<ReadonlyMap<string, number>> {
    const rows = yield* all(this.#statements.countExecuting({ scheduler: this.#scheduler }))
    return new Map(rows.map((row) => [anyText(row, 'instance_name'), integer(row, 'executions')]))
  }

  /** The jobs among these that have an execution in flight, on any node. */
  *executing(jobKeys: readonly JobKey[]): SqlProgram<readonly JobKey[]> {
    return yield* this.#jobsOf(this.#statements.executing, jobKeys)
  }

  /**
   * Makes the ends of executions in flight of these jobs unblock triggers, also if the jobs allowed concurrency when
   * they began. Waits for ends that are under way and do not see the job, which are those of rows that do not say so
   * yet, and all those of a job that this transaction has written.
   */
  *markNonConcurrent(jobKeys: readonly JobKey[]): SqlProgram<void> {
    const keyRows = jobKeyRows(this.#scheduler, jobKeys)
    yield* runOver(keyRows, (rows) => this.#statements.markNonConcurrent({ rows }))
  }

  /** Executions in flight of these jobs are not recovered. */
  *endRecoveryOf(jobKeys: readonly JobKey[]): SqlProgram<void> {
    const keyRows = jobKeyRows(this.#scheduler, jobKeys)
    yield* writeOver(keyRows, (rows) => this.#statements.endRecovery({ rows }))
  }

  /** The jobs among these that have a claim or an execution in flight, on any node. */
  *busy(jobKeys: readonly JobKey[]): SqlProgram<readonly JobKey[]> {
    return yield* this.#jobsOf(this.#statements.busy, jobKeys)
  }

  *#jobsOf(query: KeyQuery, jobKeys: readonly JobKey[]): SqlProgram<readonly JobKey[]> {
    const keyRows = jobKeyRows(this.#scheduler, jobKeys)
    const found = yield* runOver(keyRows, (rows) => query({ rows }))
    const seen = new KeySet<JobKey>()
    return found.map(jobKeyOf).filter((key) => seen.add(key))
  }

  #own(fireInstanceIds: readonly string[]): OwnRows {
    return { instance: this.#instance, rows: this.#rowsOf(fireInstanceIds) }
  }

  #rowsOf(fireInstanceIds: readonly string[]): SqlRows {
    return fireInstanceIds.map((id) => ({ sched_name: this.#scheduler, entry_id: id }))
  }
}

/** Firings of a scheduler instance, by their ids. */
type OwnRows = { readonly instance: string; readonly rows: SqlRows }

interface FiredTriggerStatements {
  readonly insert: RowsQuery
  readonly tryLock: SqlQuery<OwnRows & { state: string }>
  readonly tryLockAllClaims: SqlQuery<{ scheduler: string; instance: string }>
  readonly find: SqlQuery<OwnRows & { state: string }>
  readonly tryDelete: SqlQuery<OwnRows & { state: string }>
  readonly tryDeleteAwaited: KeyQuery
  readonly findAwaited: KeyQuery
  readonly takeOver: SqlQuery<OwnRows>
  readonly begin: SqlQuery<OwnRows & { now: EpochMs }>
  readonly amend: RowSetQuery
  readonly delete: SqlQuery<OwnRows & { state: string }>
  readonly tryLockOfInstance: SqlQuery<{ scheduler: string; instance: string }>
  readonly deleteOfInstance: SqlQuery<OwnRows>
  readonly ownIds: SqlQuery<{ scheduler: string; instance: string }>
  readonly deleteAll: SqlQuery<{ scheduler: string }>
  readonly allExecuting: SqlQuery<{ scheduler: string }>
  readonly countExecuting: SqlQuery<{ scheduler: string }>
  readonly ofTriggers: KeyQuery
  readonly deleteStaleClaims: SqlQuery<{ scheduler: string }>
  readonly tryLockOverdueOfPeers: SqlQuery<{ scheduler: string; instance: string; by: EpochMs }>
  readonly executing: KeyQuery
  readonly busy: KeyQuery
  readonly markNonConcurrent: KeyQuery
  readonly endRecovery: KeyQuery
}

const entryColumns = { entry_id: 'text' } as const
const columns = Object.keys(firedColumns).join(', ')
const columnsOf = (alias: string): string => columns.replaceAll(/\w+/g, `${alias}.$&`)

export function firedTriggerStatements(vocabulary: SqlVocabulary): FiredTriggerStatements {
  const { dialect, names } = vocabulary
  const fired = names.firedTriggers
  const key = withScheduler(entryColumns)
  const place = { table: fired, alias: 'f', key: entryColumns }
  const isOwn = `${isRow(dialect, 'f', entryColumns)} AND f.instance_name = :instance`
  const own = `FROM ${boundRows(dialect, key)} AS r CROSS JOIN ${fired} AS f WHERE ${isOwn} AND f.state = :state`
  return {
    ...statementsOfRecovery(vocabulary),
    ...statementsOfAwaited(vocabulary),
    ...statementsOfJobs(vocabulary),
    ...statementsOfPeers(vocabulary),
    insert: insertQuery(vocabulary, fired, firedColumns),
    tryLock: sqlQuery(dialect, tryLockText(dialect, own)),
    tryLockAllClaims: sqlQuery(
      dialect,
      tryLockText(dialect, `FROM ${fired} f WHERE ${ofInstance} AND f.state = 'ACQUIRED'`),
    ),
    find: sqlQuery(dialect, `SELECT f.entry_id ${own}`),
    tryDelete: sqlQuery(dialect, tryDeleteText(dialect, fired, own)),
    begin: sqlQuery(
      dialect,
      `UPDATE ${fired} AS f SET state = 'EXECUTING', fired_time = :now FROM ${boundRows(dialect, key)} AS r
       WHERE ${isOwn} AND f.state = 'ACQUIRED'`,
    ),
    amend: updateQuery(vocabulary, fired, entryColumns, amendable),
    delete: sqlQuery(
      dialect,
      deleteNamed(dialect, place, 'f.instance_name = :instance AND f.state = :state'),
    ),
    deleteStaleClaims: sqlQuery(
      dialect,
      // A session that has locked one of them is about to fire it, and passes it over while its trigger is locked here.
      // It is waited for: when its trigger is claimed anew, a claim that was left would fire a second time.
      `DELETE FROM ${fired} WHERE sched_name = :scheduler AND entry_id IN (
         SELECT f.entry_id FROM ${fired} f
         WHERE f.sched_name = :scheduler AND f.state = 'ACQUIRED' AND NOT EXISTS (
           SELECT 1 FROM ${names.triggers} t
           WHERE ${hasKeyOf(dialect, 't', 'f', triggerKeyColumns)} AND t.trigger_state = 'ACQUIRED')
         ${dialect.forUpdate('f')}) RETURNING ${columns}`,
    ),
  }
}

const ofInstance = 'f.sched_name = :scheduler AND f.instance_name = :instance'

/** Locks rows `f`, given from FROM on, in one order everywhere; those that another session holds are left out. */
function tryLockText(dialect: SqlDialect, rows: string): string {
  return `SELECT ${columnsOf('f')} ${rows} ${inOrder(dialect)}`
}

/** Locks them likewise and deletes them, by their ids, so that no row is looked up twice. */
function tryDeleteText(dialect: SqlDialect, fired: string, rows: string): string {
  const locked = `${rows} ${inOrder(dialect)}`
  return `DELETE FROM ${fired} AS t WHERE ${dialect.isAmongLocked('t', 'f', locked)} RETURNING ${columns}`
}

function inOrder(dialect: SqlDialect): string {
  return `ORDER BY f.entry_id ${dialect.forUpdateSkipLocked('f')}`
}

/** Claims `f` of other nodes than `:instance` and their triggers `t`, from FROM on. */
export function claimsOfPeers({ dialect, names }: SqlVocabulary): string {
  return `FROM ${names.firedTriggers} AS f CROSS JOIN ${names.triggers} AS t
    WHERE f.sched_name = :scheduler AND f.state = 'ACQUIRED' AND f.instance_name <> :instance
      AND ${hasKeyOf(dialect, 't', 'f', triggerKeyColumns)} AND t.trigger_state = 'ACQUIRED'`
}

/** Statements about claims of other nodes. */
function statementsOfPeers(vocabulary: SqlVocabulary): Pick<FiredTriggerStatements, 'tryLockOverdueOfPeers'> {
  const { dialect } = vocabulary
  return {
    // A session that has locked one of them is firing or releasing it.
    tryLockOverdueOfPeers: sqlQuery(
      dialect,
      tryLockText(
        dialect,
        `${claimsOfPeers(vocabulary)} AND t.next_fire_time <= :by AND f.fired_time <= :by`,
      ),
    ),
  }
}

type StatementsOfJobs = Pick<
  FiredTriggerStatements,
  'executing' | 'busy' | 'markNonConcurrent' | 'endRecovery'
>

/** Statements about firings of jobs, on any node. */
function statementsOfJobs({ dialect, names }: SqlVocabulary): StatementsOfJobs {
  const fired = names.firedTriggers
  const keys = boundRows(dialect, withScheduler(jobKeyColumns))
  const isNamed = isRow(dialect, 'f', jobKeyColumns, 'job_name')
  const unmarked = 'NOT COALESCE(f.is_nonconcurrent, false)'
  const { places } = dialect
  // Where a transaction excludes all other writers, no end is under way.
  const toWrite =
    places === undefined
      ? unmarked
      : `(${unmarked} OR EXISTS (
           SELECT 1 FROM ${names.jobs} AS j
           WHERE ${hasKeyOf(dialect, 'j', 'f', jobKeyColumns)} AND ${places.isWrittenHere('j')}))`
  // The state is in no index: PostgreSQL may read an index whole where it has all that is asked for, or the order.
  const jobs = `SELECT f.job_name, f.job_group, f.state FROM ${fired} f JOIN ${keys} AS r ON ${isNamed}`
  return {
    executing: sqlQuery(dialect, `${jobs} WHERE f.state = 'EXECUTING'`),
    busy: sqlQuery(dialect, jobs),
    markNonConcurrent: sqlQuery(
      dialect,
      `UPDATE ${fired} AS f SET is_nonconcurrent = true FROM ${keys} AS r
       WHERE ${isNamed} AND f.state = 'EXECUTING' AND ${toWrite}`,
    ),
    endRecovery: sqlQuery(
      dialect,
      `UPDATE ${fired} AS f SET requests_recovery = false FROM ${keys} AS r
       WHERE ${isNamed} AND f.state = 'EXECUTING' AND f.requests_recovery`,
    ),
  }
}

/** Statements about executions that go on elsewhere, of any node. */
function statementsOfAwaited({
  dialect,
  names,
}: SqlVocabulary): Pick<FiredTriggerStatements, 'tryDeleteAwaited' | 'findAwaited' | 'takeOver'> {
  const fired = names.firedTriggers
  const bound = `${boundRows(dialect, withScheduler(entryColumns))} AS r`
  const isNamed = isRow(dialect, 'f', entryColumns)
  const rows = `FROM ${bound} CROSS JOIN ${fired} AS f
    WHERE ${isNamed} AND f.state = 'EXECUTING' AND ${isAwaited({ dialect, names })}`
  return {
    tryDeleteAwaited: sqlQuery(dialect, tryDeleteText(dialect, fired, rows)),
    findAwaited: sqlQuery(dialect, `SELECT f.entry_id ${rows}`),
    takeOver: sqlQuery(
      dialect,
      `UPDATE ${fired} AS f SET instance_name = :instance FROM ${bound} WHERE ${isNamed}`,
    ),
  }
}

type StatementsOfRecovery = Pick<
  FiredTriggerStatements,
  | 'tryLockOfInstance'
  | 'deleteOfInstance'
  | 'ownIds'
  | 'allExecuting'
  | 'countExecuting'
  | 'deleteAll'
  | 'ofTriggers'
>

/** Statements about firings of any node. */
function statementsOfRecovery(vocabulary: SqlVocabulary): StatementsOfRecovery {
  const { dialect, names } = vocabulary
  const fired = names.firedTriggers
  return {
    tryLockOfInstance: sqlQuery(dialect, tryLockText(dialect, `FROM ${fired} f WHERE ${ofInstance}`)),
    deleteOfInstance: sqlQuery(
      dialect,
      deleteNamed(dialect, { table: fired, alias: 'f', key: entryColumns }, 'f.instance_name = :instance'),
    ),
    ownIds: sqlQuery(
      dialect,
      `SELECT f.entry_id FROM ${fired} f WHERE ${ofInstance} AND NOT ${isAwaited({ dialect, names })}`,
    ),
    allExecuting: sqlQuery(
      dialect,
      `SELECT ${columns} FROM ${fired}
       WHERE sched_name = :scheduler AND state = 'EXECUTING' ORDER BY fired_time, entry_id`,
    ),
    countExecuting: sqlQuery(
      dialect,
      `SELECT instance_name, count(*) AS executions FROM ${fired}
       WHERE sched_name = :scheduler AND state = 'EXECUTING' GROUP BY instance_name`,
    ),
    deleteAll: sqlQuery(
      dialect,
      `DELETE FROM ${fired} AS f WHERE f.sched_name = :scheduler AND NOT ${isAwaited({ dialect, names })}
       RETURNING ${columns}`,
    ),
    ofTriggers: sqlQuery(
      dialect,
      `SELECT f.entry_id, f.trigger_name, f.trigger_group, f.state, f.sched_time
       FROM ${fired} f JOIN ${boundRows(dialect, withScheduler(triggerKeyColumns))} AS r
         ON ${isRow(dialect, 'f', triggerKeyColumns)}`,
    ),
  }
}
