import assert from 'node:assert/strict'
import { type IdGenerator, seededIds } from '../../core/ids.ts'
import type { JobDataMap } from '../../core/job-data-map.ts'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { silentLogger } from '../../core/logger.ts'
import { bareJob, type JobDetail } from '../../jobs/job-detail.ts'
import type { NodeReport } from '../../jobstore/cluster-view.ts'
import type { TriggerFiredBundle } from '../../jobstore/fired-bundle.ts'
import type {
  AcquireAndFireRequest,
  AcquiredAndFired,
  AcquiredTrigger,
  AcquireRequest,
  CompletedExecutionInstruction,
  CompletionAnswer,
  JobCompletion,
  JobStore,
  JobStoreContext,
} from '../../jobstore/job-store.ts'
import type { TriggerState } from '../../jobstore/trigger-state.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { ManualClock } from '../../time/manual-clock.ts'
import { HolidayCalendar } from '../../triggers/calendars/holiday-calendar.ts'
import {
  SimpleScheduleBuilder,
  type SimpleTriggerFields,
} from '../../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import { TriggerFamilies } from '../../triggers/families/trigger-families.ts'
import type { ScheduleBuilder } from '../../triggers/fluent-trigger-builder.ts'
import type { SimpleMisfireInstruction } from '../../triggers/misfire-instruction.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { TriggerFamily } from '../../triggers/trigger-family.ts'
import { RecordingSignaler } from './recording-signaler.ts'

export const misfireThresholdMs = 60_000

/** Triggers of another family, for the cases to store in place of simple ones. */
export interface ConformanceTriggers {
  readonly family: TriggerFamily
  /**
   * A schedule that fires at its start and then every `repeatIntervalMs`, `repeatCount` more times or for ever with -1,
   * until the exclusive end; and whose misfires are treated as those of a simple trigger with these fields, for the
   * instructions `smart`, `ignore`, `rescheduleNextWithExistingCount` and `rescheduleNextWithRemainingCount`.
   */
  readonly schedule: (rule: SimpleTriggerFields) => ScheduleBuilder<Trigger>
}

/**
 * A simple trigger, or one of the family that is tested, by what differs from one that fires once, now, in group
 * `DEFAULT`, for the bed's own job.
 */
export interface TriggerSpec {
  readonly group?: string
  readonly job?: JobDetail
  /** Start, in milliseconds from the clock's present time. Default 0. */
  readonly inMs?: number
  /** End, in milliseconds from the clock's present time. Default none. */
  readonly endsInMs?: number
  /** Interval in milliseconds; without `times` the trigger repeats for ever. */
  readonly everyMs?: number
  /** How often it fires in all. */
  readonly times?: number
  readonly priority?: number
  readonly calendar?: string
  readonly misfire?: SimpleMisfireInstruction
  readonly data?: JobDataMap
  readonly description?: string
}

/** A store with a manual clock and a recording signaler, and short methods for what cases do. */
export class Testbed {
  readonly clock: ManualClock
  readonly store: JobStore
  readonly signals: RecordingSignaler = new RecordingSignaler()
  /** Job types that this node has no code for. */
  readonly unknownJobTypes: Set<string> = new Set<string>()
  /** A durable job that allows concurrent execution; stored by `schedule` when it is needed. */
  readonly job: JobDetail = jobDetail('job', { durable: true })
  /** What this node says of itself. */
  nodeReport: NodeReport = { status: 'started', eventLoopLagMs: null }
  /** Whether `start` fires in the step that finds the trigger. */
  startsAtOnce = false
  readonly #triggers: ConformanceTriggers | null
  readonly #instanceId: string
  readonly #ids: IdGenerator

  constructor(
    store: JobStore,
    clock: ManualClock,
    instanceId: string,
    triggers: ConformanceTriggers | null = null,
  ) {
    this.store = store
    this.#triggers = triggers
    this.clock = clock
    this.#instanceId = instanceId
    this.#ids = seededIds(seedOf(instanceId))
  }

