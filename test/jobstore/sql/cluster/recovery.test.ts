import { describe, expect, test } from 'vitest'
import { recoveringJobsGroup } from '../../../../src/core/key.ts'
import { GroupMatcher } from '../../../../src/core/matcher.ts'
import type { JobDetail } from '../../../../src/jobs/job-detail.ts'
import { storedCounts } from '../../../../src/testing/job-store/stored.ts'
import { jobDetail, only, type Testbed } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster, type TestNode } from '../../../support/cluster.ts'

/** Long enough for the others to find out. */
const failOverMs = 9000

interface Scene {
  readonly cluster: TestCluster
  readonly dead: TestNode
  readonly live: TestNode
}

/** Two nodes; what the first one does before it dies is up to the test. */
async function scene(): Promise<Scene> {
  const cluster = await TestCluster.open()
  return { cluster, dead: await cluster.startNode('dead'), live: await cluster.startNode('live') }
}

async function die({ cluster, dead }: Scene): Promise<void> {
  dead.kill()
  await cluster.clock.advance(failOverMs)
}

const job = (requestsRecovery: boolean, disallowConcurrentExecution: boolean) =>
  jobDetail('j', { requestsRecovery, disallowConcurrentExecution })

async function replace({ store }: Testbed, other: JobDetail): Promise<void> {
  await store.addJob(other, { replace: true })
}

async function storeAnew(bed: Testbed, other: JobDetail): Promise<void> {
  await bed.store.deleteJobs([other.key])
  await bed.scheduleAll([bed.trigger('next', { job: other, inMs: 1_000_000 })], other)
}

