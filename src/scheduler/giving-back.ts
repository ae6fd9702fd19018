import { JobPersistenceError } from '../core/errors.ts'
import { JobBuilder } from '../jobs/job-builder.ts'
import type { AcquiredTrigger, JobCompletion, JobStore } from '../jobstore/job-store.ts'
import type { Clock } from '../time/clock.ts'
import type { Gate } from '../time/gate.ts'
import type { LoopFailures } from './loop-failures.ts'
import type { Notifier } from './notifier.ts'

/** How often a halting loop tries to release its claims before it leaves them to recovery. */
const releaseAttemptsMax = 10
/** The longest pause between these tries, whatever the store asks for, so that a halt is short. */
const haltRetryMs = 500
/** How long a halting loop waits for a lock, again and again: most are those of another node's search. */
const haltLockWaitsMs = [10, 20, 40, 80, 160]

/** The loop does nothing else meanwhile. */
const notTakenBack = 'The job store could not take back acquired triggers; nothing fires here until it does.'
const unreturned = 'Acquired triggers could not be released before the halt.'

export interface GivingBackParts {
  readonly clock: Clock
  readonly jobStore: JobStore
  readonly notifier: Notifier
  readonly failures: LoopFailures
  /** Ends a pause between two tries. */
  readonly gate: Gate
  /** Aborted when the loop is to end, and leaves claims to recovery after some tries. */
  readonly haltSignal: AbortSignal
  /** Aborted when the loop calls the store no more. */
  readonly abandonSignal: AbortSignal
}

/** Releases claims in a store that may fail, or where another session's lock is in the way. */
export class GivingBack {
  readonly #parts: GivingBackParts

  constructor(parts: GivingBackParts) {
    this.#parts = parts
  }

  /** Answers the claims that are locked. */
  release(claims: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    return this.#untilDone(() => this.#parts.jobStore.releaseAcquiredTriggers(claims))
  }

  /** The same for claims that the store may have fired, although its answer was lost. */
  releaseOrEnd(claims: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    const { jobStore } = this.#parts
    return this.#untilDone(async () => {
      const held = await jobStore.releaseAcquiredTriggers(claims)
      await endUnanswered(jobStore, claims, held)
      return held
    })
  }

  /** The same for all claims of this scheduler, when the loop does not know each of them. */
  releaseUnknown(known: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    const { jobStore } = this.#parts
    return this.#untilDone(async () => {
      const held = known.length > 0 ? await jobStore.releaseAcquiredTriggers(known) : []
      await jobStore.releaseAllAcquiredTriggers()
      return held
    })
  }

  /** For a halting loop, which waits a little for locks, and reports that claims are still locked then. */
  async waitForLocks(locked: readonly AcquiredTrigger[]): Promise<void> {
    const { abandonSignal, gate, notifier } = this.#parts
    let left = locked
    for (const waitMs of haltLockWaitsMs) {
      if (left.length === 0 || abandonSignal.aborted) break
      await gate.wait(waitMs)
      left = await this.release(left)
    }
    if (left.length > 0) notifier.error(unreturned, null)
  }

  /**
   * Answers what the store answers. When it fails, the loop tries again until it succeeds; a halting loop leaves the
   * claims to recovery after some tries.
   */
  async #untilDone(giveBack: () => Promise<readonly AcquiredTrigger[]>): Promise<readonly AcquiredTrigger[]> {
    const { abandonSignal, clock, failures, gate, haltSignal, notifier } = this.#parts
    for (let attempts = 1; !abandonSignal.aborted; ) {
      failures.asks('the return of acquired triggers')
      try {
        const locked = await giveBack()
        failures.asksNoMore()
        return locked
      } catch (error) {
        failures.add(notTakenBack, error)
        if (haltSignal.aborted && attempts++ === releaseAttemptsMax) {
          notifier.error(unreturned, error)
          return []
        }
        const waitMs = failures.retryAtMs - clock.elapsedMs()
        await gate.wait(haltSignal.aborted ? Math.min(waitMs, haltRetryMs) : waitMs)
      }
    }
    return []
  }
}

/**
 * The store may have fired claims although its answer was lost. Such a firing is ended without a run, because its job
 * would stay blocked for ever. Claims that are still held were not fired; the store ignores the end of one that was not
 * fired.
 *
 * @throws JobPersistenceError when another session has locked the rows of such a firing
 */
async function endUnanswered(
  jobStore: JobStore,
  claims: readonly AcquiredTrigger[],
  held: readonly AcquiredTrigger[],
): Promise<void> {
  const completions: JobCompletion[] = []
  for (const claim of claims) {
    const { trigger, fireInstanceId } = claim
    const { jobKey } = trigger
    if (jobKey === null || held.includes(claim)) continue
    // For a job that was deleted meanwhile the store needs the key only.
    const jobDetail =
      (await jobStore.getJob(jobKey)) ?? JobBuilder.newJob('deleted').withIdentity(jobKey).build()
    completions.push({
      fireInstanceId,
      // With this state the store deletes the trigger only if it has fired for the last time.
      trigger: trigger.withFireState({
        nextFireTimeMs: null,
        previousFireTimeMs: trigger.nextFireTimeMs,
        timesTriggered: trigger.timesTriggered + 1,
        misfiredFireTimeMs: null,
      }),
      jobDetail,
      instruction: 'deleteTrigger',
      jobDataMap: null,
      retryTrigger: null,
    })
  }
  if (completions.length === 0) return
  const { locked } = await jobStore.triggeredJobsComplete(completions)
  if (locked.length > 0) throw new JobPersistenceError('A firing whose answer was lost is locked.')
}