  get context(): JobStoreContext {
    return {
      schedulerName: 'conformance',
      instanceId: this.#instanceId,
      clock: this.clock,
      ids: this.#ids,
      logger: silentLogger,
      signaler: this.signals,
      misfireThresholdMs,
      knowsJobType: (jobType) => !this.unknownJobTypes.has(jobType),
      remoteItems: (_, data) => Number(data['items'] ?? 1),
      triggerFamilies: new TriggerFamilies(this.#triggers === null ? [] : [this.#triggers.family]),
      jobTypes: () => [],
      nodeReport: () => this.nodeReport,
    }
  }

  /** The type of the triggers that {@link Testbed.trigger} makes. */
  get triggerType(): string {
    return this.#triggers?.family.type ?? 'simple'
  }

  now(): EpochMs {
    return this.clock.now()
  }

  /** A trigger with its first fire time, as a scheduler hands it to a store. */
  trigger(name: string, spec: TriggerSpec = {}): Trigger {
    const { everyMs, times, misfire = 'smart' } = spec
    const rule: SimpleTriggerFields = {
      repeatIntervalMs: everyMs ?? 0,
      repeatCount: times === undefined ? (everyMs === undefined ? 0 : -1) : times - 1,
      misfireInstruction: misfire,
    }
    const schedule: ScheduleBuilder<Trigger> =
      this.#triggers === null ? SimpleScheduleBuilder.of(rule) : this.#triggers.schedule(rule)
    let builder = TriggerBuilder.newTrigger({ clock: this.clock })
      .withIdentity(name, spec.group)
      .forJob(spec.job ?? this.job)
      .startAt(new Date(this.now() + (spec.inMs ?? 0)))
      .endAt(spec.endsInMs === undefined ? null : new Date(this.now() + spec.endsInMs))
      .withPriority(spec.priority ?? 5)
      .modifiedByCalendar(spec.calendar ?? null)
      .withDescription(spec.description ?? null)
    if (spec.data !== undefined) builder = builder.usingJobData(spec.data)
    return builder.withSchedule(schedule).build().computeFirstFireTime(null)
  }

  /** Stores a trigger, and its job when that is not stored yet. */
  async schedule(name: string, spec: TriggerSpec = {}): Promise<Trigger> {
    const trigger = this.trigger(name, spec)
    await this.scheduleAll([trigger], spec.job)
    return trigger
  }

  /** Stores calendars that include every instant. */
  async addCalendars(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const calendar = new HolidayCalendar({ excludedDates: [], timeZone: 'UTC' })
      await this.store.addCalendar(name, calendar, { replace: false, updateTriggers: false })
    }
  }

  async scheduleAll(triggers: readonly Trigger[], job: JobDetail = this.job): Promise<void> {
    const isStored = (await this.store.getJob(job.key)) !== null
    await this.store.scheduleJobs([{ job: isStored ? null : job, triggers }], { replace: false })
  }

  /** Claims what is due now (or as asked), at most ten. */
  acquire(request: Partial<AcquireRequest> = {}): Promise<readonly AcquiredTrigger[]> {
    return this.store.acquireNextTriggers({
      noLaterThanMs: this.now(),
      maxCount: 10,
      timeWindowMs: 0,
      ...request,
    })
  }

  /** The names of the triggers that `acquire` claims. */
  async acquireNames(request: Partial<AcquireRequest> = {}): Promise<string[]> {
    return namesOf(await this.acquire(request))
  }

  /** Claims exactly the trigger of this name. */
  async acquireOne(name: string): Promise<AcquiredTrigger> {
    const acquired = await this.acquire({ maxCount: 1 })
    assert.deepEqual(namesOf(acquired), [name])
    return only(acquired)
  }

  /** Marks a claim as fired, which must succeed. */
  async fire(claim: AcquiredTrigger): Promise<TriggerFiredBundle> {
    const result = only(await this.store.triggersFired([claim]))
    assert.ok(result.kind === 'fired', `the claim on '${claim.trigger.key.name}' fires, not '${result.kind}'`)
    return result.bundle
  }

