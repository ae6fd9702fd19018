import type { JobKey, TriggerKey } from '../core/key.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { Told } from './notifier.ts'

/** What is called when something was scheduled. The store wakes the loop itself. */
export interface SchedulingObserver {
  jobAdded(jobDetail: JobDetail): Told
  jobDeleted(jobKey: JobKey): Told
  jobScheduled(trigger: Trigger): Told
  jobUnscheduled(triggerKey: TriggerKey): Told
}

/**
 * For work that others wait for, and so may the listeners that are told of it: the work does not wait for them. They
 * are still told in the order of the work, one after the other.
 */
export class UnawaitedObserver implements SchedulingObserver {
  readonly #observer: SchedulingObserver
  #told: Told = null

  constructor(observer: SchedulingObserver) {
    this.#observer = observer
  }

  jobAdded(jobDetail: JobDetail): null {
    return this.#tell(() => this.#observer.jobAdded(jobDetail))
  }
  jobDeleted(jobKey: JobKey): null {
    return this.#tell(() => this.#observer.jobDeleted(jobKey))
  }
  jobScheduled(trigger: Trigger): null {
    return this.#tell(() => this.#observer.jobScheduled(trigger))
  }
  jobUnscheduled(triggerKey: TriggerKey): null {
    return this.#tell(() => this.#observer.jobUnscheduled(triggerKey))
  }

  /** What was told since the last call; null when that has ended. */
  takeTold(): Told {
    const told = this.#told
    this.#told = null
    return told
  }

  #tell(call: () => Told): null {
    const before = this.#told
    this.#told = before === null ? call() : callAfter(before, call)
    return null
  }
}

async function callAfter(before: Promise<void>, call: () => Told): Promise<void> {
  await before
  await call()
}

/** For operations that may yet be rolled back: calls nothing. */
export const silentObserver: SchedulingObserver = {
  jobAdded: () => null,
  jobDeleted: () => null,
  jobScheduled: () => null,
  jobUnscheduled: () => null,
}
