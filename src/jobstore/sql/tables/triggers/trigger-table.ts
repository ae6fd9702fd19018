import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap, lastOfEach } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { JobDetail } from '../../../../jobs/job-detail.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import { misfireInstructionCode } from '../../../../triggers/misfire-instruction.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { ScheduleTable } from '../../../../triggers/trigger-family.ts'
import { groupsOfParts } from '../../../split-firing.ts'
import type { StoredTriggerState, TriggerAction } from '../../../trigger-state.ts'
import {
  changeRows,
  chunksOf,
  type RowSetQuery,
  type RowsQuery,
  readRows,
  runOver,
  type SetQuery,
  storeRows,
  writeOver,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, first, later, type SqlProgram, type SqlRow, type SqlValue } from '../../kernel/statement.ts'
import { brokenRow } from '../encoding/broken-row.ts'
import {
  anyText,
  boolean,
  instantOrNull,
  integer,
  integerOrNull,
  readable,
  textOrNull,
} from '../encoding/columns.ts'
import type { JobDataEncoding, WrittenJobData } from '../encoding/job-data-text.ts'
import {
  asLookedUp,
  jobKeyColumns,
  jobKeyOf,
  jobKeyRows,
  requireUsableKeys,
  triggerKeyColumns,
  triggerKeyOf,
  triggerKeyRows,
} from '../encoding/key-rows.ts'
import { jobBesideTrigger, jobTypeOf, requireJobBeside } from '../jobs/job-rows.ts'
import { type AdvancingRows, advanceRows } from './advancing.ts'
import { type Ahead, type AheadRequest, aheadOf, type DueRequest, DueStatements } from './due-statements.ts'
import { requireReadByJava } from './read-by-java.ts'
import { scheduleTableNames, storedTables } from './schedule-tables.ts'
import { timesValue } from './schedule-values.ts'
import { SearchedTable } from './searched-table.ts'
import { stateOf, TriggerDecoder } from './trigger-decoder.ts'
import { firedOnceColumns, fireTimeColumns, hasFiredOnce, scheduleRow, triggerRow } from './trigger-rows.ts'
import { type SubTable, subTables, type TriggerStatements, triggerStatements } from './trigger-statements.ts'

export interface StoredTrigger {
  readonly trigger: Trigger
  readonly state: StoredTriggerState
}

/** A trigger that was moved on. */
export interface AdvancedTrigger extends StoredTrigger {
  /** The id of its row, if this transaction has locked the row and not changed it. */
  readonly rowId?: SqlValue | undefined
}

/** A row of `triggers` without its sub-table, which is enough for most decisions. */
export interface TriggerRef {
  readonly key: TriggerKey
  readonly jobKey: JobKey
  readonly state: StoredTriggerState
  readonly nextFireTimeMs: EpochMs | null
  readonly calendarName: string | null
  /** The stored type of its family: SIMPLE, CRON, ..., BLOB, or one that this node does not know. */
  readonly storedType: string
  readonly misfireIsIgnored: boolean
}

/** An unreadable row: an unknown type, a missing sub-row, data that Java serialized. */
export interface BrokenTrigger {
  readonly key: TriggerKey
  readonly error: Error
}

export interface LoadedTriggers {
  readonly found: KeyMap<TriggerKey, StoredTrigger>
  readonly broken: readonly BrokenTrigger[]
}

/** A due trigger, as a search found it. */
export interface DueTrigger {
  readonly key: TriggerKey
  readonly jobKey: JobKey
  readonly jobType: string
  readonly nonConcurrent: boolean
  readonly requestsRecovery: boolean
  readonly nextFireTimeMs: EpochMs
  readonly misfireIsIgnored: boolean
  /** Present when only some nodes are to run it. */
  readonly isForNodes?: true
  /** Present when its firing is split into items. */
  readonly isSplit?: true
  /** The id of the row in this transaction, independent of its columns. */
  readonly rowId: SqlValue
  /** What was read, of the trigger and of its job. */
  readonly row: SqlRow
  /** Why the row cannot be read; absent in a readable one. */
  readonly fault?: Error
}

/** The rows of `triggers` and of its sub-tables. */
export class TriggerTable {
  readonly #vocabulary: SqlVocabulary
  readonly #schedulerName: string
  #encoding: WrittenJobData
  readonly #statements: TriggerStatements
  readonly #due: DueStatements
  readonly #searched: SearchedTable
  readonly #families: TriggerFamilies
  readonly #decoder: TriggerDecoder
  readonly #sharedWithJava: boolean

