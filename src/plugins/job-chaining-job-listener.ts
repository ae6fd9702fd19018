import { checkBoolean, checkName, checkOptions } from '../core/arguments.ts'
import { InvalidArgumentError, type JobExecutionError } from '../core/errors.ts'
import { checkJobKey, type JobKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import type { JobExecutionContext } from '../jobs/job-definition.ts'
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
 * so the instance that runs the first job needs them. When a job refires itself, the second job is triggered after its
 * last run only.
 */
export class JobChainingJobListener implements JobListener {
  readonly name: string
  readonly #links = new KeyMap<JobKey, Link[]>()

  constructor(name: string) {
    checkName('JobChainingJobListener', 'name', name)
    this.name = name
  }

  /**
   * When `first` ends, run `second`. A job may have several followers.
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
    const links = this.#links.get(first) ?? []
    links.push({ second, evenAfterFailure: options.evenAfterFailure ?? false })
    this.#links.set(first, links)
  }

  async jobWasExecuted(context: JobExecutionContext, error: JobExecutionError | null): Promise<void> {
    if (error?.refireImmediately === true) return
    const failures: unknown[] = []
    for (const link of this.#links.get(context.jobKey) ?? []) {
      if (error !== null && !link.evenAfterFailure) continue
      try {
        await context.scheduler.triggerJob(link.second)
      } catch (failure) {
        failures.push(failure)
      }
    }
    // The other followers are triggered all the same.
    if (failures.length > 0) {
      const job = context.jobKey.toString()
      throw new AggregateError(
        failures,
        `${failures.length} of the jobs that follow ${job} could not be triggered.`,
      )
    }
  }
}
