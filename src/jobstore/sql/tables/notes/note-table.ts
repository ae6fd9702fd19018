import type { SharedNote } from '../../../../jobs/job-store-notes.ts'
import { notesMax } from '../../../memory-notes.ts'
import { generationChars, generationInForce, scheduleSetNotes } from '../../../schedule-set-note.ts'
import { escapedForEncoding } from '../../kernel/poor-encoding.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import {
  all,
  first,
  run,
  type SqlProgram,
  type SqlQuery,
  type SqlRow,
  sqlQuery,
} from '../../kernel/statement.ts'
import { anyText, integer } from '../encoding/columns.ts'

/** The rows of `notes`: each is changed only in the version that was read. */
export class NoteTable {
  readonly #statements: NoteStatements
  readonly #scheduler: string

  constructor(vocabulary: SqlVocabulary) {
    this.#statements = noteStatements(vocabulary)
    this.#scheduler = vocabulary.schedulerName
  }

  *list(kind: string): SqlProgram<readonly SharedNote[]> {
    const rows = yield* all(this.#statements.list({ scheduler: this.#scheduler, kind, limit: notesMax }))
    return rows.map(noteOf)
  }

  *get(kind: string, name: string): SqlProgram<SharedNote | null> {
    const row = yield* first(this.#statements.get({ scheduler: this.#scheduler, kind, name }))
    return row && noteOf(row)
  }

  /** The generation of a set of schedules that is in force; no other one comes until the transaction ends. */
  *lockGeneration(set: string): SqlProgram<number> {
    const note = { scheduler: this.#scheduler, kind: scheduleSetNotes, name: set }
    const row = yield* first(this.#statements.lockBeginning(note))
    return generationInForce(row && anyText(row, 'beginning'))
  }

  *put(kind: string, name: string, text: string, version: number | null): SqlProgram<boolean> {
    // Of JSON nothing is lost.
    const written = /^[[{]/.test(text) ? escapedForEncoding(text) : text
    const note = { scheduler: this.#scheduler, kind, name, text: written }
    const statement =
      version === null ? this.#statements.insert(note) : this.#statements.update({ ...note, version })
    return (yield* run(statement)) > 0
  }

  *delete(kind: string, name: string, version: number): SqlProgram<boolean> {
    const note = { scheduler: this.#scheduler, kind, name, version }
    return (yield* run(this.#statements.delete(note))) > 0
  }
}

function noteOf(row: SqlRow): SharedNote {
  return {
    name: anyText(row, 'note_name'),
    version: integer(row, 'note_version'),
    text: anyText(row, 'note_text'),
  }
}

interface NoteStatements {
  readonly get: SqlQuery<{ scheduler: string; kind: string; name: string }>
  readonly lockBeginning: SqlQuery<{ scheduler: string; kind: string; name: string }>
  readonly list: SqlQuery<{ scheduler: string; kind: string; limit: number }>
  readonly insert: SqlQuery<{ scheduler: string; kind: string; name: string; text: string }>
  readonly update: SqlQuery<{ scheduler: string; kind: string; name: string; text: string; version: number }>
  readonly delete: SqlQuery<{ scheduler: string; kind: string; name: string; version: number }>
}

export function noteStatements({ dialect, names }: SqlVocabulary): NoteStatements {
  const isNote = 'sched_name = :scheduler AND note_kind = :kind AND note_name = :name'
  const columns = `SELECT note_name, note_version, note_text FROM ${names.notes}`
  return {
    get: sqlQuery(dialect, `${columns} WHERE ${isNote}`),
    // A note may be long, and it is read for each job of its set.
    lockBeginning: sqlQuery(
      dialect,
      `SELECT substr(n.note_text, 1, ${generationChars}) AS beginning FROM ${names.notes} AS n
       WHERE ${isNote} ${dialect.forShare('n')}`,
    ),
    list: sqlQuery(
      dialect,
      `${columns}
       WHERE sched_name = :scheduler AND note_kind = :kind ORDER BY note_name ${dialect.keyCollation} LIMIT :limit`,
    ),
    insert: sqlQuery(
      dialect,
      `INSERT INTO ${names.notes} (sched_name, note_kind, note_name, note_version, note_text)
       VALUES (:scheduler, :kind, :name, 1, :text) ON CONFLICT DO NOTHING`,
    ),
    update: sqlQuery(
      dialect,
      `UPDATE ${names.notes} SET note_text = :text, note_version = note_version + 1
       WHERE ${isNote} AND note_version = :version`,
    ),
    delete: sqlQuery(dialect, `DELETE FROM ${names.notes} WHERE ${isNote} AND note_version = :version`),
  }
}
