import type { Logger } from '../../core/logger.ts'
import type { ExecutingJob } from '../../jobstore/cluster-view.ts'
import type { ExecutionSummary } from '../../jobstore/queries.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock, ClockTimer, EpochMs } from '../../time/clock.ts'
import { keyToJson } from '../wire/fields.ts'
import { durationMsOf } from '../wire/runs.ts'
import type { LiveEventJson } from './live-events.ts'

/** How long after one look the next begins. After failures it is longer, up to the most. */
const restMs = { first: 1000, most: 30_000 }
/** How many executions that ended one look reads: those that began last. */
const endedMax = 100
/** Of how many executions that are not in flight any more one look asks the history how they ended. */
const askedMax = 10
/** How long changes of others gather, so that a hundred of them are one event. */
const gatherMs = 200
/** How far the clocks of nodes may differ so that nothing is missed. */
const oldMs = 60_000

export type PeerEvent = Omit<LiveEventJson, 'scheduler'>

/**
 * What other nodes run and change, for a server that hears its own node alone. Of changes it hears from the store. For
 * runs it looks at the firings in flight and at the newest of the history about once a second, which costs those who
 * fire nothing. Executions that begin and end between two looks are seen as far as the history keeps them.
 */
export class PeerWatch {
  readonly #scheduler: Scheduler
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #tell: (event: PeerEvent) => void
  #seen: Seen
  #timer: ClockTimer | null = null
  #gathering: ClockTimer | null = null
  readonly #stopHearing: () => void
  #restMs = restMs.first
  #isStopped = false

  constructor(
    scheduler: Scheduler,
    { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
    tell: (event: PeerEvent) => void,
  ) {
    this.#scheduler = scheduler
    this.#clock = clock
    this.#logger = logger
    this.#tell = tell
    this.#seen = nothingSeen(clock.now())
    this.#stopHearing = scheduler.isShutdown
      ? () => {}
      : scheduler.cluster.onChange(() => {
          this.#changed()
        })
    this.#rest(restMs.first)
  }

  stop(): void {
    this.#isStopped = true
    this.#stopHearing()
    this.#gathering?.cancel()
    this.#timer?.cancel()
  }

  #changed(): void {
    this.#gathering ??= this.#clock.setTimer(
      gatherMs,
      () => {
        this.#gathering = null
        const node = this.#scheduler.schedulerInstanceId
        this.#tell({ event: 'changedElsewhere', node, atMs: this.#clock.now() })
      },
      { unref: true },
    )
  }

  #rest(ms: number): void {
    const look = (): void => {
      this.#look().then(
        () => {
          this.#restMs = restMs.first
          this.#rest(this.#restMs)
        },
        (error: unknown) => {
          if (this.#isStopped || this.#scheduler.isShutdown) return
          if (this.#restMs === restMs.first)
            this.#logger.warn({ err: error }, 'events of other nodes are not seen now')
          this.#restMs = Math.min(restMs.most, 2 * this.#restMs)
          this.#rest(this.#restMs)
        },
      )
    }
    if (!this.#isStopped) this.#timer = this.#clock.setTimer(ms, look, { unref: true })
  }

  async #look(): Promise<void> {
    if (!this.#hasPeers()) {
      this.#seen = nothingSeen(this.#clock.now())
      return
    }
    const sinceMs = this.#clock.now() - oldMs
    const executing = (await this.#scheduler.cluster.executingJobs()).filter(({ node }) => this.#isPeer(node))
    const { items } = await this.#scheduler.queryExecutions({ take: endedMax })
    const seen = {
      sinceMs,
      executing: new Map(executing.map((each) => [each.fireInstanceId, each])),
      ended: new Set(items.map(({ fireInstanceId }) => fireInstanceId)),
    }
    const before = this.#seen
    this.#seen = seen
    if (this.#isStopped) return
    for (const each of executing) {
      const isNew = !before.executing.has(each.fireInstanceId) && each.fireTimeMs >= before.sinceMs
      if (isNew) this.#tellBegun(each)
    }
    for (const each of [...items].reverse()) {
      // Of one that was lost, the history has no end: it is new when it was in flight.
      const { fireInstanceId: id } = each
      const isNew = !before.ended.has(id) && (before.executing.has(id) || endedMsOf(each) >= before.sinceMs)
      if (isNew && this.#isPeer(each.node)) this.#tellEnded(each)
    }
    const gone = [...before.executing.values()].filter(
      ({ fireInstanceId: id }) => !seen.executing.has(id) && !seen.ended.has(id),
    )
    for (const [index, each] of gone.entries()) await this.#tellGone(each, index < askedMax)
  }

  /** A store of one scheduler has no others, unless this one only looks at the data of another process. */
  #hasPeers(): boolean {
    const { jobStoreClustered, jobStorePersistent, runningSince } = this.#scheduler.getMetaData()
    return jobStoreClustered || (jobStorePersistent && runningSince === null)
  }

  /** What this node runs is heard from itself. */
  #isPeer(node: string): boolean {
    const { runningSince, schedulerInstanceId } = this.#scheduler.getMetaData()
    return runningSince === null || node !== schedulerInstanceId
  }

  #tellBegun(execution: ExecutingJob): void {
    const { fireTimeMs, scheduledFireTimeMs } = execution
    this.#tell({
      event: 'jobToBeExecuted',
      ...placeOf(execution),
      atMs: fireTimeMs,
      detail: { scheduledFireTimeMs },
    })
  }

  #tellEnded(execution: ExecutionSummary): void {
    const { outcome } = execution
    const place = { ...placeOf(execution), atMs: endedMsOf(execution) }
    if (outcome === 'vetoed') this.#tell({ event: 'jobExecutionVetoed', ...place })
    else if (outcome === 'lost') this.#tell({ event: 'executionLost', ...place, atMs: this.#clock.now() })
    else {
      const detail = { runTimeMs: durationMsOf(execution), failed: outcome !== 'succeeded' }
      this.#tell({ event: 'jobWasExecuted', ...place, detail })
    }
  }

  async #tellGone(execution: ExecutingJob, isAsked: boolean): Promise<void> {
    const found = isAsked ? await this.#scheduler.getExecution(execution.fireInstanceId) : null
    if (this.#isStopped) return
    if (found !== null) this.#tellEnded(found)
    else this.#tell({ event: 'jobWasExecuted', ...placeOf(execution), atMs: this.#clock.now() })
  }
}

/** What one look has seen. */
interface Seen {
  /** What began or ended before this instant is not new to the next look. */
  readonly sinceMs: EpochMs
  readonly executing: ReadonlyMap<string, ExecutingJob>
  readonly ended: ReadonlySet<string>
}

function nothingSeen(sinceMs: EpochMs): Seen {
  return { sinceMs, executing: new Map(), ended: new Set() }
}

function placeOf({
  node,
  jobKey,
  triggerKey,
  fireInstanceId,
}: ExecutingJob | ExecutionSummary): Pick<
  Required<PeerEvent>,
  'node' | 'jobKey' | 'triggerKey' | 'fireInstanceId'
> {
  return { node, jobKey: keyToJson(jobKey), triggerKey: keyToJson(triggerKey), fireInstanceId }
}

/** An execution that was lost has no end. */
function endedMsOf({ finishedTimeMs, fireTimeMs }: ExecutionSummary): EpochMs {
  return finishedTimeMs ?? fireTimeMs
}
