import { checkBoolean, checkName, checkOptions } from '../core/arguments.ts'
import { InvalidArgumentError, type JobExecutionError, SchedulerError } from '../core/errors.ts'
import { checkJobKey, type JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { JobExecutionContext, JobScheduler } from '../jobs/job-definition.ts'
import type { EndedSharding } from '../jobstore/job-store-shards.ts'
import type { JobListener } from '../listeners/job-listener.ts'
import { pause } from '../time/pause.ts'

export interface JobChainLinkOptions {
  /** Run the second job also when the first one failed. Default false. */
  readonly evenAfterFailure?: boolean
}

interface Link {
  readonly second: JobKey
  readonly evenAfterFailure: boolean
}

interface FirstJob {
  readonly jobKey: JobKey
  readonly scheduler: JobScheduler
  /** Whether another node has taken the firing over meanwhile. */
  readonly isTakenOver?: boolean
}

interface Failure {
  readonly follower: JobKey
  readonly error: unknown
}

/** Pauses between tries, doubled each time. A few tries a second from each slot do no harm to a store that is away. */
const pauseMs = { first: 100, most: 2000 }
/** A lock of another session on the follower's row, which counts as an outage, must not keep a slot for ever. */
const triesMaxMs = 3_600_000

/**
 * Runs one job after another: when the first one has ended well, the second one is triggered. Links are kept in memory,
 * so the instance that runs the first job needs them. When a job is refired or retried, the second job is triggered
 * after its last run only; when it is sharded, once all items of the firing have ended. A run whose firing another node
 * has taken over, as far as this node knows by its end, triggers none: the run there does.
 *
 * While the store is unavailable, the second job is tried again for up to an hour, and the first one keeps its slot.
 * The first one's end, which the store could not be told either, is written afterwards: a first job that requests
 * recovery, and whose node dies meanwhile, is recovered with what follows it.
 */
export class JobChainingJobListener implements JobListener {
  readonly name: string
  readonly #links = new KeyMap<JobKey, Link[]>()

  constructor(name: string) {
    checkName('JobChainingJobListener', 'name', name)
    this.name = name
  }

  /**
   * When `first` ends, run `second`. A job may have several followers; a follower that is there already gets these
   * options.
   *
   * @throws InvalidArgumentError when a job would follow itself
   */
  addJobChainLink(first: JobKey, second: JobKey, options: JobChainLinkOptions = {}): void {
    checkJobKey('addJobChainLink', 'first', first)
    checkJobKey('addJobChainLink', 'second', second)
    checkOptions('addJobChainLink', options, { evenAfterFailure: checkBoolean })
    if (first.equals(second)) {
      throw new InvalidArgumentError(
        'second',
        `Job ${first.toString()} cannot follow itself: it would run for ever.`,
      )
    }
    const links = (this.#links.get(first) ?? []).filter((link) => !link.second.equals(second))
    links.push({ second, evenAfterFailure: options.evenAfterFailure ?? false })
    this.#links.set(first, links)
  }

  async jobWasExecuted(context: JobExecutionContext, error: JobExecutionError | null): Promise<void> {
    if (context.runsAgain || context.isTakenOver || context.shard !== null) return
    await this.#follow(context, { failed: error !== null })
  }

  async allShardsDone({ jobKey, outcome }: EndedSharding, scheduler: JobScheduler): Promise<void> {
    // As after a veto of a job that is not sharded.
    if (outcome === 'vetoed') return
    await this.#follow({ jobKey, scheduler }, { failed: outcome !== 'succeeded' })
  }

  async #follow(first: FirstJob, { failed }: { readonly failed: boolean }): Promise<void> {
    const { clock } = first.scheduler
    const beganMs = clock.elapsedMs()
    const failures: Failure[] = []
    let left = (this.#links.get(first.jobKey) ?? [])
      .filter((link) => !failed || link.evenAfterFailure)
      .map(({ second }) => second)
    for (let delayMs = pauseMs.first; ; delayMs = Math.min(delayMs * 2, pauseMs.most)) {
      const untriggered = await triggerEach(first.scheduler, left)
      const again = clock.elapsedMs() - beganMs < triesMaxMs ? untriggered.filter(isAway) : []
      failures.push(...untriggered.filter((failure) => !again.includes(failure)))
      if (again.length === 0) break
      left = again.map(({ follower }) => follower)
      await pause(clock, delayMs)
      if (first.isTakenOver === true) break
    }
    if (failures.length > 0) throw notFollowed(first.jobKey, failures)
  }
}

/** One after the other; the others are triggered all the same. */
async function triggerEach(
  scheduler: JobScheduler,
  followers: readonly JobKey[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  for (const follower of followers) {
    try {
      await scheduler.triggerJob(follower)
    } catch (error) {
      failures.push({ follower, error })
    }
  }
  return failures
}

/** Nothing was stored then. After a commit in doubt, another try might run the follower twice. */
function isAway({ error }: Failure): boolean {
  return SchedulerError.is(error) && error.code === 'ERR_DATABASE_UNAVAILABLE'
}

function notFollowed(first: JobKey, failures: readonly Failure[]): AggregateError {
  const names = failures.map(({ follower }) => follower.toString()).join(', ')
  const what = failures.length === 1 ? 'Job' : 'Jobs'
  const verb = failures.length === 1 ? 'follows' : 'follow'
  return new AggregateError(
    failures.map(({ error }) => error),
    `${what} ${names}, which ${verb} ${first.toString()}, could not be triggered. To run what is left of the chain, ` +
      'trigger it by hand.',
  )
}
