import { type ErrorCode, SchedulerError } from '../core/errors.ts'
import { firingLatenessMs } from '../jobs/firing-lateness.ts'
import type { JobExecutionContext } from '../jobs/job-definition.ts'
import type { SchedulerNode } from '../jobstore/cluster-view.ts'
import type { ExecutionOutcome } from '../jobstore/queries.ts'
import { endOf } from '../scheduler/execution-report.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { ProbeContext, SchedulerProbe, StoreCall } from '../scheduler/scheduler-probe.ts'
import type { EpochMs } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { CounterId } from './instruments.ts'
import type { Meters } from './meters.ts'
import type { Reading } from './metrics-backend.ts'
import type { Cell } from './series.ts'

/** Begin at 0: Prometheus does not see an increase of a counter that begins with its first event. */
const rare: readonly CounterId[] = ['triggersInError', 'nodeFailures', 'checkInFailures', 'storeRetries']
const rareOfGroup: readonly CounterId[] = ['retries', 'retriesExhausted']
const unwell: readonly ExecutionOutcome[] = ['failed', 'timedOut', 'interrupted', 'lost']
const causes = ['not_running', 'store_failed', 'pool_full', 'other'] as const

/** How old the list of nodes may be, and how long an exporter waits for a new one. */
const nodesMaxAgeMs = 10_000
const nodesTimeoutMs = 2000

/** What is measured at every firing of a job group, found once. */
interface GroupMeters {
  /** The label of the group. */
  readonly group: string
  readonly fires: Cell
  readonly succeeded: Cell
  readonly lateness: (seconds: number) => void
  readonly duration: (seconds: number) => void
}

/** Measures one scheduler: by its events, and as a probe around the calls of its store. */
export class SchedulerMeasurements implements SchedulerProbe {
  readonly #context: ProbeContext
  readonly #meters: Meters
  readonly #name: string
  readonly #stops: (() => void)[] = []
  readonly #byGroup = new Map<string, GroupMeters>()
  /** Since when the scheduler fires; null in standby. */
  #firesSinceMs: EpochMs | null = null
  #poolFullAtMs: EpochMs = Number.NEGATIVE_INFINITY
  #storeFailedAtMs: EpochMs = Number.NEGATIVE_INFINITY
  #nodes: readonly SchedulerNode[] | null = null
  #nodesReadMs = Number.NEGATIVE_INFINITY
  #readingNodes: Promise<void> | null = null

  constructor(context: ProbeContext, meters: Meters) {
    this.#context = context
    this.#meters = meters
    this.#name = context.schedulerName
  }

  async aroundStoreCall<Answer>(
    { operation }: StoreCall<Answer>,
    proceed: () => Promise<Answer>,
  ): Promise<Answer> {
    const { clock } = this.#context
    const calledMs = clock.elapsedMs()
    let result = 'ok'
    try {
      return await proceed()
    } catch (error) {
      result = isRefusal(error) ? 'refused' : 'error'
      if (result === 'error') this.#storeFailedAtMs = clock.now()
      throw error
    } finally {
      const seconds = (clock.elapsedMs() - calledMs) / 1000
      this.#meters.histogram('storeCalls').of(this.#name, operation, result)(seconds)
    }
  }

  statementAnswered(keyword: string, durationMs: number): void {
    this.#meters.histogram('statements').of(this.#name, keyword)(durationMs / 1000)
  }

  transactionRepeated(): void {
    this.#count('storeRetries')
  }

  /** Counts from now on what the scheduler tells, until it has shut down. */
  observe(scheduler: Scheduler): void {
    const { events } = scheduler
    const histogram = this.#meters.histogram.bind(this.#meters)
    this.#stops.push(
      events.on('triggerFired', ({ context }) => {
        this.#fired(context)
      }),
      events.on('jobWasExecuted', ({ context, error }) => {
        this.#noteFullPool()
        const { group, succeeded, duration } = this.#ofGroup(context.jobKey.group)
        if (error === null) succeeded.value++
        else this.#count('executions', group, endOf(error).outcome)
        duration(Math.max(0, context.jobRunTimeMs) / 1000)
      }),
      events.on('jobExecutionVetoed', ({ context }) => {
        this.#count('executions', this.#group(context.jobKey.group), 'vetoed')
      }),
      events.on('executionLost', ({ jobKey }) => {
        this.#count('executions', this.#group(jobKey?.group), 'lost')
      }),
      events.on('triggerMisfired', ({ trigger }) => {
        this.#count('misfires', this.#group(trigger.jobKey?.group), this.#causeOf(trigger))
      }),
      events.on('jobRetryScheduled', ({ context }) => {
        this.#count('retries', this.#group(context.jobKey.group))
      }),
      events.on('retriesExhausted', ({ jobKey }) => {
        this.#count('retriesExhausted', this.#group(jobKey.group))
      }),
      events.on('lockWaitExceeded', ({ waitedMs }) => {
        histogram('lockWaits').of(this.#name)(waitedMs / 1000)
      }),
    )
    for (const id of rare) this.#meters.counter(id).of(this.#name)
    this.#observeNode(scheduler)
    this.#readGauges(scheduler)
  }

