import { appendFileSync, closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from '../../../core/logger.ts'
import { logThrown } from '../../../core/thrown-value.ts'
import type { Clock, ClockTimer } from '../../../time/clock.ts'
import type { LocalStamp } from './local-stamp.ts'

/** How many characters wait for the end of the turn before they are written at once. */
const pendingMax = 65_536

export interface JobLogOptions {
  readonly maxBytes: number
  readonly stamp: LocalStamp
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * The log file of one run. What one turn of the event loop logs is written together; a handler that logs without end
 * in one turn keeps no more than `pendingMax` in memory. A file that cannot be written stops no run.
 */
export class JobLog {
  readonly path: string
  readonly #label: string
  readonly #options: JobLogOptions
  #fd: number | null = null
  #pending = ''
  #writing: ClockTimer | null = null
  #bytes = 0
  #isFull = false
  #hasEnded = false
  #hasFailed = false

  constructor(path: string, label: string, options: JobLogOptions) {
    this.path = path
    this.#label = label
    this.#options = options
  }

  /** A line with time and origin; text of several lines has them before the first one. */
  line(text: string): void {
    this.raw(`${this.#options.stamp.now()} ${this.#label} ${text}\n`)
  }

  /** Text as it is, such as the output of a script. */
  raw(text: string): void {
    if (this.#isFull) return
    this.#pending += text
    if (this.#pending.length >= pendingMax) this.#write()
    else
      this.#writing ??= this.#options.clock.setImmediate(() => {
        this.#write()
      })
  }

  /** The run has ended, and the file is closed. What its code still logs is added, turn by turn. */
  end(): void {
    this.#hasEnded = true
    this.#write()
    const fd = this.#fd
    this.#fd = null
    try {
      if (fd !== null) closeSync(fd)
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Writes what waits, so that a reader finds it. */
  #write(): void {
    this.#writing?.cancel()
    this.#writing = null
    let text = this.#pending
    this.#pending = ''
    if (text === '' || this.#isFull) return
    const bytes = Buffer.byteLength(text)
    if (this.#bytes + bytes > this.#options.maxBytes) {
      this.#isFull = true
      text = `${this.#options.stamp.now()} ${this.#label} The log is full; no more is written.\n`
    }
    this.#bytes += bytes
    try {
      this.#append(Buffer.from(text))
    } catch (error) {
      this.#failed(error)
    }
  }

  /** Said once for a run. */
  #failed(error: unknown): void {
    const message = 'the log of an XXL-JOB run cannot be written'
    if (!this.#hasFailed) logThrown(this.#options.logger, error, message, { path: this.path })
    this.#hasFailed = true
  }

  #append(bytes: Buffer): void {
    if (this.#fd === null) mkdirSync(dirname(this.path), { recursive: true })
    if (this.#hasEnded && this.#fd === null) {
      appendFileSync(this.path, bytes)
      return
    }
    this.#fd ??= openSync(this.path, 'a', 0o640)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at)
  }
}