  async fireKind(claim: AcquiredTrigger): Promise<string> {
    return only(await this.store.triggersFired([claim])).kind
  }

  /** Claims and fires the trigger of this name, which must be the first one due. */
  async start(name: string): Promise<TriggerFiredBundle> {
    if (!this.startsAtOnce) return this.fire(await this.acquireOne(name))
    const { fired, acquired } = await this.acquireAndFire({ maxCount: 1 })
    assert.deepEqual([...namesOf(fired), ...namesOf(acquired)], [name])
    return fired[0] ?? this.fire(only(acquired))
  }

  /** Fires what is due now, and claims what is due later as asked; at most ten. */
  async acquireAndFire(request: Partial<AcquireAndFireRequest> = {}): Promise<AcquiredAndFired> {
    const batch = await this.store.acquireAndFire?.({
      noLaterThanMs: this.now(),
      maxCount: 10,
      timeWindowMs: 0,
      ...request,
    })
    assert.ok(batch !== undefined, 'a store that fires at once has acquireAndFire')
    return batch
  }

  complete(
    bundle: TriggerFiredBundle,
    instruction: CompletedExecutionInstruction = 'noop',
    rest: Partial<JobCompletion> = {},
  ): Promise<CompletionAnswer> {
    return this.store.triggeredJobsComplete([completionOf(bundle, instruction, rest)])
  }

  state(name: string, group?: string): Promise<TriggerState> {
    return this.store.getTriggerState(new TriggerKey(name, group))
  }

  async states(...names: readonly string[]): Promise<TriggerState[]> {
    const states: TriggerState[] = []
    for (const name of names) states.push(await this.state(name))
    return states
  }

  async stored(name: string, group?: string): Promise<Trigger> {
    const trigger = await this.store.getTrigger(new TriggerKey(name, group))
    assert.ok(trigger !== null, `trigger '${name}' is stored`)
    return trigger
  }

  /** Lets the execution of a job in error put one trigger into the ERROR state. */
  async putInError(name: string): Promise<void> {
    await this.complete(await this.start(name), 'setTriggerError')
  }
}

/** Another one for each node, whose names are unique only then. */
function seedOf(instanceId: string): number {
  const bytes = new TextEncoder().encode(instanceId)
  return bytes.reduce((seed, byte) => (Math.imul(seed, 31) + byte) >>> 0, 0)
}

export function jobDetail(name: string, changes: Partial<JobDetail> & { group?: string } = {}): JobDetail {
  const { group, ...fields } = changes
  return { ...bareJob(new JobKey(name, group), 'noop'), ...fields }
}

export function completionOf(
  bundle: TriggerFiredBundle,
  instruction: CompletedExecutionInstruction = 'noop',
  rest: Partial<JobCompletion> = {},
): JobCompletion {
  const { fireInstanceId, trigger, jobDetail: detail } = bundle
  return {
    fireInstanceId,
    trigger,
    jobDetail: detail,
    instruction,
    jobDataMap: null,
    retryTrigger: null,
    ...rest,
  }
}

export function namesOf(acquired: readonly AcquiredTrigger[]): string[] {
  return acquired.map(({ trigger }) => trigger.key.name)
}

/** The texts of keys, sorted, for answers in no order. */
export function textsOf(keys: readonly { toString(): string }[]): string[] {
  return keys.map(String).sort()
}

/** The one element of a list that must have exactly one. */
export function only<Element>(elements: readonly Element[]): Element {
  assert.equal(elements.length, 1)
  const [element] = elements
  assert.ok(element !== undefined)
  return element
}

/** Asserts that something is refused with an error of this library that has the given code. */
export async function refuses(action: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(action, (error: unknown) => {
    assert.ok(error instanceof Error)
    assert.equal((error as { code?: unknown }).code, code)
    return true
  })
}
