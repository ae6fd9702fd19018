import { readdirSync, statSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Lanes } from '../../../core/lanes.ts'
import type { Logger } from '../../../core/logger.ts'
import { logThrown } from '../../../core/thrown-value.ts'
import { dayMs } from '../../../time/civil.ts'
import type { Clock, EpochMs } from '../../../time/clock.ts'
import type { TimeZone } from '../../../time/zone.ts'
import type { LogRequest, LogResult } from '../../protocol/trigger-request.ts'
import { JobLog } from './job-log.ts'
import { LocalStamp, localDay } from './local-stamp.ts'
import { type LinePlace, readLogPage } from './read-log-page.ts'

/** Most bytes of the lines of one answer; the admin's page asks for the next ones three seconds later. */
const pageBytesMax = 1_048_576
/** Of so many files it is known where the next page begins. */
const placesMax = 1000
/** How many logs are read at one time. */
const readersMax = 4
const dayFolder = /^\d{4}-\d{2}-\d{2}$/

export interface JobLogsOptions {
  readonly logPath: string
  readonly maxLogBytes: number
  /** Null: they are kept for ever. */
  readonly logRetentionDays: number | null
  readonly zone: TimeZone
  readonly clock: Clock
  readonly logger: Logger
}

/** The log files of runs: one folder for each day on which an admin triggered runs, one file for each run. */
export class JobLogs {
  readonly #options: JobLogsOptions
  readonly #stamp: LocalStamp
  /** Logs of runs that wait or run, by the run's id. */
  readonly #open = new Map<number, JobLog>()
  readonly #places = new Map<string, LinePlace>()
  readonly #readers = new Lanes(readersMax)

  constructor(options: JobLogsOptions) {
    this.#options = options
    this.#stamp = new LocalStamp(options.clock, options.zone)
  }

  async prepare(): Promise<void> {
    await mkdir(this.#options.logPath, { recursive: true })
  }

  /** The log of a run that was accepted. The file is made with the first line. */
  open(logId: number, logDateTimeMs: EpochMs, label: string): JobLog {
    const log = this.#logAt(this.#pathOf(logId, logDateTimeMs), label)
    this.#open.set(logId, log)
    return log
  }

  /** The run has its result. */
  close(logId: number, log: JobLog): void {
    log.end()
    if (this.#open.get(logId) === log) this.#open.delete(logId)
  }

  /** Adds a line to the log of a run that has ended, if it is still there. */
  append(logId: number, logDateTimeMs: EpochMs, text: string): void {
    const path = this.#pathOf(logId, logDateTimeMs)
    if (!isFile(path)) return
    const log = this.#logAt(path, '[executor]')
    log.line(text)
    log.end()
  }

  /**
   * The lines from a number on, as many as fit into one answer. Admins keep the time of a run in whole seconds,
   * rounded, and so may ask for the neighbouring day: the run's id decides.
   */
  async read({ logId, logDateTimeMs, fromLineNum }: LogRequest): Promise<LogResult> {
    const open = this.#open.get(logId)
    const path = open?.path ?? this.#find(logId, logDateTimeMs)
    if (path === null || !isFile(path)) {
      const logContent = open === undefined ? `The log of run ${logId} does not exist.` : ''
      return { fromLineNum, toLineNum: 0, logContent, isEnd: open === undefined }
    }
    const known = this.#places.get(path)
    const start = known !== undefined && known.line <= fromLineNum ? known : { line: 1, offset: 0 }
    const page = await this.#readers.run(() =>
      readLogPage(path, {
        fromLine: fromLineNum,
        start,
        maxBytes: pageBytesMax,
        isComplete: open === undefined,
      }),
    )
    this.#note(path, page.next)
    return { fromLineNum, toLineNum: page.toLine, logContent: page.text, isEnd: false }
  }

  /** Deletes the folders of days that are over for longer than they are kept. */
  async clean(): Promise<void> {
    const { logPath, logRetentionDays, clock, zone, logger } = this.#options
    if (logRetentionDays === null) return
    const oldest = localDay(zone, clock.now() - logRetentionDays * dayMs)
    try {
      // Listed at once, so that a run that an admin dates long ago does not lose the log that it is about to write.
      for (const name of readdirSync(logPath)) {
        if (!dayFolder.test(name) || name >= oldest || this.#isOpen(name)) continue
        await rm(join(logPath, name), { recursive: true, force: true })
      }
    } catch (error) {
      logThrown(logger, error, 'old logs of XXL-JOB runs cannot be deleted', { logPath })
    }
  }

  #isOpen(day: string): boolean {
    const folder = join(this.#options.logPath, day)
    return [...this.#open.values()].some(({ path }) => dirname(path) === folder)
  }

  #logAt(path: string, label: string): JobLog {
    const { maxLogBytes: maxBytes, clock, logger } = this.#options
    return new JobLog(path, label, { maxBytes, stamp: this.#stamp, clock, logger })
  }

  #pathOf(logId: number, logDateTimeMs: EpochMs): string {
    return this.#pathIn(localDay(this.#options.zone, logDateTimeMs), logId)
  }

  #pathIn(day: string, logId: number): string {
    return join(this.#options.logPath, day, `${logId}.log`)
  }

  #find(logId: number, logDateTimeMs: EpochMs): string | null {
    const near = [0, dayMs / 2, -dayMs / 2].map((aside) => this.#pathOf(logId, logDateTimeMs + aside))
    return near.find(isFile) ?? this.#findAnywhere(logId)
  }

  /** Among all days, for an admin that does not say the time. */
  #findAnywhere(logId: number): string | null {
    const days = readdirSync(this.#options.logPath).filter((name) => dayFolder.test(name))
    const paths = days
      .toSorted()
      .toReversed()
      .map((day) => this.#pathIn(day, logId))
    return paths.find(isFile) ?? null
  }

  #note(path: string, place: LinePlace): void {
    this.#places.delete(path)
    this.#places.set(path, place)
    const [longestUnread] = this.#places.keys()
    if (this.#places.size > placesMax && longestUnread !== undefined) this.#places.delete(longestUnread)
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