  #observeNode({ events }: Scheduler): void {
    this.#stops.push(
      events.on('triggerInError', () => {
        this.#count('triggersInError')
      }),
      events.on('schedulerError', ({ error }) => {
        this.#count('errors', error.code)
      }),
      events.on('nodeFailed', () => {
        this.#count('nodeFailures')
      }),
      events.on('checkInFailed', () => {
        this.#count('checkInFailures')
      }),
      events.on('schedulerStarted', () => {
        this.#firesSinceMs = this.#context.clock.now()
      }),
      events.on('schedulerInStandbyMode', () => {
        this.#firesSinceMs = null
      }),
      events.on('schedulerShutdown', () => {
        for (const stop of this.#stops.splice(0)) stop()
      }),
    )
  }

  #readGauges(scheduler: Scheduler): void {
    const { threadPool } = this.#context
    const gauge = this.#meters.gauge.bind(this.#meters)
    const one = (read: () => number) => async (): Promise<readonly Reading[]> => [
      { labels: [this.#name], value: read() },
    ]
    this.#stops.push(
      gauge(
        'started',
        one(() => (scheduler.isStarted ? 1 : 0)),
      ),
      gauge(
        'poolSize',
        one(() => threadPool.size),
      ),
      gauge(
        'poolBusy',
        one(() => threadPool.size - threadPool.availableThreads()),
      ),
      gauge('nodes', async () => nodeReadings(this.#name, await this.#nodesOf(scheduler))),
      gauge('clockOffset', async () => {
        const self = (await this.#nodesOf(scheduler)).find(({ isSelf }) => isSelf)
        const offsetMs = self?.clockOffsetMs ?? null
        return offsetMs === null ? [] : [{ labels: [this.#name], value: offsetMs / 1000 }]
      }),
    )
  }

  #fired(context: JobExecutionContext): void {
    // A refire belongs to the firing before it.
    if (context.refireCount > 0) return
    this.#noteFullPool()
    const { fires, lateness } = this.#ofGroup(context.jobKey.group)
    fires.value++
    lateness(Math.max(0, firingLatenessMs(context)) / 1000)
  }

  /** An execution that begins or ends in the last slot: triggers that were due until now have waited for it. */
  #noteFullPool(): void {
    const { clock, threadPool } = this.#context
    if (threadPool.availableThreads() === 0) this.#poolFullAtMs = clock.now()
  }

  /** Why a trigger is late, as far as this node knows: what it could not do after the trigger was due. */
  #causeOf(trigger: Trigger): (typeof causes)[number] {
    const dueMs = trigger.nextFireTime?.getTime() ?? Number.POSITIVE_INFINITY
    if (this.#firesSinceMs === null || dueMs < this.#firesSinceMs) return 'not_running'
    if (this.#storeFailedAtMs >= dueMs) return 'store_failed'
    if (this.#poolFullAtMs >= dueMs) return 'pool_full'
    return 'other'
  }

  #ofGroup(name: string): GroupMeters {
    const group = this.#group(name)
    let found = this.#byGroup.get(group)
    if (found === undefined) {
      const meters = this.#meters
      found = {
        group,
        fires: meters.counter('fires').of(this.#name, group),
        succeeded: meters.counter('executions').of(this.#name, group, 'succeeded'),
        lateness: meters.histogram('lateness').of(this.#name, group),
        duration: meters.histogram('duration').of(this.#name, group),
      }
      this.#byGroup.set(group, found)
      for (const outcome of unwell) meters.counter('executions').of(this.#name, group, outcome)
      for (const id of rareOfGroup) meters.counter(id).of(this.#name, group)
      for (const cause of causes) meters.counter('misfires').of(this.#name, group, cause)
    }
    return found
  }

  #group(group: string | undefined): string {
    return this.#meters.groups.labelOf(group ?? '')
  }

  #count(id: CounterId, ...labels: readonly string[]): void {
    this.#meters.counter(id).of(this.#name, ...labels).value++
  }

  /** The nodes as they were a moment ago; none while they are not known, because unknown is not 0. */
  async #nodesOf(scheduler: Scheduler): Promise<readonly SchedulerNode[]> {
    const { clock } = this.#context
    if (clock.elapsedMs() - this.#nodesReadMs < nodesMaxAgeMs) return this.#nodes ?? []
    this.#readingNodes ??= this.#readNodes(scheduler)
    const isRead = await settledWithin(clock, nodesTimeoutMs, this.#readingNodes)
    return isRead ? (this.#nodes ?? []) : []
  }

  async #readNodes(scheduler: Scheduler): Promise<void> {
    try {
      this.#nodes = await scheduler.cluster.nodes()
    } catch {
      // The exporter leaves out what is not known; the store reports its failures itself.
      this.#nodes = null
    } finally {
      this.#nodesReadMs = this.#context.clock.elapsedMs()
      this.#readingNodes = null
    }
  }
}

/** What a store answers that works: the caller asked for what cannot be. */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'ERR_OBJECT_ALREADY_EXISTS',
  'ERR_JOB_NOT_FOUND',
  'ERR_CALENDAR_NOT_FOUND',
  'ERR_CALENDAR_IN_USE',
  'ERR_JOB_NOT_DURABLE',
  'ERR_NODE_ALIVE',
  'ERR_NOT_FOUND',
  'ERR_NOT_SUPPORTED',
])

function isRefusal(error: unknown): boolean {
  if (!SchedulerError.is(error)) return false
  return error.code.startsWith('ERR_INVALID_') || refusals.has(error.code)
}

function nodeReadings(scheduler: string, nodes: readonly SchedulerNode[]): readonly Reading[] {
  if (nodes.length === 0) return []
  return (['alive', 'overdue', 'failed'] as const).map((state) => ({
    labels: [scheduler, state],
    value: nodes.filter((node) => node.state === state).length,
  }))
}
