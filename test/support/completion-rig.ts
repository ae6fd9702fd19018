import { silentLogger } from '../../src/core/logger.ts'
import { ramJobStore } from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { CompletionAnswer, JobCompletion } from '../../src/jobstore/job-store.ts'
import { SchedulerEventEmitter } from '../../src/listeners/events.ts'
import { ListenerManager } from '../../src/listeners/listener-manager.ts'
import { CompletionWriter } from '../../src/scheduler/completion-writer.ts'
import { Notifier } from '../../src/scheduler/notifier.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { detailOf, firing, jobOf } from './shell-rig.ts'

/** Notes what it is told, and when; refuses what it is told to refuse, and passes over what is locked. */
class Witness extends DelegatingJobStore {
  readonly writes: { readonly ids: readonly string[]; readonly atMs: number }[] = []
  readonly refused = new Set<string>()
  readonly #clock: ManualClock
  readonly locked = new Set<string>()
  readonly hangs = new Set<string>()
  isDown = false
  /** What it throws. */
  failure = new Error('refused')
  /** The most that it takes at once. */
  room = Number.POSITIVE_INFINITY
  /** While set, writes wait for it. */
  gate: Promise<void> | null = null

  constructor(clock: ManualClock) {
    super(ramJobStore())
    this.#clock = clock
  }

  override async triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    const ids = completions.map(({ fireInstanceId }) => fireInstanceId)
    this.writes.push({ ids, atMs: this.#clock.elapsedMs() })
    await this.gate
    if (ids.some((id) => this.hangs.has(id))) await new Promise(() => {})
    if (this.isDown || ids.length > this.room || ids.some((id) => this.refused.has(id))) throw this.failure
    return {
      locked: completions.filter(({ fireInstanceId }) => this.locked.has(fireInstanceId)),
      passedOver: [],
    }
  }
}

const detail = detailOf(jobOf(() => {}))
export function completionOf(fireInstanceId: string, jobDetail = detail): JobCompletion {
  return {
    fireInstanceId,
    trigger: firing(0),
    jobDetail,
    instruction: 'noop',
    jobDataMap: null,
    retryTrigger: null,
  }
}

export interface CompletionRig {
  readonly clock: ManualClock
  readonly store: Witness
  readonly writer: CompletionWriter
  readonly errors: string[]
  readonly infos: string[]
  readonly details: string[]
  readonly written: string[]
  readonly complete: (id: string) => Promise<void>
}

/** A writer whose store keeps nothing. */
export function completionRig(): CompletionRig {
  const clock = new ManualClock()
  const store = new Witness(clock)
  const events = new SchedulerEventEmitter(silentLogger)
  const errors: string[] = []
  const infos: string[] = []
  const details: string[] = []
  const logger = {
    ...silentLogger,
    info: (_fields: object, message: string) => infos.push(message),
    debug: (_fields: object, message: string) => details.push(message),
  }
  events.on('schedulerError', ({ message }) => errors.push(message))
  const writer = new CompletionWriter(store, clock, new Notifier(events, new ListenerManager(), logger), 2)
  const written: string[] = []
  const complete = (id: string): Promise<void> =>
    writer.complete(completionOf(id)).then(() => {
      written.push(id)
    })
  return { clock, store, writer, errors, infos, details, written, complete }
}
