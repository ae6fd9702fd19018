import assert from 'node:assert/strict'
import { JobKey } from '../../core/key.ts'
import {
  addExecution,
  type EndedExecution,
  type JobStatus,
  type JobStatusChange,
  newStatusChange,
} from '../../jobstore/job-status.ts'
import type { ExecutionOutcome } from '../../jobstore/queries.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, only, type Testbed } from './testbed.ts'

const dayMs = 86_400_000

/** What executions of a job change, each a second after the one before it, and ten milliseconds long. */
function changeOf(bed: Testbed, name: string, outcomes: readonly ExecutionOutcome[]): JobStatusChange {
  const change = newStatusChange(new JobKey(name))
  for (const [index, outcome] of outcomes.entries()) {
    const fireTimeMs = bed.now() + index * 1000
    const isLost = outcome === 'lost'
    const execution: EndedExecution = {
      jobKey: change.jobKey,
      fireInstanceId: `${name}-${String(index)}`,
      outcome,
      fireTimeMs,
      finishedTimeMs: isLost ? null : fireTimeMs + 10,
      knownTimeMs: fireTimeMs + 10,
      errorText: outcome === 'failed' ? `error ${String(index)}` : null,
    }
    addExecution(change, execution)
  }
  return change
}

async function write(bed: Testbed, ...changes: readonly JobStatusChange[]): Promise<void> {
  await bed.store.records?.write({ statuses: changes })
}

async function statusOf(bed: Testbed, name: string, days = 0): Promise<JobStatus> {
  const page = await bed.store.records?.queryJobStatus({ jobKeys: [new JobKey(name)], days })
  return only(page?.items ?? [])
}

async function names(bed: Testbed, query: object): Promise<string[]> {
  const page = await bed.store.records?.queryJobStatus(query)
  return (page?.items ?? []).map(({ jobKey }) => jobKey.name)
}

async function addJobs(bed: Testbed, ...jobs: readonly string[]): Promise<void> {
  for (const name of jobs) await bed.store.addJob(jobDetail(name, { durable: true }), { replace: false })
}

