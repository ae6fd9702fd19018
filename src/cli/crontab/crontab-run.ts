import { dirname } from 'node:path'
import { unawaited } from '../../core/promises.ts'
import { textOf } from '../../core/thrown-value.ts'
import { visible } from '../../core/visible-text.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { EpochMs } from '../../time/clock.ts'
import { setLongTimer } from '../../time/clock.ts'
import { TimeZone } from '../../time/zone.ts'
import { formatDuration } from '../duration.ts'
import type { CliHost } from '../host.ts'
import { formatLocal } from '../local-time.ts'
import { serveSomewhere } from '../serving.ts'
import { ansiPaint, noPaint, type Paint } from '../terminal/paint.ts'
import { count } from '../terminal/text.ts'
import type { BoardView } from './board-view.ts'
import { commandJob } from './command-job.ts'
import { type CrontabFile, describeFormat } from './crontab-file.ts'
import { openScheduler, type StoreChoice } from './crontab-store.ts'
import { demoJobs } from './demo-jobs.ts'
import { JobBoard } from './job-board.ts'
import { LineView } from './line-view.ts'
import { LiveView } from './live-view.ts'
import type { PlannedJob } from './plan-entries.ts'
import { planEntries } from './plan-entries.ts'
import { type ProcessRunner, processRunner } from './process-runner.ts'
import { type StopReason, stopRequests } from './stop-requests.ts'
import { type StoredPlan, storePlan } from './store-plan.ts'
import { drawSummary } from './summary.ts'
import { watchScheduler } from './watch-scheduler.ts'

export interface CrontabRunOptions {
  readonly zoneName: string
  /** The run ends by itself after this; null for never. */
  readonly forMs: number | null
  /** A command that runs longer is ended; null for no limit. */
  readonly timeoutMs: number | null
  /** How long running jobs may go on when the run ends. */
  readonly drainMs: number
  readonly store: StoreChoice
  /** The port of the HTTP API; null for none. */
  readonly servePort: number | null
  /** How many jobs may run at one time. */
  readonly threads: number
  /** A table that is drawn in place, or lines. */
  readonly view: 'live' | 'lines'
  readonly colors: 'ansi' | 'none'
}

export interface CrontabRunResult {
  readonly failures: number
  /** A second signal ended the run before running jobs had ended. */
  readonly endedAtOnce: boolean
}

/** From SIGTERM to SIGKILL. */
const killGraceMs = 5000
/** Width of output to a file or a pipe. */
const fileColumns = 120

/** Runs the jobs of a crontab until the time is up or a signal comes, showing what happens. */
export class CrontabRun {
  readonly #file: CrontabFile
  readonly #options: CrontabRunOptions
  readonly #host: CliHost
  readonly #board: JobBoard
  readonly #beganMs: EpochMs
  readonly #runner: ProcessRunner
  readonly #paint: Paint
  readonly #view: BoardView
  #isShown = false

  constructor(file: CrontabFile, options: CrontabRunOptions, host: CliHost) {
    this.#file = file
    this.#options = options
    this.#host = host
    this.#beganMs = host.clock.now()
    this.#board = new JobBoard(this.#beganMs)
    this.#runner = processRunner(host.clock, killGraceMs)
    this.#paint = options.colors === 'ansi' ? ansiPaint : noPaint
    this.#view = this.#makeView()
  }