describe('a node that died', () => {
  test.each([
    { nonConcurrent: false, recovery: false },
    { nonConcurrent: false, recovery: true },
    { nonConcurrent: true, recovery: false },
    { nonConcurrent: true, recovery: true },
  ])('with a claim: it is free again ($nonConcurrent, $recovery)', async ({ nonConcurrent, recovery }) => {
    const stage = await scene()
    const { cluster, dead, live } = stage
    const spec = { job: job(recovery, nonConcurrent) }
    await dead.bed.scheduleAll([dead.bed.trigger('t', spec), dead.bed.trigger('sibling', spec)], spec.job)
    const claims = await dead.bed.acquire()
    expect(claims).toHaveLength(nonConcurrent ? 1 : 2)
    await die(stage)
    expect(live.bed.signals.recoveries).toEqual([
      { node: 'dead', releasedClaims: claims.length, recoveredExecutions: 0, lostExecutions: 0 },
    ])
    expect(live.bed.signals.lostExecutions).toEqual([])
    expect(await cluster.firedRows()).toEqual([])
    const again = await live.bed.acquire()
    expect(again.map(({ trigger }) => trigger.nextFireTimeMs)).toEqual(
      claims.map(({ trigger }) => trigger.nextFireTimeMs),
    )
  })

  test.each([false, true])(
    'in the middle of the only firing of a job that wants recovery (nonConcurrent %s)',
    async (nonConcurrent) => {
      const stage = await scene()
      const { cluster, dead, live } = stage
      const trigger = dead.bed.trigger('t', {
        data: { to: 'me' },
        priority: 7,
        job: job(true, nonConcurrent),
      })
      await dead.bed.scheduleAll([trigger], job(true, nonConcurrent))
      const lost = await dead.bed.start('t')
      await die(stage)
      expect(live.bed.signals.lostExecutions).toEqual([])
      const keys = await live.bed.store.getTriggerKeys(GroupMatcher.anyGroup())
      expect(keys.map(({ group }) => group)).toEqual([recoveringJobsGroup])
      const claim = only(await live.bed.acquire())
      const again = await live.bed.fire(claim)
      expect(claim.trigger.key.name).toMatch(/^recover_dead_/)
      expect(again.trigger.priority).toBe(7)
      expect(again.scheduledFireTimeMs).toBe(lost.scheduledFireTimeMs)
      expect(again.trigger.jobDataMap).toEqual({
        to: 'me',
        QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME: 't',
        QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP: 'DEFAULT',
        QRTZ_FAILED_JOB_ORIG_TRIGGER_FIRETIME_IN_MILLISECONDS_AS_STRING: String(lost.fireTimeMs),
        QRTZ_FAILED_JOB_ORIG_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS_AS_STRING: String(
          lost.scheduledFireTimeMs,
        ),
      })
      await live.bed.complete(again, 'deleteTrigger')
      expect(await storedCounts(live.bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
      expect(await cluster.firedRows()).toEqual([])
    },
  )

  test('in the middle of the only firing of a job that wants none: it is reported, and nothing is left', async () => {
    const stage = await scene()
    const { dead, live } = stage
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: job(false, true) })], job(false, true))
    const { fireInstanceId, scheduledFireTimeMs } = await dead.bed.start('t')
    await die(stage)
    const [lost] = live.bed.signals.lostExecutions
    expect(lost).toMatchObject({ fireInstanceId, scheduledFireTimeMs, node: 'dead' })
    expect([lost?.triggerKey.toString(), lost?.jobKey?.toString()]).toEqual(['DEFAULT.t', 'DEFAULT.j'])
    expect(live.bed.signals.deletedJobs).toEqual(['DEFAULT.j'])
    expect(await storedCounts(live.bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
  })

  test('in the middle of a firing whose trigger has ended on another node since: it runs again', async () => {
    const stage = await scene()
    const { cluster, dead, live } = stage
    const spec = { job: job(true, false), everyMs: 1000, times: 2 }
    await dead.bed.scheduleAll([dead.bed.trigger('t', spec)], spec.job)
    const first = await dead.bed.start('t')
    await cluster.clock.advance(1000)
    await live.bed.complete(await live.bed.start('t'), 'deleteTrigger')
    await die(stage)
    expect(live.bed.signals.recoveries).toMatchObject([{ recoveredExecutions: 1, lostExecutions: 0 }])
    const again = await live.bed.fire(only(await live.bed.acquire()))
    expect(again.scheduledFireTimeMs).toBe(first.scheduledFireTimeMs)
    await live.bed.complete(again, 'deleteTrigger')
    expect(await storedCounts(live.bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
    expect(await cluster.firedRows()).toEqual([])
  })

  test('in the middle of a job that was deleted meanwhile: there is nothing to run again', async () => {
    const stage = await scene()
    const { dead, live } = stage
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: job(true, false) })], job(true, false))
    await dead.bed.start('t')
    await live.bed.store.deleteJobs([job(true, false).key])
    await die(stage)
    expect(live.bed.signals.lostExecutions).toHaveLength(1)
    expect(await storedCounts(live.bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
  })

  test('in the middle of a job that was replaced by one of another type: that one does not run', async () => {
    const stage = await scene()
    const { dead, live } = stage
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: job(true, false) })], job(true, false))
    await dead.bed.start('t')
    const other = { ...job(true, false), jobType: 'other', durable: true }
    await replace(live.bed, other)
    await die(stage)
    const reason = 'its job was replaced, or did not request recovery when it began'
    expect(live.bed.signals.lostExecutions).toMatchObject([{ reason }])
    expect(await live.bed.acquireNames()).toEqual([])
    expect((await live.bed.store.getJob(other.key))?.jobType).toBe('other')
  })

  test.each([
    ['replaced by one of its type', replace],
    ['deleted and stored anew, as a program does at each start', storeAnew],
  ])('in the middle of a job that was %s: it runs again', async (_, change) => {
    const stage = await scene()
    const { dead, live } = stage
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: job(true, false) })], job(true, false))
    await dead.bed.start('t')
    await change(live.bed, { ...job(true, false), description: 'better', durable: true })
    await die(stage)
    expect(live.bed.signals.recoveries).toMatchObject([{ recoveredExecutions: 1, lostExecutions: 0 }])
  })

  test('while it ran a job that excludes itself: the job is free, and a repeating trigger goes on', async () => {
    const stage = await scene()
    const { dead, live } = stage
    const { bed } = dead
    const spec = { everyMs: 60_000, job: job(true, true) }
    await bed.scheduleAll(
      [bed.trigger('t', spec), bed.trigger('sibling', { ...spec, inMs: 1 }), bed.trigger('paused', spec)],
      job(true, true),
    )
    await bed.store.pauseTrigger(bed.trigger('paused').key)
    await bed.start('t')
    expect(await bed.states('t', 'sibling', 'paused')).toEqual(['BLOCKED', 'BLOCKED', 'PAUSED'])
    await die(stage)
    expect(await live.bed.states('t', 'sibling', 'paused')).toEqual(['NORMAL', 'NORMAL', 'PAUSED'])
    // One at a time: the recovery was planned first.
    const claim = only(await live.bed.acquire())
    expect(claim.trigger.key.group).toBe(recoveringJobsGroup)
  })

  test('while it recovered another one: the same firing is recovered, and says so', async () => {
    const stage = await scene()
    const { cluster, dead, live } = stage
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: job(true, false) })], job(true, false))
    const first = await dead.bed.start('t')
    await die(stage)
    await live.bed.fire(only(await live.bed.acquire()))
    const last = await cluster.startNode('last')
    live.kill()
    await cluster.clock.advance(failOverMs)
    const { trigger } = only(await last.bed.acquire())
    expect(trigger.jobDataMap).toMatchObject({
      QRTZ_FAILED_JOB_ORIG_TRIGGER_NAME: 't',
      QRTZ_FAILED_JOB_ORIG_TRIGGER_GROUP: 'DEFAULT',
      QRTZ_FAILED_JOB_ORIG_TRIGGER_SCHEDULED_FIRETIME_IN_MILLISECONDS_AS_STRING: String(
        first.scheduledFireTimeMs,
      ),
    })
    expect(await last.bed.store.getTriggerKeys(GroupMatcher.anyGroup())).toHaveLength(1)
  })

  test('while a group of recovery triggers is paused: they wait for it', async () => {
    const stage = await scene()
    const { dead, live } = stage
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: job(true, false) })], job(true, false))
    await dead.bed.start('t')
    await live.bed.store.pauseTriggers(GroupMatcher.groupEquals(recoveringJobsGroup))
    await die(stage)
    expect(await live.bed.acquire()).toEqual([])
    await live.bed.store.resumeTriggers(GroupMatcher.groupEquals(recoveringJobsGroup))
    expect(await live.bed.acquire()).toHaveLength(1)
  })

  test('leaves the claims and executions of others on the same triggers alone', async () => {
    const stage = await scene()
    const { cluster, dead, live } = stage
    await dead.bed.scheduleAll(
      [dead.bed.trigger('t', { everyMs: 1000, job: job(false, false) })],
      job(false, false),
    )
    await dead.bed.start('t')
    await cluster.clock.advance(1000)
    // What Java leaves when a trigger is paused and resumed under a claim.
    await cluster.sql(
      `INSERT INTO qrtz_fired_triggers (sched_name, entry_id, trigger_name, trigger_group, instance_name, fired_time,
         sched_time, priority, state)
       VALUES ('conformance', 'stale', 't', 'DEFAULT', 'dead', 1, 1, 5, 'ACQUIRED')`,
    )
    const claim = await live.bed.acquireOne('t')
    await die(stage)
    expect(await cluster.firedRows()).toEqual(['t ACQUIRED'])
    expect(await live.bed.fireKind(claim)).toBe('fired')
  })

  test('in its last firing, with an earlier one in flight elsewhere: the trigger goes, whoever ends last', async () => {
    const stage = await scene()
    const { cluster, dead, live } = stage
    const repeating = dead.bed.trigger('t', { everyMs: 1000, times: 2, job: job(false, false) })
    await dead.bed.scheduleAll([repeating], job(false, false))
    const earlier = await live.bed.start('t')
    await cluster.clock.advance(1000)
    await dead.bed.start('t')
    await die(stage)
    expect(await cluster.firedRows()).toEqual(['t EXECUTING'])
    await live.bed.complete(earlier)
    expect(await cluster.firedRows()).toEqual([])
    expect(await storedCounts(live.bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
  })

  test('in an earlier firing, with the last one in flight elsewhere: the trigger stays until that ends', async () => {
    const stage = await scene()
    const { cluster, dead, live } = stage
    const repeating = dead.bed.trigger('t', { everyMs: 1000, times: 2, job: job(false, false) })
    await dead.bed.scheduleAll([repeating], job(false, false))
    await dead.bed.start('t')
    await cluster.clock.advance(1000)
    const last = await live.bed.start('t')
    await die(stage)
    expect(await storedCounts(live.bed.store)).toEqual({ jobs: 1, triggers: 1, calendars: 0 })
    await live.bed.complete(last, 'deleteTrigger')
    expect(await storedCounts(live.bed.store)).toEqual({ jobs: 0, triggers: 0, calendars: 0 })
  })

  test('wakes the loops for what may fire again', async () => {
    const stage = await scene()
    const { dead, live } = stage
    const trigger = await dead.bed.schedule('t')
    await dead.bed.acquireOne('t')
    live.bed.signals.clear()
    await die(stage)
    expect(live.bed.signals.announced(trigger.startTimeMs)).toBe(true)
  })
})

