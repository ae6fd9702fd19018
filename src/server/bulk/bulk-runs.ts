import { SchedulerError } from '../../core/errors.ts'
import { systemIds } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import { unawaited } from '../../core/promises.ts'
import type { Clock } from '../../time/clock.ts'
import { nextTurn } from '../../time/next-turn.ts'
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
  readonly carryOut: (key: KeyJson) => Promise<BulkDone>
  /** Called when the last one is done. */
  readonly onEnd: () => void
}

interface Run {
  state: BulkJson
  isStopping: boolean
}

const runningMax = 4
const keptMax = 100
const failuresMax = 20

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
  begin({ keys, carryOut, onEnd, ...plan }: BulkPlan): BulkJson {
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
    const run: Run = { state, isStopping: false }
    this.#runs.set(id, run)
    unawaited(this.#carryOut(run, keys, carryOut).finally(onEnd), (error) => {
      this.#logger.error({ err: error }, 'a bulk action failed')
    })
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

  /** Stops all of them; none begins any more. */
  close(): void {
    this.#isClosed = true
    for (const run of this.#runs.values()) run.isStopping = true
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
      if (run.isStopping) break
      await this.#carryOutOne(run, key, carryOut)
    }
    const status = run.state.done === run.state.total ? 'done' : 'stopped'
    run.state = { ...run.state, status, endedMs: this.#clock.now() }
  }

  async #carryOutOne(run: Run, key: KeyJson, carryOut: BulkPlan['carryOut']): Promise<void> {
    try {
      const one = await carryOut(key)
      const { done, changed, paused } = run.state
      run.state = {
        ...run.state,
        done: done + 1,
        changed: changed + (one.changed ? 1 : 0),
        paused: paused + (one.paused === true ? 1 : 0),
      }
    } catch (error) {
      const { done, failed, failures } = run.state
      // As for a single request: what is not for clients is logged instead.
      const more =
        failures.length < failuresMax
          ? [{ key, message: problemOf(error, this.#logger, `bulk ${run.state.action}`).detail }]
          : []
      run.state = { ...run.state, done: done + 1, failed: failed + 1, failures: [...failures, ...more] }
    }
    // Between two of them requests are answered, also where the store answers at once.
    await nextTurn(this.#clock)
  }

  #forgetOld(): void {
    for (const [id, { state }] of this.#runs) {
      if (this.#runs.size < keptMax) return
      if (state.status !== 'running') this.#runs.delete(id)
    }
  }
}
