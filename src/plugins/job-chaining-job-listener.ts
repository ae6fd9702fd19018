import { checkBoolean, checkName, checkOptions } from '../core/arguments.ts'
import { InvalidArgumentError, type JobExecutionError } from '../core/errors.ts'
import { checkJobKey, type JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { JobExecutionContext, JobScheduler } from '../jobs/job-definition.ts'
import type { EndedSharding } from '../jobstore/job-store-shards.ts'
import type { JobListener } from '../listeners/job-listener.ts'

export interface JobChainLinkOptions {
  /** Run the second job also when the first one failed. Default false. */
  readonly evenAfterFailure?: boolean
}

interface Link {
  readonly second: JobKey
  readonly evenAfterFailure: boolean
}

/**
 * Runs one job after another: when the first one has ended well, the second one is triggered. Links are kept in memory,
 * so the instance that runs the first job needs them. When a job is refired or retried, the second job is triggered
 * after its last run only; when it is sharded, once all items of the firing have ended. A run whose firing another node
 * has taken over, as far as this node knows by its end, triggers none: the run there does.
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

  async #follow(
    { jobKey, scheduler }: { readonly jobKey: JobKey; readonly scheduler: JobScheduler },
    { failed }: { readonly failed: boolean },
  ): Promise<void> {
    const failures: unknown[] = []
    for (const link of this.#links.get(jobKey) ?? []) {
      if (failed && !link.evenAfterFailure) continue
      try {
        await scheduler.triggerJob(link.second)
      } catch (failure) {
        failures.push(failure)
      }
    }
    // The other followers are triggered all the same.
    if (failures.length > 0) {
      throw new AggregateError(
        failures,
        `${failures.length} of the jobs that follow ${jobKey.toString()} could not be triggered.`,
      )
    }
  }
}