describe('firings that nobody owns', () => {
  test('are recovered when their node has no state any more', async () => {
    const stage = await scene()
    const { cluster, dead, live } = stage
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: job(true, true) })], job(true, true))
    await dead.bed.start('t')
    await cluster.sql(`DELETE FROM qrtz_scheduler_state WHERE instance_name = 'dead'`)
    await die(stage)
    expect(live.bed.signals.recoveries).toMatchObject([{ node: 'dead', recoveredExecutions: 1 }])
    expect(live.bed.signals.failedNodes).toEqual([])
    expect(await live.bed.acquire()).toHaveLength(1)
  })

  test('triggers that are acquired or blocked by nobody are set free, others are not', async () => {
    const cluster = await TestCluster.open()
    const { bed } = await cluster.startNode('idle')
    const live = await cluster.startNode('live', { sweepIntervalMs: 3000 })
    await bed.scheduleAll([bed.trigger('stuck'), bed.trigger('claimed'), bed.trigger('later', { inMs: 1 })])
    const other = jobDetail('other', { disallowConcurrentExecution: true, durable: true })
    await bed.scheduleAll(
      [bed.trigger('x', { job: other, inMs: 1 }), bed.trigger('y', { job: other, inMs: 1 })],
      other,
    )
    await bed.acquire()
    await cluster.sql(`DELETE FROM qrtz_fired_triggers WHERE trigger_name = 'stuck'`)
    await cluster.sql(`UPDATE qrtz_triggers SET trigger_state = 'BLOCKED' WHERE trigger_name = 'x'`)
    await cluster.sql(`UPDATE qrtz_triggers SET trigger_state = 'PAUSED_BLOCKED' WHERE trigger_name = 'y'`)
    await cluster.clock.advance(4500)
    expect(await live.bed.acquireNames()).toEqual(['stuck', 'later', 'x'])
    expect(await live.bed.state('y')).toBe('PAUSED')
    expect(await cluster.firedRows()).toContain('claimed ACQUIRED')
  })

  test('triggers that wait for a value that is no time are put in error, once', async () => {
    const cluster = await TestCluster.open()
    const { bed } = await cluster.startNode('idle')
    const live = await cluster.startNode('live', { sweepIntervalMs: 3000 })
    const names = ['long ago', 'never', 'java', 'paused', 'good']
    await bed.scheduleAll(names.map((name) => bed.trigger(name)))
    const write = (value: string, name: string): Promise<unknown> =>
      cluster.sql(`UPDATE qrtz_triggers SET next_fire_time = ${value} WHERE trigger_name = '${name}'`)
    await bed.store.pauseTrigger(bed.trigger('paused').key)
    await write('-5', 'long ago')
    await write('9223372036854775807', 'never')
    await write('-1', 'java')
    await write('-5', 'paused')
    await cluster.clock.advance(4500)
    expect(await live.bed.states(...names)).toEqual(['ERROR', 'ERROR', 'NORMAL', 'PAUSED', 'NORMAL'])
    const told = live.bed.signals.inError.map(({ key, reason }) => `${key}: ${reason}`)
    expect(told.sort()).toEqual([
      expect.stringMatching(
        /^DEFAULT.long ago: Trigger 'DEFAULT.long ago' .* column 'next_fire_time' holds no time/,
      ),
      expect.stringMatching(/^DEFAULT.never: /),
    ])
    await cluster.clock.advance(4500)
    expect(live.bed.signals.inError).toHaveLength(2)
    expect(await live.bed.acquireNames()).toEqual(['good'])
  })

  test('triggers in a state that is none are put in error, once', async () => {
    const cluster = await TestCluster.open()
    const { bed } = await cluster.startNode('idle')
    const live = await cluster.startNode('live', { sweepIntervalMs: 3000 })
    const words = ['FOO', 'waiting', 'EXECUTING', 'DELETED', '']
    const stills = ['PAUSED', 'COMPLETE', 'PAUSED_BLOCKED']
    const all = [...words, ...stills, 'WAITING']
    await bed.scheduleAll(all.map((word) => bed.trigger(`t${word}`)))
    for (const word of all) {
      await cluster.sql(`UPDATE qrtz_triggers SET trigger_state = '${word}' WHERE trigger_name = 't${word}'`)
    }
    await cluster.clock.advance(4500)
    const told = live.bed.signals.inError.map(({ reason }) => reason)
    expect(told.map((reason) => /'trigger_state' held '(.*?)'/.exec(reason)?.[1]).sort()).toEqual(
      words.toSorted(),
    )
    await cluster.clock.advance(4500)
    expect(live.bed.signals.inError).toHaveLength(words.length)
    expect(await live.bed.acquireNames()).toEqual(['tWAITING'])
    expect(await live.bed.states('tPAUSED', 'tCOMPLETE')).toEqual(['PAUSED', 'COMPLETE'])
  })

  test('triggers whose jobs are gone are set free, however many they are, and are in error when due', async () => {
    const cluster = await TestCluster.open()
    const { bed } = await cluster.startNode('idle')
    const live = await cluster.startNode('live', { sweepIntervalMs: 3000 })
    const entries = Array.from({ length: 501 }, (_, n) => {
      const blocked = jobDetail(`j${String(n)}`, { disallowConcurrentExecution: true, durable: true })
      return { job: blocked, triggers: [bed.trigger(`t${String(n)}`, { job: blocked })] }
    })
    await bed.store.scheduleJobs(entries, { replace: false })
    await cluster.sql(`UPDATE qrtz_triggers SET trigger_state = 'BLOCKED'`)
    await cluster.sql('DELETE FROM qrtz_job_details')
    // A look that went on for ever would end here.
    live.runner.failAt(200)
    await cluster.clock.advance(4500)
    expect(live.bed.signals.errors).toEqual([])
    expect(await bed.store.getTriggerCounts()).toEqual({ NORMAL: 501 })
    expect(await live.bed.acquire()).toEqual([])
    expect(await live.bed.state('t7')).toBe('ERROR')
    const [told] = live.bed.signals.inError.filter(({ key }) => key === 'DEFAULT.t7')
    expect(told?.reason).toMatch(
      /its job 'DEFAULT\.j7' does not exist\. Delete the trigger, or store the job/,
    )
  })

  test('are looked for among all triggers before anything is locked', async () => {
    const cluster = await TestCluster.open()
    const live = await cluster.startNode('live', { sweepIntervalMs: 3000 })
    live.runner.texts.length = 0
    await cluster.clock.advance(4500)
    const looks = live.runner.texts.filter((text) => text.includes("'PAUSED_BLOCKED'"))
    expect(looks).not.toEqual([])
    for (const text of looks) expect(text).toMatch(/^SELECT 1 AS found/)
  })
})

