import { randomUUID } from 'node:crypto'
import type { Logger } from '../../core/logger.ts'
import { isObject } from '../../core/options.ts'
import { unawaited } from '../../core/promises.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { JobStoreNotes } from '../../jobs/job-store-notes.ts'
import type { Clock, ClockTimer, EpochMs } from '../../time/clock.ts'
import { isHttpUrl } from '../protocol/option-checks.ts'
import { addressLengthMax, isAppName } from './admin-options.ts'
import {
  aliveMs,
  type ExecutorRegistry,
  type SharedExecutor,
  type SharedRemoval,
} from './executor-registry.ts'

export interface SharedRegistryOptions {
  readonly registry: ExecutorRegistry
  /** Whether executors of an AppName can register at all. */
  readonly isOpenTo: (appName: string) => boolean
  readonly logger: Logger
  readonly clock: Clock
}

const kind = 'xxlJobExecutors'
/** How often the notes of the others are read. */
const readEveryMs = 10_000
/** How often this admin says that its executors live: often enough that a lost write does not drop them. */
const tellEveryMs = 20_000
/** How soon it says that one has come or gone. */
const tellSoonMs = 1000
/** A note that has not changed for so long is that of an admin that is gone. */
const forgottenMs = 600_000

interface Peer {
  readonly version: number
  /** By the monotonic clock of this process. */
  readonly seenMs: number
}

type SharedEntry = SharedExecutor | SharedRemoval
type EntryFields = Partial<Record<keyof SharedExecutor | keyof SharedRemoval, unknown>>

/** When a note was written, by the time of the store. */
interface Stamp {
  readonly toldMs: EpochMs
}

/**
 * What the admins of a cluster tell each other of their executors: each writes one note, of those that beat at it, and
 * reads those of the others. Notes say how long an executor was silent, and when that was, by the time of the store; so
 * the clocks of nodes are not compared, and a node that starts knows the executors, also those of nodes that have just
 * shut down. Where the store has no time, what an admin wrote counts when it was seen to change: then that admin lives.
 */
export class SharedRegistry {
  readonly #options: SharedRegistryOptions
  readonly #name = randomUUID()
  readonly #boards = new Map<JobStoreNotes, Board>()
  #timer: ClockTimer | null = null
  #isSoon = false
  #isExchanging = false
  #isClosed = false

  constructor(options: SharedRegistryOptions) {
    this.#options = options
  }