export const jobStatusCases: readonly StoreCase[] = area(
  'job status',
  {
    'counts failures since the last success, also when their batch comes after it': async (bed) => {
      await addJobs(bed, 'a', 'b')
      const before = changeOf(bed, 'a', ['failed', 'failed'])
      const success = changeOf(bed, 'b', ['succeeded'])
      await bed.clock.advance(10_000)
      const failure = changeOf(bed, 'b', ['failed'])
      await write(bed, changeOf(bed, 'a', ['succeeded']))
      await write(bed, failure)
      await write(bed, before)
      await write(bed, success)
      const [a, b] = [await statusOf(bed, 'a'), await statusOf(bed, 'b')]
      assert.deepEqual([a.lastOutcome, a.consecutiveFailures], ['succeeded', 0])
      assert.deepEqual([b.lastOutcome, b.consecutiveFailures], ['failed', 1])
    },
    'adds up what batches say': async (bed) => {
      await addJobs(bed, 'a')
      const startMs = bed.now()
      await write(bed, changeOf(bed, 'a', ['succeeded', 'failed', 'vetoed']))
      assert.deepEqual(await statusOf(bed, 'a', 1), {
        jobKey: new JobKey('a'),
        lastFireInstanceId: 'a-1',
        lastFireTimeMs: startMs + 1000,
        lastFinishedTimeMs: startMs + 1010,
        lastOutcome: 'failed',
        lastSuccessTimeMs: startMs + 10,
        lastFailureTimeMs: startMs + 1010,
        lastErrorText: 'error 1',
        consecutiveFailures: 1,
        days: [
          {
            day: new Date(startMs).toISOString().slice(0, 10),
            counts: { succeeded: 1, failed: 1, vetoed: 1, interrupted: 0, timedOut: 0, lost: 0 },
            runTimeMs: 20,
          },
        ],
      })
      await bed.clock.advance(60_000)
      await write(bed, changeOf(bed, 'a', ['timedOut', 'interrupted', 'lost']))
      const after = await statusOf(bed, 'a', 1)
      assert.equal(after.consecutiveFailures, 3)
      assert.equal(after.lastOutcome, 'lost')
      assert.equal(after.lastFinishedTimeMs, null)
      assert.equal(after.lastErrorText, null)
      assert.deepEqual(only(after.days).counts, {
        succeeded: 1,
        failed: 1,
        vetoed: 1,
        interrupted: 1,
        timedOut: 1,
        lost: 1,
      })
      await bed.clock.advance(60_000)
      await write(bed, changeOf(bed, 'a', ['succeeded']))
      const healed = await statusOf(bed, 'a')
      assert.equal(healed.consecutiveFailures, 0)
      assert.equal(healed.lastSuccessTimeMs, bed.now() + 10)
      assert.deepEqual(healed.days, [])
    },
    'keeps the newer execution, in whatever order batches come': async (bed) => {
      await addJobs(bed, 'a')
      const older = changeOf(bed, 'a', ['failed'])
      await bed.clock.advance(5000)
      await write(bed, changeOf(bed, 'a', ['succeeded']))
      await write(bed, older)
      const status = await statusOf(bed, 'a')
      assert.equal(status.lastOutcome, 'succeeded')
      assert.equal(status.lastFireTimeMs, bed.now())
      assert.equal(status.lastErrorText, 'error 0')
    },
    'takes what a clock gave that was ahead for older than whatever comes after it': async (bed) => {
      await addJobs(bed, 'a', 'b')
      bed.clock.jump(dayMs)
      await write(bed, changeOf(bed, 'a', ['succeeded']), changeOf(bed, 'b', ['failed']))
      bed.clock.jump(-dayMs)
      for (let count = 0; count < 3; count++) {
        await bed.clock.advance(1000)
        await write(bed, changeOf(bed, 'a', ['failed']))
      }
      const failing = await statusOf(bed, 'a')
      assert.deepEqual([failing.lastOutcome, failing.consecutiveFailures], ['failed', 3])
      assert.equal(failing.lastFireTimeMs, bed.now())
      assert.equal(failing.lastErrorText, 'error 0')
      // Once the clock has caught up, it must not count as a success of that time.
      assert.ok(failing.lastSuccessTimeMs !== null && failing.lastSuccessTimeMs <= bed.now())
      await write(bed, changeOf(bed, 'b', ['succeeded']))
      const healed = await statusOf(bed, 'b')
      assert.deepEqual([healed.lastOutcome, healed.consecutiveFailures], ['succeeded', 0])
      await bed.clock.advance(1000)
      await write(bed, changeOf(bed, 'b', ['failed']))
      const { consecutiveFailures, lastFailureTimeMs } = await statusOf(bed, 'b')
      assert.deepEqual([consecutiveFailures, lastFailureTimeMs], [1, bed.now() + 10])
    },
    'is read in order of keys, a page at a time': async (bed) => {
      await addJobs(bed, 'c', 'a', 'B', 'd')
      await write(bed, ...['B', 'a', 'c', 'd'].map((name) => changeOf(bed, name, ['failed'])))
      assert.deepEqual(await names(bed, {}), ['B', 'a', 'c', 'd'])
      const first = await bed.store.records?.queryJobStatus({ take: 2 })
      assert.ok(first?.next)
      assert.deepEqual(await names(bed, { take: 2, after: first.next }), ['c', 'd'])
      assert.deepEqual(await names(bed, { jobKeys: [new JobKey('d'), new JobKey('x'), new JobKey('a')] }), [
        'a',
        'd',
      ])
      await write(bed, changeOf(bed, 'a', ['succeeded']), changeOf(bed, 'c', ['lost']))
      assert.deepEqual(await names(bed, { minConsecutiveFailures: 1 }), ['B', 'c', 'd'])
      assert.deepEqual(await names(bed, { minConsecutiveFailures: 2 }), ['c'])
    },
    'counts by day in UTC': async (bed) => {
      await addJobs(bed, 'a')
      for (let day = 0; day < 4; day++) {
        await write(bed, changeOf(bed, 'a', ['succeeded']))
        await bed.clock.advance(dayMs)
      }
      const { days } = await statusOf(bed, 'a', 3)
      const dayBefore = (count: number): string =>
        new Date(bed.now() - count * dayMs).toISOString().slice(0, 10)
      assert.deepEqual(
        days.map(({ day, counts }) => [day, counts.succeeded]),
        [
          [dayBefore(1), 1],
          [dayBefore(2), 1],
        ],
      )
    },
    'begins for jobs that exist, and outlives them': async (bed) => {
      await write(bed, changeOf(bed, 'gone', ['succeeded']))
      assert.deepEqual(await names(bed, {}), [])
      await addJobs(bed, 'a')
      await write(bed, changeOf(bed, 'a', ['failed']))
      await bed.store.deleteJobs([new JobKey('a')])
      assert.equal((await statusOf(bed, 'a')).consecutiveFailures, 1)
      await write(bed, changeOf(bed, 'a', ['failed']))
      assert.equal((await statusOf(bed, 'a', 1)).consecutiveFailures, 2)
    },
    'is worth writing for jobs that exist or have one': async (bed) => {
      const { records } = bed.store
      if (records?.worthWriting === undefined) return
      await addJobs(bed, 'a', 'deleted')
      await write(bed, changeOf(bed, 'deleted', ['failed']))
      await bed.store.deleteJobs([new JobKey('deleted')])
      const changes = ['a', 'deleted', 'gone'].map((name) => changeOf(bed, name, ['succeeded']))
      assert.deepEqual(await records.worthWriting(changes), changes.slice(0, 2))
    },
  },
  { records: true },
)
