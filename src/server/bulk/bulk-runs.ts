import { SchedulerError } from '../../core/errors.ts'
import { systemIds } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { ListenerManager } from '../../listeners/listener-manager.ts'
import type { SchedulerListener } from '../../listeners/scheduler-listener.ts'
import type { Clock } from '../../time/clock.ts'
import { nextTurn } from '../../time/next-turn.ts'
import { pause } from '../../time/pause.ts'
import { problemOf } from '../http/problem.ts'
import { serverClosed } from '../server-closed.ts'
import type { KeyJson } from '../wire/fields.ts'

/** An action on many jobs or triggers, as it stands now. */
export interface BulkJson {
  readonly id: string
  readonly scheduler: string
  readonly action: string
  readonly of: 'jobs' | 'triggers'
  /** Name of the principal that began it. */
  readonly by: string
  readonly status: 'running' | 'done' | 'stopped'
  readonly startedMs: number
  readonly endedMs: number | null
  readonly total: number
  readonly done: number
  /** How many have changed; the others were so already, or are gone. */
  readonly changed: number
  /** How many of the runs that were asked for wait, since groups of them are paused. */
  readonly paused: number
  readonly failed: number
  /** The first failures, at most 20. */
  readonly failures: readonly { readonly key: KeyJson; readonly message: string }[]
}

/** What came of it for one of them. */
export interface BulkDone {
  readonly changed: boolean
  /** The run that was asked for waits. Default false. */
  readonly paused?: boolean
}

export interface BulkPlan extends Pick<BulkJson, 'scheduler' | 'action' | 'of' | 'by'> {
  readonly keys: readonly KeyJson[]
  readonly listeners: Pick<ListenerManager, 'addSchedulerListener' | 'removeSchedulerListener'>
  /** `id` is that of the bulk action. */
  readonly carryOut: (key: KeyJson, id: string) => Promise<BulkDone>
  /** Called once, when the last one is done or no more are begun. Must not throw. */
  readonly onEnd: (state: BulkJson) => void
}

interface Run {
  state: BulkJson
  isStopping: boolean
  /** What ends the process stops it, and no person. */
  isCutOff: boolean
  /** Resolves when it has ended. */
  ended: Promise<void>
  readonly end: () => void
}

const runningMax = 4
const keptMax = 100
const failuresMax = 20
/** How long what ends the process waits for the object that an action is at. */
const cutOffGraceMs = 2000

/** Actions on many objects: they run in the server, one object after the other, and can be watched and stopped. */
export class BulkRuns {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #runs = new Map<string, Run>()
  #isClosed = false

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  /** @throws SchedulerError ERR_RATE_LIMITED when too many run; ERR_SERVER_CLOSED */
  begin({ keys, carryOut, onEnd, listeners, ...plan }: BulkPlan): BulkJson {
    if (this.#isClosed) throw serverClosed()
    const running = [...this.#runs.values()].filter(({ state }) => state.status === 'running')
    if (running.length >= runningMax) {
      throw new SchedulerError('ERR_RATE_LIMITED', `${runningMax} bulk actions run, which is the limit.`)
    }
    this.#forgetOld()
    const id = systemIds.uniqueName()
    const state: BulkJson = {
      id,
      ...plan,
      status: 'running',
      startedMs: this.#clock.now(),
      endedMs: null,
      total: keys.length,
      done: 0,
      changed: 0,
      paused: 0,
      failed: 0,
      failures: [],
    }
    // The server may be closed after its scheduler, when nothing can be written any more.
    const listener: SchedulerListener = { schedulerShuttingdown: () => this.#cutOff([run]) }
    const end = (): void => {
      if (run.state.status !== 'running') return
      listeners.removeSchedulerListener(listener)
      this.#end(run)
      onEnd(run.state)
    }
    const run: Run = { state, isStopping: false, isCutOff: false, ended: Promise.resolve(), end }
    this.#runs.set(id, run)
    listeners.addSchedulerListener(listener)
    run.ended = this.#carryOut(run, keys, carryOut)
      .catch((error: unknown) => {
        this.#logger.error({ err: error }, 'a bulk action failed')
      })
      .finally(end)
    return state
  }

  all(): readonly BulkJson[] {
    return [...this.#runs.values()].map(({ state }) => state).reverse()
  }

  /** @throws SchedulerError ERR_NOT_FOUND */
  get(id: string): BulkJson {
    return this.#require(id).state
  }

  /** Stops after the object that is being done; answers whether it ran. */
  stop(id: string): boolean {
    const run = this.#require(id)
    if (run.state.status !== 'running') return false
    run.isStopping = true
    return true
  }

  /** Stops all of them, each after the object that is being done; none begins any more. */
  close(): Promise<void> {
    this.#isClosed = true
    return this.#cutOff([...this.#runs.values()])
  }

  /** Resolves when they have ended, and do no more; one whose object takes too long ends without it. */
  async #cutOff(runs: readonly Run[]): Promise<void> {
    const running = runs.filter(({ state }) => state.status === 'running')
    if (running.length === 0) return
    for (const run of running) {
      run.isStopping = true
      run.isCutOff = true
    }
    const over = new AbortController()
    const ended = Promise.all(running.map((run) => run.ended))
    await Promise.race([ended, pause(this.#clock, cutOffGraceMs, over.signal)])
    over.abort()
    for (const run of running) run.end()
  }

  #end(run: Run): void {
    const status = run.state.done === run.state.total ? 'done' : 'stopped'
    run.state = { ...run.state, status, endedMs: this.#clock.now() }
    const { id, action, of, by, done, total } = run.state
    if (status === 'done' || !run.isCutOff) return
    this.#logger.warn(
      { bulk: id, action, of, by, done, total },
      'a bulk action was stopped, because the server or its scheduler ends',
    )
  }

  #require(id: string): Run {
    const run = this.#runs.get(id)
    if (run !== undefined) return run
    throw new SchedulerError(
      'ERR_NOT_FOUND',
      'There is no bulk action of that id; the last hundred are kept.',
    )
  }

  async #carryOut(run: Run, keys: readonly KeyJson[], carryOut: BulkPlan['carryOut']): Promise<void> {
    for (const key of keys) {
      // Before each of them requests are answered, also where the store answers at once: that of this action first.
      await nextTurn(this.#clock)
      if (run.isStopping) break
      await this.#carryOutOne(run, key, carryOut)
    }
  }

  async #carryOutOne(run: Run, key: KeyJson, carryOut: BulkPlan['carryOut']): Promise<void> {
    try {
      const one = await carryOut(key, run.state.id)
      if (run.state.status !== 'running') return
      const { done, changed, paused } = run.state
      run.state = {
        ...run.state,
        done: done + 1,
        changed: changed + (one.changed ? 1 : 0),
        paused: paused + (one.paused === true ? 1 : 0),
      }
    } catch (error) {
      if (run.state.status !== 'running') return
      const { done, failed, failures } = run.state
      // As for a single request: what is not for clients is logged instead.
      const more =
        failures.length < failuresMax
          ? [{ key, message: problemOf(error, this.#logger, `bulk ${run.state.action}`).detail }]
          : []
      run.state = { ...run.state, done: done + 1, failed: failed + 1, failures: [...failures, ...more] }
    }
  }

  #forgetOld(): void {
    for (const [id, { state }] of this.#runs) {
      if (this.#runs.size < keptMax) return
      if (state.status !== 'running') this.#runs.delete(id)
    }
  }
}
