import type { JobAndTriggers } from '../../src/jobstore/job-and-triggers.ts'
import type {
  AcquiredTrigger,
  JobCompletion,
  JobStore,
  JobStoreContext,
  TriggerFiredResult,
} from '../../src/jobstore/job-store.ts'
import type { SchedulerSignaler } from '../../src/jobstore/scheduler-signaler.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import type { HistoryFact } from './history.ts'
import {
  InjectedFailure,
  interceptJobStore,
  type StoreCall,
  type StoreMethod,
} from './intercept-job-store.ts'
import type { SimClock } from './sim-clock.ts'
import type { SimRandom } from './sim-random.ts'

/** Chance that one trigger of a batch cannot be fired. */
const oneFails = 0.1

interface Instant {
  readonly atMs: number
  readonly elapsedMs: number
}

/** How badly a store behaves: chances per call. */
export interface StoreFaults {
  readonly delay: number
  readonly failure: number
  readonly lostReply: number
}

/** The longest pause of the loop after failures of this store, milliseconds. */
const retryDelayMaxMs = 2000
const loopMethods: readonly StoreMethod[] = [
  'acquireNextTriggers',
  'releaseAcquiredTriggers',
  'releaseAllAcquiredTriggers',
  'triggersFired',
  'triggeredJobsComplete',
  // Asked for by the loop only after a lost answer.
  'getJob',
]

/** Operations after which triggers may be due that waited for no fault of their own. */
const freeingMethods: readonly StoreMethod[] = [
  'addCalendar',
  'resetTriggerFromErrorState',
  'resumeAll',
  'resumeJob',
  'resumeJobs',
  'resumeTrigger',
  'resumeTriggers',
]
/** When the answer of one of these is lost, the scheduler may not hear of the change until it looks again. */
const announcedMethods: readonly StoreMethod[] = [...freeingMethods, 'scheduleJobs', 'rescheduleTrigger']
const idleWaitMaxMs = 30_000

/**
 * A store on a bad day, over a real one: calls take their time, fail before anything happened, or happen while the
 * answer is lost. What really happened goes into the history, in the order in which it did.
 */
export class SimStore {
  /** The store to give to a scheduler. */
  readonly store: JobStore
  faults: StoreFaults | null = null
  readonly #inner: JobStore
  /** The calls that are under way. */
  readonly #inFlight: Set<StoreMethod>
  readonly #clock: SimClock
  readonly #random: SimRandom
  readonly #observe: (fact: HistoryFact) => void
  /** What the store says while an operation is carried out; it follows the operation in the history. */
  #saying: HistoryFact[] | null = null

  constructor(
    inner: JobStore,
    clock: SimClock,
    random: SimRandom,
    inFlight: Set<StoreMethod>,
    observe: (fact: HistoryFact) => void,
  ) {
    this.#inFlight = inFlight
    this.#inner = inner
    this.#clock = clock
    this.#random = random
    this.#observe = observe
    this.store = interceptJobStore(inner, (call) => this.#note(call), {
      acquireRetryDelayMs: (failures) => Math.min(20 * 2 ** failures, retryDelayMaxMs),
    })
  }

  async #note(call: StoreCall): Promise<unknown> {
    this.#inFlight.add(call.method)
    try {
      const answer = await this.#around(call)
      if (call.method === 'triggeredJobsComplete') this.#freeSlots(call)
      return answer
    } finally {
      this.#inFlight.delete(call.method)
    }
  }

  #freeSlots(call: StoreCall): void {
    for (const { fireInstanceId } of call.parameters[0] as readonly JobCompletion[]) {
      this.#observe({ kind: 'slotFreed', fireInstanceId })
    }
  }

  async #around(call: StoreCall): Promise<unknown> {
    // What is left when a scheduler has shut down is looked at afterwards.
    if (call.method === 'shutdown') return undefined
    const called = { atMs: this.#clock.now(), elapsedMs: this.#clock.elapsedMs() }
    const { faults } = this
    if (faults === null) return this.#record(call, called)
    const random = this.#random
    const isDelayed = random.chance(faults.delay)
    const fails = random.chance(faults.failure)
    const losesReply = random.chance(faults.lostReply)
    let isBad = fails || losesReply
    try {
      if (isDelayed) await this.#clock.sleep(this.#delayMs())
      if (fails) throw new InjectedFailure(`${call.method} fails`)
      const answer = await this.#record(call, called)
      isBad ||= call.method === 'triggersFired' && hasFailure(answer as readonly TriggerFiredResult[])
      if (isDelayed) await this.#clock.sleep(this.#delayMs())
      if (losesReply) this.#loseReply(call, answer)
      return answer
    } finally {
      if (isBad || this.#clock.elapsedMs() > called.elapsedMs) this.#disturb(call.method, isBad)
    }
  }

  /** Says how long a bad call may make triggers late. */
  #disturb(method: StoreMethod, fails: boolean): void {
    let untilMs = this.#clock.now()
    if (loopMethods.includes(method)) untilMs += fails ? retryDelayMaxMs : 0
    else if (announcedMethods.includes(method)) untilMs += fails ? idleWaitMaxMs : 0
    else return
    this.#observe({ kind: 'disturbed', untilMs, what: `${method} ${fails ? 'failed' : 'was late'}` })
  }

  #delayMs(): number {
    return this.#random.chance(0.05) ? this.#random.integer(1, 8000) : this.#random.integer(0, 30)
  }

  #loseReply(call: StoreCall, answer: unknown): never {
    if (call.method === 'triggersFired') {
      for (const result of answer as readonly TriggerFiredResult[]) {
        if (result.kind === 'fired') {
          this.#observe({ kind: 'lost', fireInstanceId: result.bundle.fireInstanceId })
        }
      }
    }
    throw new InjectedFailure(`the answer of ${call.method} is lost`)
  }

  async #record(call: StoreCall, called: Instant): Promise<unknown> {
    const proceed = this.#proceed(call)
    const said: HistoryFact[] = []
    this.#saying = said
    // The store works in the turn in which it is called; only its answer comes later.
    const answering = proceed()
    this.#saying = null
    try {
      const answer = await answering
      for (const fact of factsOf(call, answer, called, this.#clock)) this.#observe(fact)
      if (freeingMethods.includes(call.method)) {
        this.#observe({ kind: 'disturbed', untilMs: this.#clock.now(), what: call.method })
      }
      return answer
    } finally {
      for (const fact of said) this.#observe(fact)
    }
  }

  #proceed(call: StoreCall): () => Promise<unknown> {
    if (call.method === 'initialize') {
      const [context] = call.parameters as [JobStoreContext]
      return () => this.#inner.initialize({ ...context, signaler: this.#listening(context.signaler) })
    }
    if (call.method === 'triggersFired' && this.faults !== null && this.#random.chance(oneFails)) {
      return () => this.#fireAllButOne(call.parameters[0] as readonly AcquiredTrigger[])
    }
    return call.proceed
  }

  /** One trigger of the batch cannot be fired; its claim is kept. */
  async #fireAllButOne(claims: readonly AcquiredTrigger[]): Promise<readonly TriggerFiredResult[]> {
    const bad = this.#random.integer(0, claims.length - 1)
    const results = await this.#inner.triggersFired(claims.filter((_, index) => index !== bad))
    const failed: TriggerFiredResult = { kind: 'failed', error: new InjectedFailure('one cannot fire') }
    return [...results.slice(0, bad), failed, ...results.slice(bad)]
  }

  #listening(signaler: SchedulerSignaler): SchedulerSignaler {
    const say = (fact: HistoryFact): void => {
      if (this.#saying === null) this.#observe(fact)
      else this.#saying.push(fact)
    }
    return {
      ...signaler,
      triggerMisfired: (trigger) => {
        say({ kind: 'misfired', trigger })
        signaler.triggerMisfired(trigger)
      },
      jobDeleted: (jobKey) => {
        say({ kind: 'jobRemoved', jobKey: jobKey.toString() })
        signaler.jobDeleted(jobKey)
      },
    }
  }
}

