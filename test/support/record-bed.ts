import type { JobStore, RecordBatch } from 'quartz-ts/spi'
import { onTestFinished } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import type { AuditEntry } from '../../src/jobstore/audit.ts'
import type { ExecutionReport } from '../../src/jobstore/execution-report.ts'
import type { TriggerFiredBundle } from '../../src/jobstore/fired-bundle.ts'
import { addExecution, type JobStatusChange, newStatusChange } from '../../src/jobstore/job-status.ts'
import type { RecordOptions } from '../../src/jobstore/record-options.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

/** Makes stores over data of one test; the first call in a test finds them empty. */
export interface RecordStores {
  readonly engine: string
  prepare(): Promise<(options: RecordOptions) => JobStore>
}

export const dayMs = 86_400_000

export async function open(stores: RecordStores, options: RecordOptions): Promise<Testbed> {
  const newStore = await stores.prepare()
  const bed = new Testbed(newStore(options), new ManualClock(), 'node-1')
  await bed.store.initialize(bed.context)
  onTestFinished(() => bed.store.shutdown())
  return bed
}

export async function write(bed: Testbed, batch: RecordBatch): Promise<void> {
  await bed.store.records?.write(batch)
}

/** Lets so much time pass that the next batch has the store look for what is too old or too many. */
export async function writeLater(bed: Testbed, batch: () => RecordBatch, ms = 61_000): Promise<void> {
  await bed.clock.advance(ms)
  await write(bed, batch())
}

/** Ends an execution, well and after 20 ms unless told otherwise, and with it its trigger. */
export async function complete(
  bed: Testbed,
  bundle: TriggerFiredBundle,
  changes: Partial<ExecutionReport> = {},
): Promise<void> {
  const { fireTimeMs, scheduledFireTimeMs, trigger } = bundle
  const report: ExecutionReport = {
    outcome: 'succeeded',
    errorText: null,
    triggerKey: trigger.key,
    scheduledFireTimeMs,
    fireTimeMs,
    finishedTimeMs: fireTimeMs + 20,
    attempt: 1,
    recovering: false,
    ...changes,
  }
  await bed.complete(bundle, 'deleteTrigger', { report })
}

/** What one execution of a job that has just ended changes in the status of the job. */
export function status(bed: Testbed, name = 'j'): JobStatusChange {
  const change = newStatusChange(new JobKey(name))
  addExecution(change, {
    jobKey: change.jobKey,
    fireInstanceId: 'x',
    outcome: 'succeeded',
    fireTimeMs: bed.now(),
    finishedTimeMs: bed.now(),
    knownTimeMs: bed.now(),
    errorText: null,
  })
  return change
}

/** An entry of the audit of now. */
export function entry(bed: Testbed, id: string): AuditEntry {
  return {
    timeMs: bed.now(),
    id,
    by: 'ann',
    address: null,
    node: 'n1',
    operation: 'jobs.put',
    targetGroup: null,
    targetName: null,
    outcome: 'done',
    times: 1,
    errorText: null,
    requestText: null,
    beforeText: null,
    afterText: null,
  }
}
