import { expect, test } from 'vitest'
import { JobKey } from '../../../../../src/core/key.ts'
import { JobBuilder } from '../../../../../src/jobs/job-builder.ts'
import {
  addExecution,
  type JobStatusChange,
  newStatusChange,
} from '../../../../../src/jobstore/job-status.ts'
import type { ExecutionOutcome } from '../../../../../src/jobstore/queries.ts'
import { SqlTables } from '../../../../support/sql-tables.ts'

/** What one execution changes, which is named by its job and the time at which it began. */
function changeBy(name: string, fireTimeMs: number, outcome: ExecutionOutcome = 'failed'): JobStatusChange {
  const change = newStatusChange(new JobKey(name))
  const finishedTimeMs = fireTimeMs + 1
  const fireInstanceId = `${name} ${String(fireTimeMs)}`
  addExecution(change, {
    ...{ jobKey: change.jobKey, fireInstanceId, outcome, fireTimeMs, finishedTimeMs },
    ...{ knownTimeMs: finishedTimeMs, errorText: null },
  })
  return change
}

async function open(...stored: readonly JobStatusChange[]) {
  const tables = await SqlTables.open()
  const jobOf = (name: string) => JobBuilder.newJob('job').withIdentity(name).storeDurably().build()
  await tables.run(tables.jobs.insert(['a', 'b', 'new'].map(jobOf)))
  for (const change of stored) await tables.run(tables.jobStatus.write([change], 9000))
  return (...changes: readonly JobStatusChange[]) => tables.run(tables.jobStatus.wereWritten(changes, 9000))
}

test('statuses of which the answer was lost were written when a job names the execution', async () => {
  const wereWritten = await open(changeBy('a', 1000))
  expect(await wereWritten(changeBy('a', 1000))).toBe(true)
  expect(await wereWritten(changeBy('a', 1000, 'lost'))).toBeNull()
  expect(await wereWritten(changeBy('missing', 500), changeBy('a', 1000))).toBe(true)
})

test('they were not written when a job names an earlier one, or none', async () => {
  const wereWritten = await open(changeBy('a', 1000), changeBy('b', 500, 'vetoed'))
  expect(await wereWritten(changeBy('a', 2000))).toBe(false)
  expect(await wereWritten(changeBy('b', 1000))).toBe(false)
  expect(await wereWritten(changeBy('new', 1000))).toBe(false)
})

test('nothing tells where each job names a later one or is gone, or where all were vetoed', async () => {
  const wereWritten = await open(changeBy('a', 3000))
  expect(await wereWritten(changeBy('a', 2000), changeBy('missing', 2000))).toBeNull()
  expect(await wereWritten(changeBy('a', 4000, 'vetoed'))).toBeNull()
})

test('nothing tells of one of a clock that was ahead, because any other one may have come after it', async () => {
  const wereWritten = await open(changeBy('a', 1000))
  expect(await wereWritten(changeBy('a', 9_000_000))).toBeNull()
  expect(await wereWritten(changeBy('a', 60_000))).toBe(false)
})