  constructor(vocabulary: SqlVocabulary, encoding: JobDataEncoding) {
    this.#sharedWithJava = vocabulary.sharedWithJava === true
    this.#vocabulary = vocabulary
    this.#schedulerName = vocabulary.schedulerName
    this.#encoding = encoding
    this.#statements = triggerStatements(vocabulary)
    this.#due = new DueStatements(vocabulary)
    this.#families = vocabulary.triggerFamilies ?? TriggerFamilies.ofLibrary
    this.#searched = new SearchedTable(this.#families)
    this.#decoder = new TriggerDecoder(this.#families, this.#sharedWithJava)
  }

  /** From now on nothing with data can be stored, see {@link WrittenJobData}. */
  refuseData(): void {
    this.#encoding = 'none'
  }

  /**
   * Stores rows of new keys. The rows of many are made a part at a time, while the engine stores the part before.
   *
   * @throws InvalidArgumentError for values that do not fit their columns, or triggers that do not suit Java nodes
   *   that share the tables, before the statements of their part are sent
   */
  *insert(entries: readonly StoredTrigger[]): SqlProgram<void> {
    for (const some of chunksOf(entries)) {
      const rows = this.#rows(some)
      yield* this.#store(rows.triggers, this.#statements.insert)
      for (const table of scheduleTableNames) {
        yield* this.#store(rows[table], this.#statements.insertInto[table])
      }
    }
  }

  /** @throws InvalidArgumentError for a trigger whose values do not fit the columns */
  requireStorable(trigger: Trigger): void {
    this.#rows([{ trigger, state: 'WAITING' }])
  }