function hasFailure(results: readonly TriggerFiredResult[]): boolean {
  return results.some((result) => result.kind === 'failed')
}

/** What an operation did, from what it was asked and what it answered. */
function factsOf(call: StoreCall, answer: unknown, called: Instant, clock: SimClock): HistoryFact[] {
  const [first, second] = call.parameters
  switch (call.method) {
    case 'scheduleJobs':
      return (first as readonly JobAndTriggers[]).flatMap(({ job, triggers }): HistoryFact[] => [
        ...(job === null ? [] : [jobStored(job)]),
        ...triggers.map((trigger): HistoryFact => ({ kind: 'stored', trigger })),
      ])
    case 'addJob':
      return [jobStored(first as JobCompletion['jobDetail'])]
    case 'rescheduleTrigger':
      if (answer !== true) return []
      return [
        { kind: 'removed', triggerKey: String(first) },
        { kind: 'stored', trigger: second as Trigger },
      ]
    case 'deleteTriggers':
      return (answer as readonly unknown[]).map((key) => ({ kind: 'removed', triggerKey: String(key) }))
    case 'deleteJobs':
      return (answer as readonly unknown[]).map((key) => ({ kind: 'jobRemoved', jobKey: String(key) }))
    case 'clear':
      return [{ kind: 'cleared' }]
    case 'resetTriggerFromErrorState':
      return answer === true ? [{ kind: 'reset', triggerKey: String(first) }] : []
    case 'addCalendar': {
      const [name, calendar, options] = call.parameters as [string, Calendar, { updateTriggers: boolean }]
      return [{ kind: 'calendar', name, calendar, updateTriggers: options.updateTriggers }]
    }
    case 'acquireNextTriggers':
      return (answer as readonly AcquiredTrigger[]).map(({ trigger, fireInstanceId }) => ({
        kind: 'acquired',
        triggerKey: trigger.key.toString(),
        fireInstanceId,
      }))
    case 'triggersFired':
      return firedFacts(answer as readonly TriggerFiredResult[], called, clock)
    case 'triggeredJobsComplete':
      return (first as readonly JobCompletion[]).map((completion) => ({ kind: 'completed', ...completion }))
    default:
      return []
  }
}

function jobStored(job: JobCompletion['jobDetail']): HistoryFact {
  const { disallowConcurrentExecution: nonConcurrent, jobType, key } = job
  return { kind: 'jobStored', jobKey: key.toString(), jobType, nonConcurrent }
}

function firedFacts(results: readonly TriggerFiredResult[], called: Instant, clock: SimClock): HistoryFact[] {
  const decidedAtMs = called.atMs
  const tookMs = clock.elapsedMs() - called.elapsedMs
  const jumpedMeanwhile = Math.abs(clock.now() - decidedAtMs - tookMs) > 1
  return results.flatMap((result): HistoryFact[] => {
    if (result.kind !== 'fired') return []
    const { fireInstanceId, trigger, scheduledFireTimeMs: plannedMs, fireTimeMs } = result.bundle
    return [{ kind: 'fired', fireInstanceId, trigger, plannedMs, fireTimeMs, decidedAtMs, jumpedMeanwhile }]
  })
}
