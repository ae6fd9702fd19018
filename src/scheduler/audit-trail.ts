import { boundedJson } from '../core/bounded-json.ts'
import type { IdGenerator } from '../core/ids.ts'
import { shortened } from '../core/text-beginning.ts'
import type { AuditEntry, AuditNote } from '../jobstore/audit.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import type { Recorder } from './recorder.ts'

/** How many characters are kept of names, of errors, and of texts of JSON. */
const nameLength = 200
const targetLength = 500
const errorLength = 2000
const textLength = 4000

/** For so long one entry counts requests of a kind that were refused or failed. */
const countMs = 3_600_000
/** How many such entries there are in that time; one more counts all others. */
const countedMax = 100

export interface AuditTrailParts {
  readonly recorder: Recorder
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly instanceId: string
}

/**
 * Makes entries of the audit. What was done is an entry each. What was refused or failed is counted, so that somebody
 * who tries a thousand times a minute cannot push out what was done.
 */
export class AuditTrail {
  readonly #parts: AuditTrailParts
  #entries = 0
  #counted = new Map<string, AuditEntry>()
  #countedSinceMs = 0

  constructor(parts: AuditTrailParts) {
    this.#parts = parts
  }

  note(note: AuditNote): void {
    const { clock, ids, instanceId, recorder } = this.#parts
    if (!recorder.keeps('audits')) return
    const entry: AuditEntry = {
      timeMs: clock.now(),
      id: this.#nextId(ids.uniqueName()),
      by: cut(note.by, nameLength),
      address: cut(note.address, nameLength),
      node: instanceId,
      operation: shortened(note.operation, nameLength),
      targetGroup: cut(note.targetGroup, targetLength),
      targetName: cut(note.targetName, targetLength),
      outcome: note.outcome ?? 'done',
      times: 1,
      errorText: cut(note.error, errorLength),
      requestText: jsonOf(note.request),
      beforeText: jsonOf(note.before),
      afterText: jsonOf(note.after),
    }
    recorder.note('audits', entry.outcome === 'done' ? entry : this.#count(entry))
  }

  /** Entries of one node and one instant are listed by their ids, so those go up. */
  #nextId(unique: string): string {
    this.#entries++
    return `${this.#entries.toString(36).padStart(6, '0')}-${unique.slice(0, 80)}`
  }

  /** The entry with all of its kind that came before it. */
  #count(entry: AuditEntry): AuditEntry {
    if (this.#isOver(entry.timeMs)) {
      this.#counted = new Map()
      this.#countedSinceMs = entry.timeMs
    }
    const kind = kindOf(entry)
    const place = this.#counted.has(kind) || this.#counted.size < countedMax ? kind : ''
    const earlier = this.#counted.get(place)
    const counted =
      earlier === undefined
        ? entry
        : { ...entry, timeMs: earlier.timeMs, id: earlier.id, times: earlier.times + 1 }
    this.#counted.set(place, counted)
    return counted
  }

  #isOver(nowMs: EpochMs): boolean {
    return Math.abs(nowMs - this.#countedSinceMs) >= countMs
  }
}

/** Somebody who is not known can ask for anything and from anywhere: that is one kind. */
function kindOf({ by, errorText, operation, outcome, targetGroup, targetName }: AuditEntry): string {
  if (by === null) return outcome
  const which = outcome === 'failed' ? [targetGroup, targetName, errorText] : []
  return JSON.stringify([by, outcome, operation, ...which])
}

function cut(text: string | undefined, length: number): string | null {
  return text === undefined ? null : shortened(text, length)
}

function jsonOf(value: unknown): string | null {
  return value === undefined || value === null ? null : boundedJson(value, textLength)
}