  async run(): Promise<CrontabRunResult> {
    const { clock, stdout } = this.#host
    const startedMs = clock.elapsedMs()
    const scheduler = await this.#prepare()
    const stop = stopRequests(this.#host, this.#options.forMs)
    const server = await this.#serve(scheduler)
    if (server !== null) this.#host.stdout.write(`${server.note}\n`)
    let endedAtOnce = false
    try {
      // Also a start may take long, or hang.
      const work = started(scheduler)
        .then(() => stop.first)
        .then((reason) => this.#drain(scheduler, reason))
      endedAtOnce = await Promise.race([work.then(() => false), stop.atOnce.then(() => true)])
    } finally {
      for (const refusal of endedAtOnce ? this.#runner.killAll() : [])
        this.#view.note(`Left running: ${refusal}.`)
      stop.dispose()
      if (!endedAtOnce) await server?.close()
      if (this.#isShown) this.#view.stop()
    }
    const columns = stdout.isTerminal ? stdout.columns : fileColumns
    const summary = drawSummary(this.#board, clock.elapsedMs() - startedMs, { columns, paint: this.#paint })
    stdout.write(`\n${summary.join('\n')}\n`)
    return { failures: this.#board.totals.failures, endedAtOnce }
  }

  /** The dashboard with its HTTP API, and the line that names it. The jobs run also when it cannot be served. */
  async #serve(scheduler: Scheduler): Promise<{ note: string; close(): Promise<void> } | null> {
    const { servePort: port } = this.#options
    if (port === null) return null
    const options = {
      port,
      host: '127.0.0.1',
      tokenHashFile: null,
      sessionSecret: null,
      isReadOnly: false,
      allowedHosts: null,
      allowedOrigins: [],
      trustedProxies: [],
    }
    try {
      const { server, url } = await serveSomewhere(scheduler, options)
      return { note: `Dashboard: ${url}`, close: () => server.close() }
    } catch (error) {
      return { note: `No dashboard: ${textOf(error)}`, close: async () => {} }
    }
  }

  /** A scheduler that stands by. Its start stores and shows the plan, once the store is its own and before it fires. */
  async #prepare(): Promise<Scheduler> {
    const { clock, environment } = this.#host
    const { store, threads, timeoutMs } = this.#options
    const { demoJobs: hasDemo, entries, path } = this.#file
    const command = commandJob(this.#runner, environment)
    const demo = hasDemo ? demoJobs() : null
    const planNow = (): readonly PlannedJob[] => {
      const startAt = nextWholeSecond(clock.now())
      const ofDemo = demo?.plan(dirname(path), startAt) ?? []
      return [...planEntries(entries, command, { timeoutMs, startAt }), ...ofDemo]
    }
    const { scheduler, note } = await openScheduler(store, path, {
      jobs: [command, ...(demo?.definitions ?? [])],
      threadPool: { size: threads },
      clock,
      // The view shows failures, and a line on stderr would tear the live table.
      logger: false,
      plugins: [
        {
          name: 'crontab',
          initialize: () => {},
          start: () => this.#begin(scheduler, planNow(), note),
        },
      ],
    })
    const zone = TimeZone.of(this.#options.zoneName)
    watchScheduler(scheduler, { board: this.#board, view: this.#view, clock, zone, beganMs: this.#beganMs })
    return scheduler
  }

  /** The store is this scheduler's own by now: another one that had it would have refused the start. */
  async #begin(
    scheduler: Scheduler,
    planned: readonly PlannedJob[],
    storeNote: string | null,
  ): Promise<void> {
    const stored = await storePlan(scheduler, planned, this.#beganMs)
    planned.forEach(({ job, label }, index) => {
      this.#board.add(job.key, label, stored.nextFires[index] ?? null)
    })
    this.#isShown = true
    this.#view.start()
    this.#noteWhatDiffersFromCron()
    this.#noteStore(stored, storeNote)
  }

  #makeView(): BoardView {
    const { clock, stdout } = this.#host
    const { view, zoneName } = this.#options
    const path = visible(this.#file.path)
    const options = {
      title:
        view === 'live'
          ? `quartz-ts ${path}`
          : `${path}: ${describeFormat(this.#file)}; times in ${zoneName}`,
      output: stdout,
      board: this.#board,
      clock,
      zone: TimeZone.of(zoneName),
      paint: this.#paint,
    }
    return view === 'live' ? new LiveView(options) : new LineView(options)
  }

  #noteWhatDiffersFromCron(): void {
    const { userName } = this.#host
    const { entries, environment } = this.#file
    const users = [...new Set(entries.map(({ user }) => user))].filter((user) => user !== null)
    const others = users.filter((user) => user !== userName)
    if (others.length > 0) this.#view.note(`All jobs run as ${userName}, also those of ${others.join(', ')}.`)
    if (environment['MAILTO']) this.#view.note('MAILTO is ignored: no mail is sent, results are shown here.')
  }

  #noteStore({ deleted, overdue }: StoredPlan, storeNote: string | null): void {
    if (storeNote !== null) this.#view.note(storeNote)
    if (deleted > 0)
      this.#view.note(`${count(deleted, 'job')} of an earlier run deleted: not in the file any more.`)
    if (overdue === null) return
    const since = formatLocal(TimeZone.of(this.#options.zoneName), overdue.sinceMs)
    this.#view.note(`${count(overdue.jobs, 'job')} came due while nothing ran, since ${since}.`)
  }

  async #drain(scheduler: Scheduler, reason: StopReason): Promise<void> {
    const { drainMs, forMs } = this.#options
    await scheduler.standby()
    const { running } = this.#board
    const why = reason === 'time is up' ? `Stopping after ${formatDuration(forMs ?? 0)}` : 'Stopping'
    const wait = `waiting up to ${formatDuration(drainMs)} for ${count(running, 'running job')}; Ctrl-C ends at once`
    this.#view.note(running === 0 ? `${why}.` : `${why}: ${wait}.`)
    await this.#idleWithin(drainMs)
    if (this.#board.running > 0) {
      this.#view.note(`${count(this.#board.running, 'job')} still running: told to end.`)
      const executing = scheduler.getCurrentlyExecutingJobs()
      for (const { fireInstanceId } of executing) await scheduler.interrupt({ fireInstanceId })
    }
    await scheduler.shutdown({ waitForJobsToComplete: true })
  }

  /** Resolves when nothing runs, or after so many milliseconds. */
  #idleWithin(limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setLongTimer(this.#host.clock, limitMs, resolve)
      const idle = this.#board.whenIdle().then(() => {
        timer.cancel()
        resolve()
      })
      unawaited(idle, reject)
    })
  }
}

/** Starts firing; when another process has the store, closes the scheduler and throws. */
async function started(scheduler: Scheduler): Promise<void> {
  try {
    await scheduler.start()
  } catch (error) {
    await scheduler.shutdown()
    throw error
  }
}

/** Cron fires on whole seconds: what comes due after the start comes due at this one or later. */
function nextWholeSecond(nowMs: number): Date {
  return new Date((Math.floor(nowMs / 1000) + 1) * 1000)
}
