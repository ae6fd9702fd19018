import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemIds } from '../../../core/ids.ts'
import type { Logger } from '../../../core/logger.ts'
import { codeOf, logThrown } from '../../../core/thrown-value.ts'
import type { Clock } from '../../../time/clock.ts'
import type { JobResult } from '../../protocol/callback.ts'

/** Ends of names: a result, one that is being written, and one that cannot be read. */
const whole = '.json'
const unfinished = '.tmp'
const broken = '.broken'

/**
 * Results on disk, one file each: written before anything is sent, deleted when an admin has taken it. A file gets its
 * name when all of it is on the disk, so a process that is killed, or a machine without power, leaves a whole result or
 * none.
 *
 * Writing is synchronous: when a run has ended, its result is safe before anything else happens.
 */
export class ResultStore {
  readonly #folder: string
  readonly #clock: Clock
  readonly #logger: Logger
  #sequence = 0
  #hasFailed = false
  #hasFailedToRead = false

  constructor(folder: string, clock: Clock, logger: Logger) {
    this.#folder = folder
    this.#clock = clock
    this.#logger = logger
  }

  /** The names of the results of earlier processes, the oldest first. */
  open(): readonly string[] {
    mkdirSync(this.#folder, { recursive: true })
    const names = readdirSync(this.#folder)
    for (const name of names) if (name.endsWith(unfinished)) this.remove(name)
    return names.filter((name) => name.endsWith(whole)).toSorted()
  }

  /** The name of the file, or null when the disk does not take it. */
  keep(result: JobResult): string | null {
    const name = this.#nameOf(result)
    try {
      const path = join(this.#folder, name)
      writeFileSync(`${path}${unfinished}`, JSON.stringify(result), { mode: 0o600, flush: true })
      renameSync(`${path}${unfinished}`, path)
      this.#hasFailed = false
      return name
    } catch (error) {
      if (!this.#hasFailed) {
        const { logId } = result
        logThrown(
          this.#logger,
          error,
          'results of XXL-JOB runs cannot be kept on disk; until they are sent a crash would lose them',
          { folder: this.#folder, logId },
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
  read(name: string): JobResult | 'later' | null {
    try {
      const parsed: unknown = JSON.parse(readFileSync(join(this.#folder, name), 'utf8'))
      this.#hasFailedToRead = false
      if (isResult(parsed)) return parsed
      throw new Error('it holds no result')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      if (codeOf(error) !== null && codeOf(error) !== 'EISDIR') return this.#later(error, name)
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

  remove(name: string): void {
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

  /** Sorts by time, and is unique among processes that share the folder. */
  #nameOf({ logId }: JobResult): string {
    const time = String(this.#clock.now()).padStart(15, '0')
    const sequence = String(++this.#sequence).padStart(9, '0')
    return `${time}-${sequence}-${logId}-${systemIds.uniqueName().slice(0, 8)}${whole}`
  }
}

function isResult(value: unknown): value is JobResult {
  if (typeof value !== 'object' || value === null) return false
  const numbers = ['logId', 'logDateTimeMs', 'handleCode'].map((name): unknown => Reflect.get(value, name))
  return numbers.every(Number.isSafeInteger) && typeof Reflect.get(value, 'handleMsg') === 'string'
}
