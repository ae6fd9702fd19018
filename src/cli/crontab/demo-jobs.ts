import { moduleBeside } from '../../core/package-files.ts'
import { defineWorkerJob } from '../../jobs/define-worker-job.ts'
import { JobBuilder } from '../../jobs/job-builder.ts'
import type { JobSource } from '../../jobs/job-definition.ts'
import { CronScheduleBuilder } from '../../triggers/families/cron/cron-trigger.ts'
import { SimpleScheduleBuilder } from '../../triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../triggers/families/trigger-builder.ts'
import type { FindPrimesData } from '../workers/find-primes.ts'
import type { HashFolderData } from '../workers/hash-folder.ts'
import type { PlannedJob } from './plan-entries.ts'

export interface DemoJobs {
  /** The definitions to register. */
  readonly definitions: readonly JobSource[]
  plan(folder: string, startAt: Date): readonly PlannedJob[]
}

/** The group of these jobs. */
export const demoGroup = 'demo'
const hashCron = '0/10 * * * * ?'
const primesIntervalSeconds = 7
/** About a tenth of a second of work. */
const primesSpan = 1_000_000

/** Two jobs that do real work in worker threads, one on a cron trigger, one on a simple trigger. */
export function demoJobs(): DemoJobs {
  const hashFolder = defineWorkerJob<HashFolderData>('hash-folder', workerUrl('hash-folder'), {
    exportName: 'hashFolder',
    disallowConcurrentExecution: true,
  })
  const findPrimes = defineWorkerJob<FindPrimesData>('find-primes', workerUrl('find-primes'), {
    exportName: 'findPrimes',
    disallowConcurrentExecution: true,
    persistJobDataAfterExecution: true,
  })
  return {
    definitions: [hashFolder, findPrimes],
    plan: (folder, startAt) => [
      {
        label: `hash ${folder} (worker)`,
        job: JobBuilder.newJob(hashFolder)
          .withIdentity('hash-folder', demoGroup)
          .usingJobData({ folder })
          .build(),
        trigger: TriggerBuilder.newTrigger()
          .withIdentity('hash-folder', demoGroup)
          .startAt(startAt)
          .withSchedule(CronScheduleBuilder.cronSchedule(hashCron))
          .build(),
        runs: 'scheduled',
      },
      {
        label: 'find primes (worker)',
        job: JobBuilder.newJob(findPrimes)
          .withIdentity('find-primes', demoGroup)
          .usingJobData({ from: 0, span: primesSpan, found: 0 })
          .build(),
        trigger: TriggerBuilder.newTrigger()
          .withIdentity('find-primes', demoGroup)
          .startAt(startAt)
          .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever(primesIntervalSeconds))
          .build(),
        runs: 'scheduled',
      },
    ],
  }
}

/** The compiled module beside the built command, or the source where the sources run. */
function workerUrl(name: string): URL {
  return moduleBeside(import.meta.url, `../workers/${name}`, `cli/workers/${name}`)
}