  /** Stores whole rows over those of the same key and any type. */
  *put(entries: readonly StoredTrigger[]): SqlProgram<void> {
    if (entries.length === 0) return
    // One statement cannot write the same row twice.
    const unique = lastOfEach(entries, ({ trigger }) => trigger.key)
    const rows = this.#rows(unique)
    const types = unique.map(({ trigger }) => {
      return { ...this.#keyColumns(trigger.key), trigger_type: this.#families.of(trigger).storedType }
    })
    const retyped = yield* this.#over(types, this.#statements.selectRetyped)
    yield* this.#store(rows.triggers, this.#statements.upsert)
    const rests = retyped.map((row) => ({ key: triggerKeyOf(row), storedType: anyText(row, 'trigger_type') }))
    yield* this.#deleteSubRows(rests)
    for (const table of scheduleTableNames) {
      yield* this.#store(rows[table], this.#statements.upsertInto[table])
    }
  }

  /** @throws InvalidArgumentError for a trigger that {@link reschedule} cannot write: its family computed it so */
  requireReschedulable(trigger: Trigger): void {
    const family = this.#families.of(trigger)
    if (family.keepsScheduleOnMisfire !== true) scheduleRow(family, trigger)
  }

  /** Writes the columns that a misfire instruction changes into existing rows; their data stay as they are. */
  *reschedule(entries: readonly StoredTrigger[]): SqlProgram<void> {
    const rows = entries.map(({ trigger, state }) => ({
      ...this.#keyColumns(trigger.key),
      ...fireTimeColumns(trigger),
      trigger_state: state,
      start_time: trigger.startTimeMs,
    }))
    yield* changeRows(rows, this.#statements.reschedule)
    const changed = perTable()
    for (const { trigger } of entries) {
      const family = this.#families.of(trigger)
      if (family.keepsScheduleOnMisfire === true) continue
      changed[family.table].push({ ...this.#keyColumns(trigger.key), ...scheduleRow(family, trigger) })
    }
    for (const table of scheduleTableNames) {
      yield* changeRows(changed[table], this.#statements.rewriteIn[table])
    }
  }

  /**
   * Writes state and fire state (next, previous, misfired time, times triggered) and nothing else. Of a trigger that
   * has fired once and for the last time, the count is not written: see `firedOnceColumns`. `before` is the state that
   * all of them are in, where that is known.
   */
  *advance(entries: readonly AdvancedTrigger[], before?: StoredTriggerState): SqlProgram<void> {
    // Java nodes read the counts as they stand.
    const isCounted = ({ trigger }: StoredTrigger): boolean => this.#sharedWithJava || !hasFiredOnce(trigger)
    const { advance, advanceWaiting } = this.#statements
    const changing: AdvancingRows = { byKey: [], byPlace: [] }
    const waiting: AdvancingRows = advanceWaiting === undefined ? changing : { byKey: [], byPlace: [] }
    for (const entry of entries) {
      const { trigger, state, rowId } = entry
      const columns = isCounted(entry) ? fireTimeColumns(trigger) : firedOnceColumns(trigger)
      const rows = state === before && state === 'WAITING' ? waiting : changing
      if (rowId === undefined || advance.byPlace === undefined) {
        rows.byKey.push(Object.assign(this.#keyColumns(trigger.key), columns, { trigger_state: state }))
      } else rows.byPlace.push(Object.assign({ row_id: rowId, trigger_state: state }, columns))
    }
    yield* advanceRows(changing, advance)
    if (advanceWaiting !== undefined) yield* advanceRows(waiting, advanceWaiting)
    const times = perTable()
    for (const { trigger } of entries.filter(isCounted)) {
      const { table } = this.#families.of(trigger)
      times[table].push(Object.assign(this.#keyColumns(trigger.key), timesValue(trigger, table)))
    }
    for (const table of scheduleTableNames) yield* changeRows(times[table], this.#statements.countIn[table])
  }

  /** Reads whole triggers; keys that do not exist are left out. */
  *load(keys: readonly TriggerKey[]): SqlProgram<LoadedTriggers> {
    return this.#loaded(yield* this.#over(triggerKeyRows(this.#schedulerName, keys), this.#statements.load))
  }

  /** In order of keys. */
  *loadOfJob(key: JobKey): SqlProgram<LoadedTriggers> {
    return this.#loaded(yield* this.#over(jobKeyRows(this.#schedulerName, [key]), this.#statements.loadOfJob))
  }

  /** Locks and answers existing rows, in order of keys. */
  *lock(keys: readonly TriggerKey[]): SqlProgram<readonly TriggerRef[]> {
    return yield* this.#refs(keys, this.#statements.lock)
  }

  /** The same, leaving out rows that another transaction holds. */
  *tryLock(keys: readonly TriggerKey[]): SqlProgram<readonly TriggerRef[]> {
    return yield* this.#refs(keys, this.#statements.tryLock)
  }

  *#refs(keys: readonly TriggerKey[], query: RowSetQuery): SqlProgram<readonly TriggerRef[]> {
    const rows = triggerKeyRows(this.#schedulerName, asLookedUp(this.#vocabulary, keys))
    return (yield* readRows(rows, query)).map(refOf)
  }

  /** Locks the rows of schedules of due triggers; answers the triggers whose row another transaction holds. */
  *lockSchedules(due: readonly DueTrigger[]): SqlProgram<readonly TriggerKey[]> {
    const held: TriggerKey[] = []
    for (const table of scheduleTableNames) {
      const { alias } = storedTables[table]
      // Undefined where the search has not joined the table.
      const keys = due
        .filter(({ row }) => (row[`${alias}_trigger_name`] ?? null) !== null)
        .map(({ key }) => key)
      if (keys.length === 0) continue
      const rows = triggerKeyRows(this.#schedulerName, keys)
      const locked = new KeySet((yield* readRows(rows, this.#statements.tryLockIn[table])).map(triggerKeyOf))
      held.push(...keys.filter((key) => !locked.has(key)))
    }
    return held
  }

  *lockOfJobs(keys: readonly JobKey[]): SqlProgram<readonly TriggerRef[]> {
    return (yield* this.#over(jobKeyRows(this.#schedulerName, keys), this.#statements.lockOfJobs)).map(refOf)
  }

  *lockOfCalendar(name: string): SqlProgram<readonly TriggerRef[]> {
    const scheduler = this.#schedulerName
    return (yield* all(this.#statements.lockOfCalendar({ scheduler, name }))).map(refOf)
  }

  /**
   * Locks waiting triggers that are due, in the order in which they fire, leaving out those that another transaction
   * has locked and those of non-concurrent jobs that have a claim or an execution in flight.
   */
  *lockDue(request: DueRequest): SqlProgram<readonly DueTrigger[]> {
    const { alone } = this.#searched
    const rows = yield* all(this.#due.of('lock', request, alone === null ? undefined : [alone]))
    if (this.#searched.note(rows)) return rows.map(dueOf)
    return (yield* all(this.#due.of('lock', request))).map(dueOf)
  }

  /** The trigger of a due one. @throws JobPersistenceError ERR_BROKEN_ROW */
  triggerOf({ key, row }: DueTrigger): Trigger {
    try {
      return this.#decoder.decode(key, row).trigger
    } catch (error) {
      throw brokenRow('Trigger', key, error)
    }
  }

  /** The job of a due trigger. @throws JobPersistenceError ERR_BROKEN_ROW */
  jobOf({ jobKey, row }: DueTrigger): JobDetail {
    try {
      return jobBesideTrigger(jobKey, row)
    } catch (error) {
      throw brokenRow('Job', jobKey, error)
    }
  }

  /** The job types of the triggers that {@link lockDue} would look at, without locking them. */
  *dueJobTypes(request: DueRequest): SqlProgram<readonly string[]> {
    const rows = yield* all(this.#due.of('types', request))
    return rows.map((row) => readable(textOrNull, row, 'job_class_name', null) ?? '')
  }

  /** What is ahead of this node, of the triggers that {@link lockDue} would look at. */
  *lookAhead(request: AheadRequest, instance: string): SqlProgram<Ahead> {
    return aheadOf((yield* first(this.#due.look(request, instance))) ?? {})
  }

  /**
   * Carries out an action on all triggers of these jobs; answers the earliest fire time of those that are WAITING then.
   */
  *applyToJobs(action: TriggerAction, keys: readonly JobKey[]): SqlProgram<EpochMs | null> {
    let earliestMs: EpochMs | null = null
    for (const row of yield* this.#over(
      jobKeyRows(this.#schedulerName, keys),
      this.#statements.apply[action],
    )) {
      const nextMs = stateOf(row) === 'WAITING' ? readable(instantOrNull, row, 'next_fire_time', null) : null
      if (nextMs !== null && (earliestMs === null || nextMs < earliestMs)) earliestMs = nextMs
    }
    return earliestMs
  }

  /** Blocks those triggers of these jobs that can be blocked. */
  *block(keys: readonly JobKey[]): SqlProgram<void> {
    yield* this.#write(jobKeyRows(this.#schedulerName, keys), this.#statements.apply.block)
  }

  /** Sets the state of locked rows one by one. */
  *setStates(
    states: readonly { readonly key: TriggerKey; readonly state: StoredTriggerState }[],
  ): SqlProgram<void> {
    const rows = states.map(({ key, state }) => ({ ...this.#keyColumns(key), trigger_state: state }))
    yield* changeRows(rows, this.#statements.setState)
  }

  /** Sets the state of rows that may not be found by their keys, as `lockDue` has just named them. */
  *setStatesOfRows(rowIds: readonly SqlValue[], state: StoredTriggerState): SqlProgram<void> {
    const rows = JSON.stringify(rowIds)
    yield* later(this.#statements.setStateOfRows({ scheduler: this.#schedulerName, rows, state }))
  }

  /** Deletes locked rows and their sub-rows. */
  *delete(refs: readonly Pick<TriggerRef, 'key' | 'storedType'>[]): SqlProgram<void> {
    yield* this.#deleteSubRows(refs)
    yield* changeRows(
      triggerKeyRows(
        this.#schedulerName,
        refs.map(({ key }) => key),
      ),
      this.#statements.delete,
    )
  }

  /** Deletes all rows and their sub-rows. */
  *clear(): SqlProgram<void> {
    const scheduler = this.#schedulerName
    for (const clear of Object.values(this.#statements.clear)) yield* later(clear({ scheduler }))
  }

  *#deleteSubRows(refs: readonly Pick<TriggerRef, 'key' | 'storedType'>[]): SqlProgram<void> {
    const keys: Record<SubTable, TriggerKey[]> = { ...perTable<TriggerKey>(), blob_triggers: [] }
    for (const { key, storedType } of refs) {
      for (const table of this.#subTablesOf(storedType)) keys[table].push(key)
    }
    for (const table of subTables) {
      yield* changeRows(triggerKeyRows(this.#schedulerName, keys[table]), this.#statements.deleteFrom[table])
    }
  }

  /** The sub-table of a stored type; all sub-tables for an unknown type. */
  #subTablesOf(storedType: string): readonly SubTable[] {
    if (storedType === 'BLOB') return ['blob_triggers']
    const family = this.#families.ofStoredType(storedType)
    return family === null ? subTables : [family.table]
  }

  #rows(entries: readonly StoredTrigger[]): Record<ScheduleTable | 'triggers', object[]> {
    const rows = { ...perTable(), triggers: [] as object[] }
    for (const { trigger, state } of entries) {
      const family = this.#families.of(trigger)
      if (this.#sharedWithJava) requireReadByJava(trigger, family)
      rows.triggers.push(triggerRow(family, trigger, state, this.#encoding))
      rows[family.table].push(scheduleRow(family, trigger))
    }
    return rows
  }

  #keyColumns({ name, group }: TriggerKey): object {
    return { sched_name: this.#schedulerName, trigger_name: name, trigger_group: group }
  }

  #loaded(rows: readonly SqlRow[]): LoadedTriggers {
    const found = new KeyMap<TriggerKey, StoredTrigger>()
    const broken: BrokenTrigger[] = []
    for (const row of rows) {
      const key = triggerKeyOf(row)
      try {
        found.set(key, this.#decoder.decode(key, row))
      } catch (error) {
        broken.push({ key, error: brokenRow('Trigger', key, error) })
      }
    }
    return { found, broken }
  }

  #store(rows: readonly object[], query: RowsQuery): SqlProgram<void> {
    return storeRows(this.#schedulerName, rows, query)
  }

  #write(rows: readonly object[], query: SetQuery): SqlProgram<void> {
    const scheduler = this.#schedulerName
    return writeOver(rows, (some) => query({ scheduler, rows: some }))
  }

  #over(rows: readonly object[], query: SetQuery): SqlProgram<readonly SqlRow[]> {
    const scheduler = this.#schedulerName
    return runOver(rows, (some) => query({ scheduler, rows: some }))
  }
}

function perTable<Row = object>(): Record<ScheduleTable, Row[]> {
  return { simple_triggers: [], cron_triggers: [], simprop_triggers: [] }
}

/** An unreadable value is left out: a program that needs it reads the whole row, and reports it as broken. */
function refOf(row: SqlRow): TriggerRef {
  return {
    key: triggerKeyOf(row),
    jobKey: jobKeyOf(row),
    // An unknown state counts as ERROR, which an operator resets.
    state: stateOf(row) ?? 'ERROR',
    nextFireTimeMs: readable(instantOrNull, row, 'next_fire_time', null),
    calendarName: readable(textOrNull, row, 'calendar_name', null),
    storedType: anyText(row, 'trigger_type'),
    misfireIsIgnored: readable(misfireIsIgnored, row, 'misfire_instr', false),
  }
}

function dueOf(row: SqlRow): DueTrigger {
  const names = { key: triggerKeyOf(row), jobKey: jobKeyOf(row), rowId: row['row_id'] as SqlValue, row }
  try {
    requireUsableKeys(row, triggerKeyColumns, jobKeyColumns)
    requireJobBeside(names.jobKey, row)
    // Field by field, because spreading takes ten times as long, and this is done for each firing.
    const due: DueTrigger = {
      key: names.key,
      jobKey: names.jobKey,
      rowId: names.rowId,
      row,
      jobType: jobTypeOf(row),
      nonConcurrent: boolean(row, 'is_nonconcurrent'),
      requestsRecovery: boolean(row, 'requests_recovery'),
      nextFireTimeMs: integer(row, 'next_fire_time'),
      misfireIsIgnored: misfireIsIgnored(row, 'misfire_instr'),
    }
    const isForNodes = textOrNull(row, 'node_affinity') !== null
    const isToSplit = textOrNull(row, 'sharding') !== null && !groupsOfParts.includes(due.key.group)
    if (!isForNodes && !isToSplit) return due
    return { ...due, ...(isForNodes ? { isForNodes } : {}), ...(isToSplit ? { isSplit: isToSplit } : {}) }
  } catch (error) {
    const fault = brokenRow('Trigger', names.key, error)
    return { ...names, ...nothingKnown, fault }
  }
}

const nothingKnown = {
  jobType: '',
  nonConcurrent: false,
  requestsRecovery: false,
  nextFireTimeMs: 0,
  misfireIsIgnored: true,
} as const

const ignoreCode = misfireInstructionCode('ignore')

function misfireIsIgnored(row: SqlRow, column: string): boolean {
  return integerOrNull(row, column) === ignoreCode
}