  /** Shares with the other nodes of a scheduler. */
  connect(notes: JobStoreNotes): void {
    if (this.#isClosed || this.#boards.has(notes)) return
    this.#boards.set(notes, new Board(notes, this.#name, this.#options))
    this.#next(0)
  }

  /** The scheduler has shut down. */
  disconnect(notes: JobStoreNotes): void {
    this.#boards.delete(notes)
    if (this.#boards.size === 0) this.#timer?.cancel()
  }

  /** An executor has come or gone: others are told soon. */
  changed(): void {
    if (this.#boards.size === 0) return
    for (const board of this.#boards.values()) board.isNews = true
    // Many that come at once do not put it off again and again.
    if (!this.#isSoon && !this.#isExchanging) this.#next(tellSoonMs)
    this.#isSoon = true
  }

  /** Takes back what it has told, as far as its schedulers are still there. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    const boards = [...this.#boards.values()]
    this.#boards.clear()
    await Promise.all(boards.map((board) => board.takeBack()))
  }

  #next(delayMs: number): void {
    this.#timer?.cancel()
    if (this.#isClosed || this.#boards.size === 0) return
    const { clock, logger } = this.#options
    const turn = async (): Promise<void> => {
      this.#isSoon = false
      this.#isExchanging = true
      await Promise.all([...this.#boards.values()].map((board) => board.exchange()))
      this.#exchanged()
    }
    const fire = (): void => {
      unawaited(turn(), (error) => {
        logThrown(logger, error, 'executors of XXL-JOB are not shared with other nodes any more')
      })
    }
    this.#timer = clock.setTimer(delayMs, fire, { unref: true })
  }

  /** What changed meanwhile may have come after the note was written. */
  #exchanged(): void {
    this.#isExchanging = false
    this.#next(this.#isSoon ? tellSoonMs : readEveryMs)
  }
}

/** The notes of one scheduler. */
class Board {
  /** Whether something is to be told before it is time. */
  isNews = true
  readonly #notes: JobStoreNotes
  readonly #name: string
  readonly #options: SharedRegistryOptions
  readonly #peers = new Map<string, Peer>()
  #version: number | null = null
  #toldMs = Number.NEGATIVE_INFINITY
  #hasTold = false
  #hasListened = false
  #isFailing = false
  #exchanging: Promise<void> | null = null

  constructor(notes: JobStoreNotes, name: string, options: SharedRegistryOptions) {
    this.#notes = notes
    this.#name = name
    this.#options = options
  }

  /** Never rejects: what fails is tried again the next time, and said once. */
  exchange(): Promise<void> {
    this.#exchanging ??= this.#exchange().finally(() => {
      this.#exchanging = null
    })
    return this.#exchanging
  }

  async #exchange(): Promise<void> {
    const { clock, logger } = this.#options
    try {
      const storeMs = (await this.#notes.now?.()) ?? null
      const askedMs = clock.elapsedMs()
      await this.#tell(storeMs)
      await this.#listen(storeMs === null ? null : storeMs + clock.elapsedMs() - askedMs)
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) {
        const message = 'executors of XXL-JOB could not be shared with other nodes; it is tried again'
        logThrown(logger, error, message, {}, 'warn')
      }
      this.#isFailing = true
    }
  }

  async takeBack(): Promise<void> {
    await this.#exchanging
    // Where notes have a time, its executors stay known until they have beaten elsewhere.
    if (this.#version === null || this.#notes.now !== undefined) return
    try {
      await this.#notes.delete(kind, this.#name, this.#version)
    } catch (error) {
      // The scheduler was shut down first. The others forget the note.
      logThrown(this.#options.logger, error, 'the note of an admin was not deleted', {}, 'debug')
    }
  }

  async #tell(storeMs: EpochMs | null): Promise<void> {
    const { clock, registry } = this.#options
    const nowMs = clock.elapsedMs()
    if (!this.isNews && nowMs - this.#toldMs < tellEveryMs) return
    const executors = registry.own()
    if (executors.length === 0 && !this.#hasTold) return
    const wasNews = this.isNews
    this.isNews = false
    try {
      const text = JSON.stringify([...(storeMs === null ? [] : [{ toldMs: storeMs }]), ...executors])
      const isPut = await this.#notes.put(kind, this.#name, text, this.#version)
      // Another node took this admin for gone, or the answer to the last write was lost: listening says which.
      this.#version = isPut ? (this.#version ?? 0) + 1 : null
      if (!isPut) this.isNews = true
      this.#toldMs = nowMs
      this.#hasTold = executors.length > 0
    } catch (error) {
      this.isNews ||= wasNews
      throw error
    }
  }

  async #listen(storeMs: EpochMs | null): Promise<void> {
    const { clock, registry } = this.#options
    const notes = await this.#notes.list(kind)
    const nowMs = clock.elapsedMs()
    for (const { name, version, text } of notes) {
      if (name === this.#name) {
        this.#version = version
        continue
      }
      const before = this.#peers.get(name)
      if (before?.version === version) {
        if (nowMs - before.seenMs > forgottenMs) await this.#notes.delete(kind, name, version)
        continue
      }
      this.#peers.set(name, { version, seenMs: nowMs })
      const { said, toldMs } = this.#read(text)
      const ageMs = ageOf(toldMs, storeMs)
      if (ageMs !== null) registry.learn(name, aged(said, ageMs))
      else if (before !== undefined || this.#hasListened) registry.learn(name, said, readEveryMs)
      // What was there before may be as old as the database.
      else registry.learn(name, [])
    }
    this.#hasListened = true
    const names = new Set(notes.map(({ name }) => name))
    for (const name of this.#peers.keys()) {
      if (names.has(name)) continue
      this.#peers.delete(name)
      registry.learn(name, [])
    }
  }

  /** What is no executor that could have registered here is left out. */
  #read(text: string): { readonly said: readonly SharedEntry[]; readonly toldMs: EpochMs | null } {
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      parsed = null
    }
    const entries: readonly unknown[] = Array.isArray(parsed) ? parsed : []
    return { said: this.#saidIn(entries), toldMs: entries.find(isStamp)?.toldMs ?? null }
  }

  #saidIn(entries: readonly unknown[]): readonly SharedEntry[] {
    return entries.filter((entry): entry is SharedEntry => {
      if (!isObject(entry)) return false
      const { appName, address, silentMs, goneMs = silentMs }: EntryFields = entry
      if (!isAppName(appName) || !this.#options.isOpenTo(appName)) return false
      if (typeof address !== 'string' || address.length > addressLengthMax || !isHttpUrl(address))
        return false
      return typeof goneMs === 'number' && goneMs >= 0 && goneMs < aliveMs
    })
  }
}

function isStamp(entry: unknown): entry is Stamp {
  return isObject(entry) && Number.isSafeInteger(Reflect.get(entry, 'toldMs'))
}

/** How long ago it was told; null where that is not known. */
function ageOf(toldMs: EpochMs | null, nowMs: EpochMs | null): number | null {
  // A time to come says that the clock of the store was set back.
  if (toldMs === null || nowMs === null || toldMs > nowMs + readEveryMs) return null
  return Math.max(0, nowMs - toldMs)
}

/** What is still of interest if the executors said nothing since. */
function aged(said: readonly SharedEntry[], ageMs: number): readonly SharedEntry[] {
  return said
    .map((entry) =>
      'goneMs' in entry
        ? { ...entry, goneMs: entry.goneMs + ageMs }
        : { ...entry, silentMs: entry.silentMs + ageMs },
    )
    .filter((entry) => ('goneMs' in entry ? entry.goneMs : entry.silentMs) < aliveMs)
}
