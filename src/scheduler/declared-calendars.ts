import { InvalidArgumentError, JobPersistenceError } from '../core/errors.ts'
import { isObject } from '../core/options.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { notesMax } from '../jobstore/memory-notes.ts'
import type { Calendar, CalendarDefinition } from '../triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../triggers/calendars/calendar-json.ts'
import { attemptsMax, DeclarationNotes, type FoundNote } from './declaration-notes.ts'
import { digestOf } from './planner.ts'
import {
  type Declaration,
  isDeferred,
  type ReconcileManner,
  type SetRecord,
  setRecordFrom,
  setRecordOf,
  withDeclaration,
  withNode,
} from './schedule-set.ts'

export interface DeclaredCalendarsParts {
  readonly options: { readonly instanceId: string }
  /** The store; throws once the scheduler has been shut down. */
  readonly open: () => JobStore
}

/** A calendar as a program declares it. */
export interface DeclaredCalendar {
  readonly name: string
  readonly calendar: Calendar
  readonly version: number | null
}

/** What nodes share about a calendar that programs declare: whose is in force, and what it is. */
interface CalendarRecord {
  readonly set: SetRecord
  /** What is in force; null where nothing was declared. */
  readonly definition: CalendarDefinition | null
  /** Of what was stored last: a node may end between its declaration and the calendar. */
  readonly storedDigest: string
}

interface FoundRecord extends FoundNote {
  readonly record: CalendarRecord
}

const noteKind = 'calendars'

/**
 * Stores calendars that programs declare, each by itself. Whose is in force is decided as for sets of schedules. What
 * is declared is compared with what was declared, so that an edit by hand lasts until the program declares another.
 */
export class DeclaredCalendars {
  readonly #parts: DeclaredCalendarsParts
  readonly #notes: DeclarationNotes

  constructor(parts: DeclaredCalendarsParts) {
    this.#parts = parts
    this.#notes = new DeclarationNotes({ kind: noteKind, open: parts.open, tooMany: tooManyCalendars })
  }

  async reconcile(
    declared: DeclaredCalendar,
    { mayTakeOver, onInForce }: ReconcileManner,
  ): Promise<{ readonly deferred: boolean; readonly broken: readonly [] }> {
    const { instanceId } = this.#parts.options
    const declaration = this.#declarationOf(declared)
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const found = await this.#read(declared.name)
      const live = await this.#notes.liveNodes()
      const { record } = found
      const isLeft = isDeferred(record.set, declaration, { live, instanceId, mayTakeOver })
      const set = isLeft ? record.set : withDeclaration(record.set, declaration)
      const definition = isLeft ? record.definition : declared.calendar.toJSON()
      const text = textOf({ ...record, definition, set: withNode(set, declaration, instanceId, live) })
      if (text !== found.text && !(await this.#notes.write(declared.name, text, found))) continue
      if (!isLeft) onInForce?.()
      const storedDigest = await this.#store(declared, declaration)
      return { deferred: storedDigest !== declaration.digest, broken: [] }
    }
    throw changedTooOften(declared.name)
  }

  /** A calendar that a database cannot keep is refused before it is in force. */
  #declarationOf({ calendar, version }: DeclaredCalendar): Declaration {
    const definition = calendar.toJSON()
    if (this.#parts.open().capabilities.persistent) calendarFromJSON(definition)
    return { digest: digestOf(definition), version, members: [] }
  }

  /**
   * Stores what is in force by the record, unless it was stored before; answers its digest. What comes into force
   * meanwhile is stored again, because this node may have written over it.
   */
  async #store({ name, calendar }: DeclaredCalendar, { digest }: Declaration): Promise<string> {
    const store = this.#parts.open()
    let mayHaveOverwritten = false
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const found = await this.#read(name)
      const { set, definition, storedDigest } = found.record
      const isStored = storedDigest === set.digest && (await store.getCalendarNames()).includes(name)
      if (isStored && !mayHaveOverwritten) return set.digest
      const wanted = set.digest === digest || definition === null ? calendar : calendarFromJSON(definition)
      await this.#put(name, wanted)
      const record = { ...found.record, storedDigest: set.digest }
      if (await this.#notes.write(name, textOf(record), found)) return set.digest
      mayHaveOverwritten = true
    }
    throw changedTooOften(name)
  }

  /** One that is the same leaves its triggers alone. */
  async #put(name: string, calendar: Calendar): Promise<void> {
    const store = this.#parts.open()
    const stored = await store.getCalendar(name)
    if (stored !== null && JSON.stringify(stored.toJSON()) === JSON.stringify(calendar.toJSON())) return
    await store.addCalendar(name, calendar, { replace: true, updateTriggers: true })
  }

  async #read(name: string): Promise<FoundRecord> {
    const note = await this.#notes.read(name)
    return { ...note, record: recordOf(note.text ?? '') }
  }
}

const none: CalendarRecord = { set: setRecordOf(''), definition: null, storedDigest: '' }

/** A record that cannot be read counts as none: the next declaration writes a new one. */
function recordOf(text: string): CalendarRecord {
  try {
    const found: unknown = JSON.parse(text)
    return isRecord(found) ? { ...found, set: setRecordFrom(found.set) } : none
  } catch {
    return none
  }
}

function isRecord(found: unknown): found is CalendarRecord {
  if (!isObject(found)) return false
  const { definition, storedDigest } = found as Partial<Record<keyof CalendarRecord, unknown>>
  return isObject(definition) && typeof storedDigest === 'string'
}

function textOf(record: CalendarRecord): string {
  return JSON.stringify(record)
}

function changedTooOften(name: string): JobPersistenceError {
  return new JobPersistenceError(
    `The calendar '${name}' was declared by other nodes ${attemptsMax} times in a row. Try again.`,
  )
}

function tooManyCalendars(name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    'calendars',
    `createScheduler: '${name}' would be one more than the ${notesMax} calendars that the programs of one scheduler ` +
      "can declare. Store it by 'addCalendar'.",
  )
}
