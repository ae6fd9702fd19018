import type { Notifier, Told } from './notifier.ts'
import type { SchedulerLifeCycle } from './scheduler-life-cycle.ts'
import type { SchedulingObserver } from './scheduling-observer.ts'

/**
 * Tells observers of events, at once, and listeners what was scheduled and deleted.
 *
 * @param when when to call the listeners; without it, at once
 */
export function tellingObserver(
  notifier: Notifier,
  lifeCycle: SchedulerLifeCycle,
  when?: (call: () => Told) => Told,
): SchedulingObserver {
  return {
    jobAdded: (jobDetail) => notifier.tell('jobAdded', { jobDetail }, (l) => l.jobAdded?.(jobDetail), when),
    jobDeleted: (jobKey) => notifier.tell('jobDeleted', { jobKey }, (l) => l.jobDeleted?.(jobKey), when),
    jobScheduled: (trigger) => {
      lifeCycle.neverStarted.noteTrigger()
      return notifier.tell('jobScheduled', { trigger }, (l) => l.jobScheduled?.(trigger), when)
    },
    jobUnscheduled: (triggerKey) =>
      notifier.tell('jobUnscheduled', { triggerKey }, (l) => l.jobUnscheduled?.(triggerKey), when),
  }
}
