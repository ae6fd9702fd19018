import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { seededIds } from '../../src/core/ids.ts'
import type { JobDataMap } from '../../src/core/job-data-map.ts'
import { retryingJobsGroup } from '../../src/core/key.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { completionOf, jobDetail, Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

export type Encoding = 'json' | 'properties'

/** Stores over the same tables, and what these hold. */
export interface EncodingGround {
  readonly store: (jobData: Encoding) => JobStore
  /** The data of a row, as text. */
  readonly data: (table: 'triggers' | 'job_details', name: string) => Promise<string | null>
}

interface Change {
  readonly before: Testbed
  /** A node that has the other encoding, on the same tables. */
  readonly reopen: () => Promise<Testbed>
  readonly ground: EncodingGround
}

const number: JobDataMap = { n: 1 }

const cases: Readonly<Record<string, (change: Change) => Promise<void>>> = {
  'stay as they are when their trigger misfires, and others go on': async ({ before, reopen, ground }) => {
    await before.schedule('sick', { everyMs: 1000, misfire: 'fireNow', data: number })
    await before.schedule('well', { everyMs: 1000, misfire: 'fireNow' })
    await before.store.shutdown()
    const after = await reopen()
    await after.clock.advance(600_000)
    const bundles = [await after.start('sick'), await after.start('well')]
    assert.deepEqual(bundles[0]?.trigger.jobDataMap, number)
    for (const bundle of bundles) await after.complete(bundle)
    assert.equal(await ground.data('triggers', 'sick'), '{"n":1}')
    assert.deepEqual(after.signals.errors, [])
  },
  'are written back as they were written': async ({ before, reopen, ground }) => {
    const json = jobDetail('json', {
      durable: true,
      jobDataMap: number,
      persistJobDataAfterExecution: true,
    })
    await before.schedule('sick', { job: json })
    await before.store.shutdown()
    const after = await reopen()
    const fresh = jobDetail('fresh', { durable: true, persistJobDataAfterExecution: true })
    await after.schedule('well', { job: fresh })
    await after.complete(await after.start('sick'), 'noop', { jobDataMap: { n: 2 } })
    await after.complete(await after.start('well'), 'noop', { jobDataMap: { text: 'x' } })
    assert.equal(await ground.data('job_details', 'json'), '{"n":2}')
    assert.equal(await ground.data('job_details', 'fresh'), 'text=x\n')
    assert.deepEqual(after.signals.errors, [])
  },
  'are reported and dropped with a retry that cannot be stored, and the job goes on': async ({
    before,
    reopen,
  }) => {
    const alone = jobDetail('alone', { durable: true, disallowConcurrentExecution: true })
    await before.schedule('sick', { job: alone, everyMs: 1000, data: number })
    await before.store.shutdown()
    const after = await reopen()
    await after.schedule('well', { everyMs: 1000 })
    const [sick, well] = [await after.start('sick'), await after.start('well')]
    const retryOf = (name: string, data: JobDataMap) => {
      const job = name === 'sick' ? alone : after.job
      return after.trigger(`retry-${name}`, { group: retryingJobsGroup, job, data })
    }
    await after.store.triggeredJobsComplete([
      { ...completionOf(sick), retryTrigger: retryOf('sick', number) },
      { ...completionOf(well), retryTrigger: retryOf('well', { text: 'x' }) },
    ])
    assert.deepEqual(await after.states('sick', 'well'), ['NORMAL', 'NORMAL'])
    assert.equal(await after.state('retry-well', retryingJobsGroup), 'NORMAL')
    assert.equal(await after.state('retry-sick', retryingJobsGroup), 'NONE')
    assert.deepEqual(
      after.signals.errors.map(({ message }) => message),
      ["A retry of job 'DEFAULT.alone' cannot be stored: the job does not run again."],
    )
  },
  'are reported as lost with a recovery that cannot be stored, and the node starts': async ({
    before,
    reopen,
  }) => {
    const job = (name: string) =>
      jobDetail(name, { durable: true, requestsRecovery: true, disallowConcurrentExecution: true })
    await before.schedule('sick', { job: job('a'), everyMs: 1000, data: number })
    await before.schedule('well', { job: job('b'), everyMs: 1000 })
    await before.clock.advance(1000)
    await before.start('sick')
    await before.start('well')
    await before.store.shutdown()
    const after = await reopen()
    await after.store.schedulerStarted()
    assert.equal(after.signals.lostExecutions.length, 1)
    assert.equal(after.signals.lostExecutions[0]?.triggerKey.name, 'sick')
    const [recovery] = after.signals.recoveries
    assert.deepEqual([recovery?.recoveredExecutions, recovery?.lostExecutions], [1, 1])
    assert.deepEqual(await after.states('sick', 'well'), ['NORMAL', 'NORMAL'])
    assert.match(after.signals.errors[0]?.message ?? '', /cannot be run again: it is lost/)
  },
}

/** Rows that a store with another encoding has written: a change of the option, node by node. */
export function describeStoredEncodings(engine: string, prepare: () => Promise<EncodingGround>): void {
  describe(`data that this store would write otherwise, on ${engine}`, () => {
    test.each(Object.entries(cases))('%s', async (_, run) => {
      await changeEncoding(await prepare(), run)
    })
  })
}

async function changeEncoding(ground: EncodingGround, run: (change: Change) => Promise<void>): Promise<void> {
  const clock = new ManualClock(Date.UTC(2026, 0, 5))
  const open: Testbed[] = []
  const bed = async (jobData: Encoding): Promise<Testbed> => {
    const made = new Testbed(ground.store(jobData), clock, 'node')
    open.push(made)
    await made.store.initialize({ ...made.context, ids: seededIds(open.length) })
    return made
  }
  try {
    await run({ before: await bed('json'), reopen: () => bed('properties'), ground })
  } finally {
    for (const { store } of open) await store.shutdown()
  }
}
