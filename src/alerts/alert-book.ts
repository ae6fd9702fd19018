import { createHash } from 'node:crypto'
import { isObject } from '../core/options.ts'
import type { JobStoreNotes, SharedNote } from '../jobs/job-store-notes.ts'
import type { Clock, EpochMs } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'
import type { ActiveAlert, AlertSilence } from './alert-types.ts'

/** An alert as it is stored. */
export interface StoredAlert extends Omit<ActiveAlert, 'isGivenUp'> {
  /** Also true of one that is given up: nodes of former versions know no other way to leave it alone. */
  readonly isSent: boolean
  /** Missing where no node has given it up. */
  readonly isGivenUp?: boolean
  /** Of its note: a change names the version that it has seen. */
  readonly version: number
  /** The node that is to send it, and since when; null while it is silenced. */
  readonly claim: { readonly node: string; readonly atMs: EpochMs } | null
}

export interface StoredSilence extends AlertSilence {
  readonly version: number
}

/** What became of an alert: people were told, no channel could tell them, or another attempt is needed. */
export type AlertEnd = 'sent' | 'givenUp' | 'left'

const alertKind = 'alert'
const silenceKind = 'alert-silence'
const leaderKind = 'alert-leader'
const leaderName = 'leader'

/** A rule, or the store, that takes longer is not waited for. */
export const patienceMs = 30_000

/** The id of the alert of a rule about a subject. */
export function alertIdOf(rule: string, subject: string): string {
  return createHash('sha256')
    .update(JSON.stringify([rule, subject]))
    .digest('hex')
    .slice(0, 32)
}

/**
 * The alerts and silences of a cluster, as notes that its nodes share. A note is written only in the version that was
 * read, so of several nodes that want the same one succeeds.
 */
export class AlertBook {
  readonly #notes: Pick<JobStoreNotes, 'list' | 'put' | 'delete'>
  #failedAskedMs: number | null = null

  constructor(notes: JobStoreNotes, clock: Clock) {
    const inTime = async <Answer>(asking: Promise<Answer>): Promise<Answer> => {
      const askedMs = clock.elapsedMs()
      try {
        if (await settledWithin(clock, patienceMs, asking)) return await asking
        throw new Error('The job store does not answer.')
      } catch (error) {
        this.#failedAskedMs = askedMs
        throw error
      }
    }
    this.#notes = {
      list: (kind) => inTime(notes.list(kind)),
      put: (...note) => inTime(notes.put(...note)),
      delete: (...note) => inTime(notes.delete(...note)),
    }
  }

  /** When the store was asked what it failed to answer last, by the monotonic clock; null when it has not failed. */
  get failedAskedMs(): number | null {
    return this.#failedAskedMs
  }

  async alerts(): Promise<readonly StoredAlert[]> {
    const notes = await this.#notes.list(alertKind)
    return notes.flatMap((note) => read(note, isAlert)) as StoredAlert[]
  }

  /** Stores an alert that is new; false when another node was faster. */
  add(alert: Omit<StoredAlert, 'version'>): Promise<boolean> {
    return this.#notes.put(alertKind, alert.id, textOf(alert), null)
  }

  /** False when it has changed meanwhile, or is gone. */
  change({ version, ...alert }: StoredAlert): Promise<boolean> {
    return this.#notes.put(alertKind, alert.id, textOf(alert), version)
  }

  /**
   * Notes what became of an alert with the node that had claimed it, whatever else of it has changed meanwhile. One
   * that was raised anew is another alert, and where another node has claimed it since, only that one says
   * that it was not sent.
   */
  async noteEnd(
    { id, sinceMs, claim }: Pick<StoredAlert, 'id' | 'sinceMs' | 'claim'>,
    end: AlertEnd,
  ): Promise<void> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const found = (await this.alerts()).find((alert) => alert.id === id && alert.sinceMs === sinceMs)
      if (found === undefined || (end !== 'sent' && found.claim?.node !== claim?.node)) return
      const noted = { ...found, isSent: end !== 'left', isGivenUp: end === 'givenUp', claim: null }
      if (await this.change(noted)) return
    }
  }

  end({ id, version }: StoredAlert): Promise<boolean> {
    return this.#notes.delete(alertKind, id, version)
  }

  async silences(): Promise<readonly StoredSilence[]> {
    const notes = await this.#notes.list(silenceKind)
    return notes.flatMap((note) => read(note, isSilence)) as StoredSilence[]
  }

  addSilence(silence: AlertSilence): Promise<boolean> {
    return this.#notes.put(silenceKind, silence.id, textOf(silence), null)
  }

  endSilence({ id, version }: StoredSilence): Promise<boolean> {
    return this.#notes.delete(silenceKind, id, version)
  }

  /** Whether this node is the one that evaluates; it stays so for `leaseMs`, unless it asks again. */
  async leads(node: string, nowMs: EpochMs, leaseMs: number): Promise<boolean> {
    const [note] = await this.#notes.list(leaderKind)
    const text = JSON.stringify({ node, untilMs: nowMs + leaseMs })
    if (note === undefined) return this.#notes.put(leaderKind, leaderName, text, null)
    const held = parsed(note.text)
    const isFree =
      held['node'] === node || !(Number(held['untilMs']) > nowMs) || isTooFar(held, nowMs, leaseMs)
    return isFree && this.#notes.put(leaderKind, leaderName, text, note.version)
  }

  /** Lets another node evaluate at once. */
  async resign(node: string): Promise<void> {
    const [note] = await this.#notes.list(leaderKind)
    if (note !== undefined && parsed(note.text)['node'] === node) {
      await this.#notes.delete(leaderKind, leaderName, note.version)
    }
  }
}

/** A lease that ends later than any can was written by a clock that was wrong. */
function isTooFar(held: Readonly<Record<string, unknown>>, nowMs: EpochMs, leaseMs: number): boolean {
  return Number(held['untilMs']) > nowMs + 10 * leaseMs
}

function textOf(value: object): string {
  return JSON.stringify(value)
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? { ...value } : {}
  } catch {
    return {}
  }
}

type Fields = Readonly<Record<string, unknown>>

/** A note that something else has written is no alert and stops none. */
function read({ name, version, text }: SharedNote, isRight: (value: Fields) => boolean): readonly object[] {
  const value = parsed(text)
  return isRight(value) ? [{ ...value, id: name, version }] : []
}

function isAlert(value: Fields): boolean {
  const { rule, subject, message, node, sinceMs, lastTimeMs, isSent, isGivenUp = false, claim } = value
  const isClaim = isObject(claim) && 'node' in claim && 'atMs' in claim
  return (
    areTexts(rule, subject, message, node) &&
    [sinceMs, lastTimeMs].every(Number.isFinite) &&
    [isSent, isGivenUp].every((each) => typeof each === 'boolean') &&
    (claim === null || (isClaim && areTexts(claim.node) && Number.isFinite(claim.atMs)))
  )
}

function isSilence({ rule, subject, untilMs, by, reason }: Fields): boolean {
  return areTexts(rule ?? '', subject ?? '', by, reason) && Number.isFinite(untilMs)
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}
