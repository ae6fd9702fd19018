import type { Notifier } from './notifier.ts'
import type { SchedulerLifeCycle } from './scheduler-life-cycle.ts'
import type { SchedulingObserver } from './scheduling-observer.ts'

/** Tells listeners and observers what was scheduled and deleted. */
export function tellingObserver(notifier: Notifier, lifeCycle: SchedulerLifeCycle): SchedulingObserver {
  return {
    jobAdded: (jobDetail) => notifier.tell('jobAdded', { jobDetail }, (l) => l.jobAdded?.(jobDetail)),
    jobDeleted: (jobKey) => notifier.tell('jobDeleted', { jobKey }, (l) => l.jobDeleted?.(jobKey)),
    jobScheduled: (trigger) => {
      lifeCycle.neverStarted.noteTrigger()
      return notifier.tell('jobScheduled', { trigger }, (l) => l.jobScheduled?.(trigger))
    },
    jobUnscheduled: (triggerKey) =>
      notifier.tell('jobUnscheduled', { triggerKey }, (l) => l.jobUnscheduled?.(triggerKey)),
  }
}
