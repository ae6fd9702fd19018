import { defineJob } from '../../src/jobs/define-job.ts'
import type { JobExecutionContext, JobSource } from '../../src/jobs/job-definition.ts'
import { type JobKind, jobKinds } from './sim-cluster-operations.ts'

/** The jobs of a simulated node, one of each kind; `work` is what all of them do. */
export function clusterJobs(
  work: (context: JobExecutionContext, kind: JobKind) => Promise<void>,
): JobSource[] {
  const define = (kind: JobKind, retry?: { attempts: number; backoff: { initialMs: number } }): JobSource =>
    defineJob(
      kind,
      (context) => {
        if (kind === 'counter') {
          const { jobDataMap } = context.jobDetail
          const count = jobDataMap['count']
          jobDataMap['count'] = (typeof count === 'number' ? count : 0) + 1
        }
        return work(context as JobExecutionContext, kind)
      },
      {
        disallowConcurrentExecution: jobKinds[kind].disallowConcurrentExecution,
        persistJobDataAfterExecution: kind === 'counter',
        ...(retry === undefined ? {} : { retry }),
      },
    )
  return (Object.keys(jobKinds) as JobKind[]).map((kind) =>
    kind === 'retrying' ? define(kind, { attempts: 3, backoff: { initialMs: 500 } }) : define(kind),
  )
}
