import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemIds } from '../../../core/ids.ts'
import type { Logger } from '../../../core/logger.ts'
import { codeOf, logThrown } from '../../../core/thrown-value.ts'
import type { Clock } from '../../../time/clock.ts'
import type { JobResult } from '../../protocol/callback.ts'

/** Most results of one file, and of one request to an admin. */
export const batchMax = 50
/** How many results one turn of the event loop puts into a file: the disk is waited for once. */
export const keptAtOnce = 25

/** Ends of names: a result, several of them, a file that is being written, and one that cannot be read. */
const whole = '.json'
const several = '.batch'
const unfinished = '.tmp'
const broken = '.broken'

/** Where a result is on disk: in which file, and at which place of one that has several. */
export interface KeptResult {
  readonly name: string
  readonly at: number
}

/**
 * Results on disk, one file for those that came together: written before anything is sent, deleted when admins have
 * taken all that is in it. A file gets its name when all of it is on the disk, so a process that is killed, or a
 * machine without power, leaves whole results or none.
 *
 * Writing is synchronous: when a run has ended, its result is safe before anything else happens.
 */
export class ResultStore {
  readonly #folder: string
  readonly #clock: Clock
  readonly #logger: Logger
  #sequence = 0
  /** Of files with several results: how many of them no admin has yet. */
  readonly #left = new Map<string, number>()
  #hasFailed = false
  #hasFailedToRead = false

  constructor(folder: string, clock: Clock, logger: Logger) {
    this.#folder = folder
    this.#clock = clock
    this.#logger = logger
  }

  /** The results of earlier processes, the oldest first. */
  open(): readonly KeptResult[] {
    mkdirSync(this.#folder, { recursive: true })
    const names = readdirSync(this.#folder)
    for (const name of names) if (name.endsWith(unfinished)) this.#delete(name)
    return names
      .filter((name) => name.endsWith(whole) || name.endsWith(several))
      .toSorted()
      .flatMap((name) => {
        return this.#placesOf(name, countIn(name))
      })
  }

  /** Takes 1 to `batchMax` results. Where they are, in their order, or null when the disk does not take them. */
  keep(results: readonly JobResult[]): readonly KeptResult[] | null {
    const name = this.#nameOf(results)
    const [first] = results
    try {
      const path = join(this.#folder, name)
      writeFileSync(`${path}${unfinished}`, JSON.stringify(results.length === 1 ? first : results), {
        mode: 0o600,
        flush: true,
      })
      renameSync(`${path}${unfinished}`, path)
      this.#hasFailed = false
      return this.#placesOf(name, results.length)
    } catch (error) {
      if (!this.#hasFailed) {
        logThrown(
          this.#logger,
          error,
          'results of XXL-JOB runs cannot be kept on disk; until they are sent a crash would lose them',
          { folder: this.#folder, logId: first?.logId },
        )
      }
      this.#hasFailed = true
      return null
    }
  }

  /**
   * Null for a file that is gone, and for one that is no result, which is put aside. `later` for one that the disk does
   * not give now, as when the process has too many files open.
   */
  read({ name, at }: KeptResult): JobResult | 'later' | null {
    try {
      const parsed: unknown = JSON.parse(readFileSync(join(this.#folder, name), 'utf8'))
      this.#hasFailedToRead = false
      const result: unknown = Array.isArray(parsed) ? parsed[at] : parsed
      if (isResult(result)) return result
      throw new Error('it holds no result')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      if (codeOf(error) !== null && codeOf(error) !== 'EISDIR') return this.#later(error, name)
      this.#left.delete(name)
      logThrown(this.#logger, error, 'a kept result of an XXL-JOB run cannot be read and is put aside', {
        name,
      })
      this.#rename(name, `${name}${broken}`)
      return null
    }
  }

  /** Said once, until a result can be read again. */
  #later(error: unknown, name: string): 'later' {
    const message = 'kept results of XXL-JOB runs cannot be read now; it is tried again'
    if (!this.#hasFailedToRead) logThrown(this.#logger, error, message, { name }, 'warn')
    this.#hasFailedToRead = true
    return 'later'
  }

  /** An admin has taken it. Those beside it are sent again after a restart, until the last one was taken. */
  remove({ name }: KeptResult): void {
    const left = (this.#left.get(name) ?? 1) - 1
    if (left > 0) this.#left.set(name, left)
    else {
      this.#left.delete(name)
      this.#delete(name)
    }
  }

  #placesOf(name: string, count: number): readonly KeptResult[] {
    if (count > 1) this.#left.set(name, count)
    return Array.from({ length: count }, (_, at) => ({ name, at }))
  }

  #delete(name: string): void {
    try {
      rmSync(join(this.#folder, name), { force: true })
    } catch (error) {
      logThrown(this.#logger, error, 'a result of an XXL-JOB run that was sent cannot be deleted', { name })
    }
  }

  #rename(from: string, to: string): void {
    try {
      renameSync(join(this.#folder, from), join(this.#folder, to))
    } catch (error) {
      logThrown(this.#logger, error, 'a kept result of an XXL-JOB run cannot be put aside', { name: from })
    }
  }

  /**
   * Sorts by time, and is unique among processes that share the folder. Has the id of a run, or how many results there
   * are, so that a start need not read them.
   */
  #nameOf(results: readonly JobResult[]): string {
    const time = String(this.#clock.now()).padStart(15, '0')
    const sequence = String(++this.#sequence).padStart(9, '0')
    const [what, end] = results.length === 1 ? [results[0]?.logId, whole] : [results.length, several]
    return `${time}-${sequence}-${what}-${systemIds.uniqueName().slice(0, 8)}${end}`
  }
}

/** How many results are in the file of that name. */
function countIn(name: string): number {
  const count = name.endsWith(several) ? Number(name.split('-')[2]) : 1
  return Number.isSafeInteger(count) ? Math.min(Math.max(count, 1), batchMax) : 1
}

function isResult(value: unknown): value is JobResult {
  if (typeof value !== 'object' || value === null) return false
  const numbers = ['logId', 'logDateTimeMs', 'handleCode'].map((name): unknown => Reflect.get(value, name))
  return numbers.every(Number.isSafeInteger) && typeof Reflect.get(value, 'handleMsg') === 'string'
}
