import { join } from 'node:path'
import { expect, test } from 'vitest'
import { triggeredByKey } from '../../../src/core/job-data-map.ts'
import { recoveringJobsGroup, retryingJobsGroup, triggerKey } from '../../../src/core/key.ts'
import { notesOfAttempt } from '../../../src/jobstore/attempt-origin.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import { jobDetail, only, Testbed } from '../../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../../src/time/manual-clock.ts'
import { breakTrigger } from '../../support/broken-trigger.ts'
import { temporaryFolder } from '../../support/sqlite.ts'

/** One run of a process after the other, on one file. */
function runs(): (instanceId: string) => Promise<Testbed> {
  const clock = new ManualClock()
  const filename = join(temporaryFolder(), 'jobs.db')
  return async (instanceId) => {
    const bed = new Testbed(sqliteJobStore({ filename }), clock, instanceId)
    await bed.store.initialize(bed.context)
    return bed
  }
}

test('a store that one node uses recovers at its start what an earlier run had in flight', async () => {
  const nextRun = runs()
  const first = await nextRun('first')
  const lost = jobDetail('lost', { disallowConcurrentExecution: true })
  const wanted = jobDetail('wanted', { disallowConcurrentExecution: true, requestsRecovery: true })
  await first.scheduleAll([first.trigger('l', { job: lost })], lost)
  await first.scheduleAll(
    [first.trigger('w', { job: wanted }), first.trigger('sibling', { job: wanted, inMs: 1 })],
    wanted,
  )
  await first.start('l')
  await first.start('w')
  await first.scheduleAll([first.trigger('claimed')])
  await first.acquireOne('claimed')
  await first.store.shutdown()

  const second = await nextRun('second')
  await second.clock.advance(1)
  expect(await second.states('w', 'sibling')).toEqual(['COMPLETE', 'BLOCKED'])
  await second.store.schedulerStarted()
  const { recoveries, lostExecutions, deletedJobs } = second.signals
  expect(recoveries).toEqual([
    { node: 'first', releasedClaims: 1, recoveredExecutions: 1, lostExecutions: 1 },
  ])
  expect(lostExecutions.map(({ triggerKey }) => triggerKey.name)).toEqual(['l'])
  expect(deletedJobs).toEqual(['DEFAULT.lost'])
  const claims = await second.acquire()
  expect(claims.map(({ trigger }) => trigger.key.name).slice(0, 1)).toEqual(['claimed'])
  const recovery = only(claims.filter(({ trigger }) => trigger.key.group === recoveringJobsGroup))
  await second.complete(await second.fire(recovery), 'deleteTrigger')
  expect(await second.state('sibling')).toBe('NORMAL')
  await second.store.shutdown()
})

test('a start that finds nothing in flight tells nothing', async () => {
  const nextRun = runs()
  const first = await nextRun('first')
  await first.schedule('t')
  await first.store.shutdown()
  const second = await nextRun('second')
  await second.store.schedulerStarted()
  expect(second.signals.recoveries).toEqual([])
  expect(await second.acquireNames()).toEqual(['t'])
  await second.store.shutdown()
})

test.each([
  ['wait for a value that is no time', 'next_fire_time = -5', /column 'next_fire_time' holds no time/],
  [
    'are in a state that is none',
    "trigger_state = 'waiting'",
    /column 'trigger_state' held 'waiting', which is no state/,
  ],
])('a start puts triggers that %s in error', async (_, change, reason) => {
  const clock = new ManualClock()
  const filename = join(temporaryFolder(), 'jobs.db')
  const run = async (instanceId: string): Promise<Testbed> => {
    const bed = new Testbed(sqliteJobStore({ filename }), clock, instanceId)
    await bed.store.initialize(bed.context)
    return bed
  }
  const first = await run('first')
  await first.schedule('t')
  await first.store.shutdown()
  breakTrigger(filename, 't', change)
  const second = await run('second')
  await second.store.schedulerStarted()
  expect(await second.state('t')).toBe('ERROR')
  expect(only(second.signals.inError).reason).toMatch(reason)
  expect(await second.store.resetTriggerFromErrorState(second.trigger('t').key)).toBe(true)
  await second.store.shutdown()
})

test('an execution that died with an earlier run is in the ledger of misfires', async () => {
  const clock = new ManualClock()
  const filename = join(temporaryFolder(), 'jobs.db')
  const first = new Testbed(sqliteJobStore({ filename }), clock, 'first')
  await first.store.initialize(first.context)
  const job = jobDetail('lost')
  await first.scheduleAll([first.trigger('l', { job })], job)
  await first.start('l')
  const { schedulerName } = first.context
  await first.store.shutdown()

  await using second = await createScheduler({
    schedulerName,
    clock,
    logger: false,
    jobStore: sqliteJobStore({ filename }),
    instanceId: 'second',
  })
  await second.start()
  await second.idle()
  expect((await second.queryMisfires()).items).toMatchObject([
    {
      triggerKey: { name: 'l' },
      jobKey: { name: 'lost' },
      cause: 'lost',
      policy: null,
      count: 1,
      node: 'second',
    },
  ])
})

test('a retry and a run by hand that died with an earlier run are in the history as what they are', async () => {
  const clock = new ManualClock()
  const filename = join(temporaryFolder(), 'jobs.db')
  const first = new Testbed(sqliteJobStore({ filename }), clock, 'first')
  await first.store.initialize(first.context)
  const job = jobDetail('lost')
  const scheduledFireTimeMs = first.now() - 5000
  const data = notesOfAttempt({
    attempt: 2,
    triggerKey: triggerKey('nightly'),
    scheduledFireTimeMs,
    previousFireInstanceId: 'before',
  })
  const byHand = { job, inMs: 1, data: { [triggeredByKey]: 'ops' } }
  await first.scheduleAll(
    [first.trigger('RT_1', { job, group: retryingJobsGroup, data }), first.trigger('MT_1', byHand)],
    job,
  )
  await first.start('RT_1')
  await clock.advance(1)
  await first.start('MT_1')
  await first.store.shutdown()

  const second = new Testbed(sqliteJobStore({ filename }), clock, 'second')
  await second.store.initialize(second.context)
  await second.store.schedulerStarted()
  const { items } = await second.store.queryExecutions({})
  expect(items).toMatchObject([
    { triggerKey: { name: 'MT_1' }, outcome: 'lost', attempt: 1, manual: true, triggeredBy: 'ops' },
    {
      triggerKey: { name: 'nightly' },
      outcome: 'lost',
      attempt: 2,
      scheduledFireTimeMs,
      previousFireInstanceId: 'before',
      manual: false,
    },
  ])
  await second.store.shutdown()
})