describe('locks', () => {
  test('of a job comes before that of its trigger when an error is cleared, as everywhere', async () => {
    const cluster = await TestCluster.open()
    const { bed, runner } = await cluster.startNode('live')
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    await bed.putInError('t')
    runner.texts.length = 0
    expect(await bed.store.resetTriggerFromErrorState(key)).toBe(true)
    const trigger = runner.texts.findIndex((text) => text.includes('t.misfire_instr'))
    const job = runner.texts.findIndex((text) => text.startsWith('SELECT j.job_name'))
    expect(job).toBeGreaterThanOrEqual(0)
    expect(job).toBeLessThan(trigger)
  })

  test('of jobs come before those of triggers when a node is recovered, as everywhere', async () => {
    const stage = await scene()
    const { dead, live } = stage
    const exclusive = job(true, true)
    await dead.bed.scheduleAll([dead.bed.trigger('t', { job: exclusive, everyMs: 1000 })], exclusive)
    await dead.bed.start('t')
    await dead.bed.schedule('c')
    await dead.bed.acquireOne('c')
    live.runner.texts.length = 0
    await die(stage)
    expect(live.bed.signals.recoveries).toHaveLength(1)
    const tables = live.runner.texts.flatMap((text) => {
      if (text.startsWith('SELECT j.job_name') && !text.includes('j.description')) return ['job_details']
      return text.startsWith('SELECT t.trigger_name') && text.includes('t.misfire_instr') ? ['triggers'] : []
    })
    expect(tables.indexOf('job_details')).toBeGreaterThanOrEqual(0)
    expect(tables.indexOf('triggers')).toBeGreaterThan(tables.indexOf('job_details'))
  })
})

describe('a claim of a job that forbids concurrent execution', () => {
  test.each(['releaseAcquiredTriggers', 'releaseAllAcquiredTriggers'] as const)(
    'wakes the other nodes for the sibling that it hid when it is given back (%s)',
    async (method) => {
      const cluster = await TestCluster.open()
      const { bed, wakes } = await cluster.startNode('a')
      const exclusive = job(false, true)
      await bed.scheduleAll([bed.trigger('late', { job: exclusive, inMs: 10_000 })], exclusive)
      const claims = await bed.acquire({ noLaterThanMs: bed.now() + 60_000 })
      expect(claims).toHaveLength(1)
      const sibling = bed.trigger('early', { job: exclusive, inMs: 5000 })
      await bed.store.scheduleJobs([{ job: null, triggers: [sibling] }], { replace: false })
      expect(await bed.acquire({ noLaterThanMs: bed.now() + 60_000 })).toEqual([])
      wakes.length = 0
      await bed.store[method](claims)
      expect(wakes).toEqual([sibling.nextFireTimeMs ?? sibling.computeFirstFireTime(null).nextFireTimeMs])
    },
  )
})
