import type { TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { KeySet } from '../../../../core/key-set.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { CommitNotes } from '../../kernel/commit-notes.ts'
import {
  boundRows,
  hasKeyOf,
  isRow,
  type KeyQuery,
  lookedUp,
  runOver,
  withScheduler,
  writeOver,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, type SqlProgram, type SqlQuery, type SqlRow, sqlQuery } from '../../kernel/statement.ts'
import { boolean, integer, textOrNull } from '../encoding/columns.ts'
import { jobKeyColumns, triggerKeyColumns, triggerKeyOf, triggerKeyRows } from '../encoding/key-rows.ts'
import {
  hasUnreadValue,
  isOfSchedule,
  joinsOfJava,
  UnreadSchedules,
  unreadColumns,
} from './unread-schedules.ts'

/** How long the result of a look for triggers to report is used. */
const lookIntervalMs = 1000
/** How many due triggers are looked at in one look, which other nodes may wait for. */
const lookedAtOnce = 1000
/** Most triggers that are reported of one look. */
const reportedAtOnce = 100
/** How many reported triggers are remembered. */
const rememberedMax = 100_000

/** A place in the order of the look. */
type Place = Readonly<Record<'afterMs' | 'afterGroup' | 'afterName', string | number>>

const beforeAll: Place = { afterMs: 0, afterGroup: '', afterName: '' }

function placeOf(row: SqlRow): Place {
  const { group, name } = triggerKeyOf(row)
  return { afterMs: integer(row, 'next_fire_time'), afterGroup: group, afterName: name }
}

export interface TriggerOfJava {
  readonly key: TriggerKey
  /** Why only Java can run it: a clause. */
  readonly reason: string
}

/** Two triggers of which the one is to have the data of the other. */
export interface DataCopy {
  readonly from: TriggerKey
  readonly to: TriggerKey
}

/**
 * In tables shared with Java nodes: the triggers that only those can run, because Java serialized their data or their
 * calendar, because they are of a type that only Java knows, or because a key is blank; or because Java wrote a zone or
 * an expression that this package does not read, or reads otherwise. They are left as they are.
 */
export class TriggersOfJava {
  readonly #schedulerName: string
  readonly #statements: StatementsOfJava
  #met = new KeySet<TriggerKey>()
  /** What searches leave out because this node cannot read it. */
  readonly unread: UnreadSchedules = new UnreadSchedules()
  #lookAtMs: EpochMs = 0
  /** Behind which due trigger the next look begins, where the last one was not of all. */
  #after: Place = beforeAll

  constructor(vocabulary: SqlVocabulary) {
    this.#schedulerName = vocabulary.schedulerName
    this.#statements = statementsOfJava(vocabulary)
  }

  /** The triggers to report: those that are about to fire and were not reported before. Looks once a second at most. */
  *newlyDue(nowMs: EpochMs, untilMs: EpochMs, notes: CommitNotes): SqlProgram<readonly TriggerOfJava[]> {
    // After a clock was set back it must still look.
    if (nowMs < this.#lookAtMs && nowMs >= this.#lookAtMs - lookIntervalMs) return []
    const unread = JSON.stringify(this.unread.values)
    const request = { scheduler: this.#schedulerName, untilMs, limit: lookedAtOnce, unread, ...this.#after }
    const rows = yield* all(this.#statements.due(request))
    const fresh: TriggerOfJava[] = []
    let last: Place = beforeAll
    for (const row of rows) {
      if (integer(row, 'place') === lookedAtOnce) last = placeOf(row)
      const key = triggerKeyOf(row)
      if (boolean(row, 'of_java') && !this.#met.has(key)) fresh.push({ key, reason: this.#reasonOf(row) })
    }
    const isMore = fresh.splice(reportedAtOnce).length > 0
    notes.add(() => {
      this.#lookAtMs = nowMs + lookIntervalMs
      if (!isMore) this.#after = last
      this.#remember(fresh)
    })
    return fresh
  }

  #remember(reported: readonly TriggerOfJava[]): void {
    if (this.#met.size > rememberedMax) this.#met = new KeySet()
    for (const { key } of reported) this.#met.add(key)
  }

  /**
   * The triggers among these that Java wrote, and whose zone or expression cannot be read here; and those of them that
   * are to be reported.
   */
  *unreadAmong(
    faulty: readonly { readonly key: TriggerKey; readonly error: unknown }[],
    notes: CommitNotes,
  ): SqlProgram<{ readonly keys: readonly TriggerKey[]; readonly fresh: readonly TriggerOfJava[] }> {
    const errors = new KeyMap<TriggerKey, unknown>()
    for (const { key, error } of faulty) if (isOfSchedule(error)) errors.set(key, error)
    const named = triggerKeyRows(this.#schedulerName, errors.keys())
    const found = yield* runOver(named, (rows) => this.#statements.ofJavaColumns({ rows }))
    const left = found.filter((row) => this.unread.note(row, errors.get(triggerKeyOf(row))))
    const fresh = left.flatMap((row) => {
      const key = triggerKeyOf(row)
      return this.#met.has(key) ? [] : [{ key, reason: this.#reasonOf(row) }]
    })
    notes.add(() => {
      this.#remember(fresh)
    })
    return { keys: left.map((row) => triggerKeyOf(row)), fresh }
  }

  #reasonOf(row: SqlRow): string {
    const problem = this.unread.problemIn(row)
    return problem === null ? reasonOf(row) : `this node cannot read its schedule: ${problem}`
  }

  /** Copies data that Java serialized, byte for byte. */
  *copyData(copies: readonly DataCopy[]): SqlProgram<void> {
    const rows = copies.map(({ from, to }) => ({
      sched_name: this.#schedulerName,
      trigger_name: to.name,
      trigger_group: to.group,
      from_name: from.name,
      from_group: from.group,
    }))
    yield* writeOver(rows, (some) => this.#statements.copyData({ rows: some }))
  }

  /** The keys among these whose triggers only Java can run. */
  *among(keys: readonly TriggerKey[]): SqlProgram<KeySet<TriggerKey>> {
    const named = triggerKeyRows(this.#schedulerName, keys)
    const found = yield* runOver(named, (rows) => this.#statements.among({ rows }))
    return new KeySet(found.map((row) => triggerKeyOf(row)))
  }
}

/** The condition that only Java can run the trigger `t` of the job `j`. */
export function isOfJava(vocabulary: SqlVocabulary): string {
  const { hasBlankKey, isOfOtherType, hasJavaData, hasJavaCalendar } = reasons(vocabulary)
  return `(${hasBlankKey} OR ${isOfOtherType} OR ${hasJavaData} OR ${hasJavaCalendar})`
}

/** Each is true or false, never null. */
function reasons({ dialect, names, triggerFamilies = TriggerFamilies.ofLibrary }: SqlVocabulary): {
  readonly hasBlankKey: string
  readonly isOfOtherType: string
  readonly hasJavaData: string
  readonly hasJavaCalendar: string
} {
  // The first bytes of Java's object streams.
  const isSerialized = (column: string): string => dialect.beginsWithBytes(column, 'aced')
  // Stored types have only capital letters, digits and underscores, which families check.
  const ourTypes = triggerFamilies.storedTypes
  const keyColumns = ['t.trigger_name', 't.trigger_group', 't.job_name', 't.job_group']
  return {
    hasBlankKey: `(${keyColumns.map((column) => dialect.isBlank?.(column) ?? 'false').join(' OR ')})`,
    isOfOtherType: `t.trigger_type NOT IN (${ourTypes.map((type) => `'${type}'`).join(', ')})`,
    hasJavaData: `((${isSerialized('t.job_data')}) IS TRUE OR (${isSerialized('j.job_data')}) IS TRUE)`,
    hasJavaCalendar: `(t.calendar_name IS NOT NULL AND
      (SELECT ${isSerialized('k.calendar')} FROM ${names.calendars} AS k
       WHERE k.sched_name = t.sched_name AND k.calendar_name = t.calendar_name) IS TRUE)`,
  }
}

interface DueParameters extends Place, Readonly<Record<string, string | number>> {
  readonly scheduler: string
  readonly untilMs: EpochMs
  readonly limit: number
  /** See {@link UnreadSchedules}. */
  readonly unread: string
}

interface StatementsOfJava {
  readonly due: SqlQuery<DueParameters>
  readonly among: KeyQuery
  readonly ofJavaColumns: KeyQuery
  readonly copyData: KeyQuery
}

export function statementsOfJava(vocabulary: SqlVocabulary): StatementsOfJava {
  return {
    due: dueQuery(vocabulary),
    among: amongQuery(vocabulary),
    ofJavaColumns: ofJavaColumnsQuery(vocabulary),
    copyData: copyDataQuery(vocabulary),
  }
}

function dueQuery(vocabulary: SqlVocabulary): SqlQuery<DueParameters> {
  const { dialect, names } = vocabulary
  const { hasBlankKey, isOfOtherType, hasJavaData } = reasons(vocabulary)
  const { keyCollation } = dialect
  const ofJava = `(${isOfJava(vocabulary)} OR ${hasUnreadValue(vocabulary)})`
  const order = `t.next_fire_time, t.trigger_group ${keyCollation}, t.trigger_name ${keyCollation}`
  return sqlQuery(
    dialect,
    `SELECT t.trigger_name, t.trigger_group, t.trigger_type, t.calendar_name, t.next_fire_time, t.place,
       ${hasBlankKey} AS has_blank_key, ${isOfOtherType} AS of_other_type, ${hasJavaData} AS has_java_data,
       ${unreadColumns}, ${ofJava} AS of_java
     FROM (
       SELECT t.*, row_number() OVER (ORDER BY ${order}) AS place FROM ${names.triggers} AS t
       WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING'
         AND t.next_fire_time > 0 AND t.next_fire_time >= :afterMs AND t.next_fire_time <= :untilMs
         AND (${order}) > (:afterMs, :afterGroup, :afterName)
       ORDER BY ${order} LIMIT :limit
     ) AS t LEFT JOIN ${names.jobs} AS j ON ${hasKeyOf(dialect, 'j', 't', jobKeyColumns)} ${joinsOfJava(vocabulary)}
     WHERE t.place = :limit OR ${ofJava}`,
  )
}

function amongQuery(vocabulary: SqlVocabulary): KeyQuery {
  const { dialect, names } = vocabulary
  return sqlQuery(
    dialect,
    `SELECT t.trigger_name, t.trigger_group
     FROM ${boundRows(dialect, withScheduler(triggerKeyColumns))} AS r
     CROSS JOIN ${names.triggers} AS t JOIN ${names.jobs} AS j
       ON ${hasKeyOf(dialect, 'j', 't', jobKeyColumns)}
     WHERE ${isRow(dialect, 't', triggerKeyColumns)} AND ${isOfJava(vocabulary)}`,
  )
}

/** The triggers that have nothing in the columns that this package adds for schedules, with their schedules. */
function ofJavaColumnsQuery(vocabulary: SqlVocabulary): KeyQuery {
  const { dialect, names } = vocabulary
  return sqlQuery(
    dialect,
    `SELECT t.trigger_name, t.trigger_group, ${unreadColumns}
     FROM ${boundRows(dialect, withScheduler(triggerKeyColumns))} AS r
     CROSS JOIN ${names.triggers} AS t ${joinsOfJava(vocabulary)}
     WHERE ${isRow(dialect, 't', triggerKeyColumns)}`,
  )
}

function copyDataQuery({ dialect, names }: SqlVocabulary): KeyQuery {
  const columns = { ...withScheduler(triggerKeyColumns), from_name: 'text', from_group: 'text' } as const
  return sqlQuery(
    dialect,
    `UPDATE ${names.triggers} AS t SET job_data = (
       SELECT o.job_data FROM ${names.triggers} AS o
       WHERE ${lookedUp(dialect, 'o.sched_name', 'r.sched_name')}
         AND o.trigger_name = r.from_name AND o.trigger_group = r.from_group)
     FROM ${boundRows(dialect, columns)} AS r WHERE ${isRow(dialect, 't', triggerKeyColumns)}`,
  )
}

function reasonOf(row: SqlRow): string {
  if (boolean(row, 'has_blank_key')) return 'its name or group, or that of its job, is blank'
  if (boolean(row, 'of_other_type')) {
    const type = textOrNull(row, 'trigger_type') ?? ''
    return `its type ${type} is ${type === 'BLOB' ? 'known to Java only' : 'not known to this node'}`
  }
  if (boolean(row, 'has_java_data')) return 'Java serialized its data or those of its job'
  return `Java serialized its calendar '${textOrNull(row, 'calendar_name') ?? ''}'`
}
