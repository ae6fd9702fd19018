import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { ClusterJob, MethodCode } from './cluster-jobs.ts'

/** What is registered of calls that could not store their jobs, by job type: a scheduler forgets no job type. */
const leftOver = new WeakMap<Scheduler, Map<string, MethodCode>>()

/**
 * Registers the jobs of methods. Those that are registered already by a call that failed then run the code of this one.
 * Answers what is to be called when this call fails as well, so that it can be tried again.
 *
 * @throws SchedulerError ERR_SCHEDULER_STATE after the first start, ERR_SCHEDULER_SHUTDOWN
 * @throws InvalidArgumentError when a type is registered already
 */
export function registerMethods(scheduler: Scheduler, jobs: readonly ClusterJob[]): () => void {
  const left = leftOver.get(scheduler) ?? new Map<string, MethodCode>()
  leftOver.set(scheduler, left)
  scheduler.registerJobs(jobs.map(({ definition }) => definition).filter(({ jobType }) => !left.has(jobType)))
  const registered = jobs.map(({ definition: { jobType }, code }): [string, MethodCode] => {
    const known = left.get(jobType) ?? code
    known.run = code.run
    left.delete(jobType)
    return [jobType, known]
  })
  return () => {
    for (const [jobType, code] of registered) left.set(jobType, code)
  }
}
