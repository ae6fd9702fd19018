import { JobPersistenceError } from '../../../../core/errors.ts'
import { textOf } from '../../../../core/thrown-value.ts'
import type { Calendar } from '../../../../triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../../../../triggers/calendars/calendar-json.ts'
import { boundRows, clearQuery, runOver, type SetQuery } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  later,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  sqlQuery,
} from '../../kernel/statement.ts'
import { BoundedCache } from '../encoding/bounded-cache.ts'
import { brokenRow } from '../encoding/broken-row.ts'
import { anyText, bytesOrNull, text } from '../encoding/columns.ts'
import { isJavaSerialized } from '../encoding/job-data-text.ts'
import { columnWidths, fits, requireFits } from '../encoding/limits.ts'
import { storableJson } from '../encoding/storable-text.ts'

/** How many calendars are cached. */
const calendarsKept = 200

/** The rows of `calendars`. */
export class CalendarTable {
  readonly #schedulerName: string
  readonly #statements: CalendarStatements
  readonly #read = new BoundedCache<{ readonly json: string; readonly calendar: Calendar }>(calendarsKept)

  constructor(vocabulary: SqlVocabulary) {
    this.#schedulerName = vocabulary.schedulerName
    this.#statements = calendarStatements(vocabulary)
  }

  /** The calendars of these names; a name that does not exist is left out, one that cannot be read is an error. */
  *load(names: readonly string[]): SqlProgram<ReadonlyMap<string, Calendar | Error>> {
    const scheduler = this.#schedulerName
    const wanted = names.filter((name) => fits(name, columnWidths.calendarName))
    const found = yield* runOver(
      wanted.map((name) => ({ name })),
      (rows) => this.#statements.load({ scheduler, rows }),
    )
    return new Map(
      found.map((row) => {
        const name = text(row, 'calendar_name')
        return [name, this.#calendarOf(name, row)]
      }),
    )
  }

  *exists(name: string): SqlProgram<boolean> {
    if (!fits(name, columnWidths.calendarName)) return false
    return (yield* first(this.#statements.exists({ scheduler: this.#schedulerName, name }))) !== null
  }

  /** @throws InvalidArgumentError for a name that does not fit its column, and a calendar that could not be read */
  *put(name: string, calendar: Calendar): SqlProgram<void> {
    requireFits({ kind: 'Calendar', identity: name }, 'name', name, columnWidths.calendarName)
    const json = storableJson(calendar.toJSON())
    calendarFromJSON(JSON.parse(json))
    yield* run(this.#statements.put({ scheduler: this.#schedulerName, name, json }))
  }

  /** False when there is no such calendar. */
  *delete(name: string): SqlProgram<boolean> {
    if (!fits(name, columnWidths.calendarName)) return false
    return (yield* run(this.#statements.delete({ scheduler: this.#schedulerName, name }))) > 0
  }

  /** Deletes all rows. */
  *clear(): SqlProgram<void> {
    yield* later(this.#statements.clear({ scheduler: this.#schedulerName }))
  }

  /** In order. */
  *names(): SqlProgram<readonly string[]> {
    const rows = yield* all(this.#statements.names({ scheduler: this.#schedulerName }))
    return rows.map((row) => anyText(row, 'calendar_name'))
  }

  #calendarOf(name: string, row: SqlRow): Calendar | Error {
    try {
      const bytes = bytesOrNull(row, 'calendar') ?? Buffer.alloc(0)
      if (isJavaSerialized(bytes)) return brokenRow('Calendar', name, serializedByJava())
      const json = bytes.toString('utf8')
      const known = this.#read.get(name)
      if (known?.json === json) return known.calendar
      const calendar = calendarFromJSON(JSON.parse(json))
      this.#read.set(name, { json, calendar })
      return calendar
    } catch (error) {
      return brokenRow('Calendar', name, withRemedy(error))
    }
  }
}

function withRemedy(error: unknown): JobPersistenceError {
  const problem = textOf(error).replace(/\.$/, '')
  return new JobPersistenceError(`${problem}. Store it anew under its name, or delete it.`, { cause: error })
}

function serializedByJava(): JobPersistenceError {
  return new JobPersistenceError(
    'Java serialized it, so only Java can read it. Store it anew here under another name, or leave its triggers to ' +
      'Java nodes.',
    { code: 'ERR_BROKEN_ROW' },
  )
}

interface CalendarStatements {
  readonly load: SetQuery
  readonly exists: SqlQuery<{ readonly scheduler: string; readonly name: string }>
  readonly put: SqlQuery<{ readonly scheduler: string; readonly name: string; readonly json: string }>
  readonly delete: SqlQuery<{ readonly scheduler: string; readonly name: string }>
  readonly clear: SqlQuery<{ readonly scheduler: string }>
  readonly names: SqlQuery<{ readonly scheduler: string }>
}

export function calendarStatements(vocabulary: SqlVocabulary): CalendarStatements {
  const {
    dialect,
    names: { calendars },
  } = vocabulary
  const isCalendar = 'sched_name = :scheduler AND calendar_name = :name'
  return {
    load: sqlQuery(
      dialect,
      `SELECT c.calendar_name, c.calendar
       FROM ${boundRows(dialect, { name: 'text' })} AS r CROSS JOIN ${calendars} AS c
       WHERE c.sched_name = :scheduler AND c.calendar_name = r.name`,
    ),
    exists: sqlQuery(dialect, `SELECT 1 AS found FROM ${calendars} WHERE ${isCalendar}`),
    put: sqlQuery(
      dialect,
      `INSERT INTO ${calendars} (sched_name, calendar_name, calendar)
       VALUES (:scheduler, :name, ${dialect.textToBytes(':json')})
       ON CONFLICT (sched_name, calendar_name) DO UPDATE SET calendar = excluded.calendar`,
    ),
    delete: sqlQuery(dialect, `DELETE FROM ${calendars} WHERE ${isCalendar}`),
    clear: clearQuery(vocabulary, calendars),
    names: sqlQuery(
      dialect,
      `SELECT calendar_name FROM ${calendars} WHERE sched_name = :scheduler
       ORDER BY calendar_name ${dialect.keyCollation}`,
    ),
  }
}
