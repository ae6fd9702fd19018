import assert from 'node:assert/strict'
import { reservedDataPrefix } from '../../core/job-data-map.ts'
import { retryingJobsGroup, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { Pause, PauseNote, PauseTarget } from '../../jobstore/pauses.ts'
import { area, type StoreCase } from './store-case.ts'
import { pausedJobGroups, pausedTriggerGroups } from './stored.ts'
import { jobDetail, misfireThresholdMs, only, refuses, type Testbed } from './testbed.ts'

export const note = (reason: string, changes: Partial<PauseNote> = {}): PauseNote => ({
  reason,
  by: 'ann',
  untilMs: null,
  ...changes,
})

async function pauseOf(bed: Testbed, name: string, group?: string): Promise<Pause | null> {
  const { items } = await bed.store.queryTriggers({ take: 1000 })
  const found = items.find(({ key }) => key.equals(new TriggerKey(name, group)))
  assert.ok(found !== undefined, `trigger '${name}' is listed`)
  return found.pause
}

async function pauseOfJob(bed: Testbed, name: string): Promise<Pause | null> {
  const { items } = await bed.store.queryJobs({ take: 1000 })
  const found = items.find(({ key }) => key.name === name)
  assert.ok(found !== undefined, `job '${name}' is listed`)
  return found.pause
}

export async function reasonOf(bed: Testbed, name: string, group?: string): Promise<string | null> {
  return (await pauseOf(bed, name, group))?.reason ?? null
}

export async function endedNow(bed: Testbed): Promise<readonly string[]> {
  const { ended } = await bed.store.endPauses()
  return ended.map(textOf).sort()
}

function textOf(target: PauseTarget): string {
  if (target.scope === 'all') return 'all'
  return `${target.scope} ${'key' in target ? target.key.name : target.group}`
}

const known = area('pause: why', {
  'is kept with a trigger, and listed': async (bed) => {
    const { key } = await bed.schedule('t')
    const sinceMs = bed.now()
    await bed.store.pauseTrigger(key, note('broken', { untilMs: sinceMs + 1000 }))
    assert.deepEqual(await pauseOf(bed, 't'), {
      scope: 'trigger',
      reason: 'broken',
      by: 'ann',
      sinceMs,
      untilMs: sinceMs + 1000,
    })
  },
  'of which nothing is said is the instant alone': async (bed) => {
    const { key } = await bed.schedule('t')
    await bed.store.pauseTrigger(key)
    const pause = { scope: 'trigger', reason: null, by: null, sinceMs: bed.now(), untilMs: null }
    assert.deepEqual(await pauseOf(bed, 't'), pause)
    assert.equal(await pauseOfJob(bed, 'job'), null)
  },
  'stays when the same is paused again in silence, and is replaced by what is said': async (bed) => {
    const { key } = await bed.schedule('t')
    await bed.store.pauseTrigger(key, note('first', { untilMs: bed.now() + 1000 }))
    const first = await pauseOf(bed, 't')
    await bed.clock.advance(10)
    await bed.store.pauseTrigger(key)
    assert.deepEqual(await pauseOf(bed, 't'), first)
    // A name alone is silence.
    await bed.store.pauseTrigger(key, { reason: null, by: 'bob', untilMs: null })
    assert.deepEqual(await pauseOf(bed, 't'), first)
    await bed.store.pauseTrigger(key, note('second', { by: null }))
    const pause = { scope: 'trigger', reason: 'second', by: null, sinceMs: bed.now(), untilMs: null }
    assert.deepEqual(await pauseOf(bed, 't'), pause)
  },
  'of jobs, of groups and of all stays likewise when only a name is said': async (bed) => {
    await bed.schedule('t')
    const name: PauseNote = { reason: null, by: 'bob', untilMs: null }
    const group = GroupMatcher.groupEquals('DEFAULT')
    const pauses: readonly ((said: PauseNote) => Promise<unknown>)[] = [
      (said) => bed.store.pauseAll(said),
      (said) => bed.store.pauseJobs(group, said),
      (said) => bed.store.pauseTriggers(group, said),
      (said) => bed.store.pauseJob(bed.job.key, said),
    ]
    for (const [index, pause] of pauses.entries()) {
      await pause(note(`said ${index}`, { untilMs: bed.now() + 1000 }))
      const said = await pauseOf(bed, 't')
      assert.equal(said?.reason, `said ${index}`)
      await bed.clock.advance(1)
      await pause(name)
      assert.deepEqual(await pauseOf(bed, 't'), said)
    }
  },
  'is not there while nothing is paused': async (bed) => {
    const { key } = await bed.schedule('t')
    assert.equal(await pauseOf(bed, 't'), null)
    await bed.store.pauseTrigger(key, note('x'))
    await bed.store.resumeTrigger(key)
    assert.equal(await pauseOf(bed, 't'), null)
    await bed.store.pauseTrigger(key)
    assert.equal(await reasonOf(bed, 't'), null)
  },
  'goes with the trigger': async (bed) => {
    const { key } = await bed.schedule('t')
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'), note('group'))
    await bed.store.pauseTrigger(key, note('own'))
    assert.equal(await reasonOf(bed, 't'), 'own')
    await bed.store.deleteTriggers([key])
    await bed.schedule('t')
    assert.equal(await reasonOf(bed, 't'), 'group')
    await bed.store.pauseTrigger(key, note('own'))
    await bed.store.rescheduleTrigger(key, bed.trigger('t'))
    assert.equal(await reasonOf(bed, 't'), 'group')
  },
  'goes with the job, and with everything': async (bed) => {
    await bed.schedule('t')
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'))
    await bed.store.pauseJob(bed.job.key, note('job'))
    assert.equal(await reasonOf(bed, 't'), 'job')
    await bed.store.deleteJobs([bed.job.key])
    const { key } = await bed.schedule('t')
    assert.equal(await reasonOf(bed, 't'), null)
    await bed.store.pauseTrigger(key, note('own'))
    await bed.store.clear()
    await bed.schedule('t')
    await bed.store.pauseTrigger(key)
    assert.equal(await reasonOf(bed, 't'), null)
  },
  'of a job is that of its triggers, while one of them is paused': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b')])
    await bed.store.pauseJob(bed.job.key, note('job'))
    assert.equal((await pauseOfJob(bed, 'job'))?.reason, 'job')
    assert.equal((await pauseOf(bed, 'a'))?.scope, 'job')
    await bed.store.resumeTrigger(new TriggerKey('a'))
    assert.equal(await pauseOf(bed, 'a'), null)
    assert.equal((await pauseOfJob(bed, 'job'))?.reason, 'job')
    await bed.store.resumeTrigger(new TriggerKey('b'))
    assert.equal(await pauseOfJob(bed, 'job'), null)
    // A later pause of one of them is another pause.
    await bed.store.pauseTrigger(new TriggerKey('a'))
    assert.equal(await pauseOfJob(bed, 'job'), null)
    await bed.store.pauseJob(bed.job.key, note('again'))
    await bed.store.resumeJob(bed.job.key)
    assert.equal(await pauseOfJob(bed, 'job'), null)
  },
  'of a job that has nothing to pause is none, and holds no later trigger': async (bed) => {
    const job = jobDetail('empty', { durable: true })
    await bed.store.addJob(job, { replace: false })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('g'), note('group', { untilMs: bed.now() + 1000 }))
    await bed.store.pauseJob(job.key, note('job'))
    await bed.schedule('t', { group: 'g', job })
    assert.equal((await pauseOf(bed, 't', 'g'))?.scope, 'triggerGroup')
    await bed.clock.advance(1000)
    await bed.store.endPauses()
    assert.equal(await bed.state('t', 'g'), 'NORMAL')
  },
  'of groups is told with the groups, and with what is in them': async (bed) => {
    await bed.schedule('t', { group: 'g', job: jobDetail('j', { group: 'jobs' }) })
    await bed.store.pauseTriggers(GroupMatcher.groupStartsWith('g'), note('triggers'))
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'), note('jobs'))
    const groups = await bed.store.getPausedGroups()
    assert.equal(only(groups.triggerGroups).pause?.reason, 'triggers')
    assert.equal(only(groups.jobGroups).pause?.reason, 'jobs')
    assert.equal((await pauseOf(bed, 't', 'g'))?.scope, 'triggerGroup')
    assert.equal((await pauseOfJob(bed, 'j'))?.scope, 'jobGroup')
    await bed.store.resumeTriggers(GroupMatcher.groupEquals('g'))
    assert.equal((await pauseOf(bed, 't', 'g'))?.scope, 'jobGroup')
    await bed.store.resumeJobs(GroupMatcher.anyGroup())
    assert.equal(await pauseOf(bed, 't', 'g'), null)
    assert.deepEqual(await bed.store.getPausedGroups(), {
      triggerGroups: [],
      jobGroups: [],
      everyNewTriggerGroup: false,
    })
  },
  'of everything is told with each group, and of one closer by in its place': async (bed) => {
    await bed.schedule('a', { group: 'g' })
    await bed.schedule('b', { group: 'h' })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('h'), note('group'))
    await bed.store.pauseAll(note('all'))
    await bed.schedule('c', { group: 'new' })
    assert.equal((await pauseOf(bed, 'a', 'g'))?.scope, 'all')
    assert.equal((await pauseOf(bed, 'c', 'new'))?.scope, 'all')
    assert.equal(await reasonOf(bed, 'b', 'h'), 'group')
    const { triggerGroups } = await bed.store.getPausedGroups()
    assert.deepEqual(Object.fromEntries(triggerGroups.map(({ group, pause }) => [group, pause?.reason])), {
      g: 'all',
      h: 'group',
      new: 'all',
    })
    await bed.store.resumeAll()
    await bed.store.pauseTrigger(new TriggerKey('a', 'g'))
    assert.equal(await reasonOf(bed, 'a', 'g'), null)
  },
})

const ending = area('pause: until', {
  'ends by itself, at its instant and not before': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 10_000, misfire: 'ignore' })
    const untilMs = bed.now() + 5000
    await bed.store.pauseTrigger(key, note('x', { untilMs }))
    await bed.clock.advance(4999)
    assert.deepEqual(await bed.store.endPauses(), { ended: [], nextMs: untilMs })
    assert.equal(await bed.state('t'), 'PAUSED')
    await bed.clock.advance(1)
    assert.deepEqual(await bed.store.endPauses(), { ended: [{ scope: 'trigger', key }], nextMs: null })
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.equal(await pauseOf(bed, 't'), null)
    assert.deepEqual(await bed.acquireNames(), ['t'])
    assert.deepEqual(await endedNow(bed), [])
  },
  'has late triggers go through their misfire policy': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 10_000, misfire: 'rescheduleNextWithExistingCount' })
    await bed.store.pauseTrigger(key, note('x', { untilMs: bed.now() + 5000 }))
    await bed.clock.advance(195_000)
    assert.deepEqual(await endedNow(bed), ['trigger t'])
    assert.equal((await bed.stored('t')).nextFireTimeMs, bed.now() + 5000)
  },
  'of a job or a group leaves alone what another pause holds': async (bed) => {
    const job = jobDetail('j', { group: 'jobs', durable: true })
    await bed.scheduleAll([bed.trigger('a', { job, group: 'g' }), bed.trigger('b', { job, group: 'g' })], job)
    const untilMs = bed.now() + 1000
    await bed.store.pauseTrigger(new TriggerKey('a', 'g'), note('own'))
    await bed.store.pauseJob(job.key, note('job', { untilMs }))
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('g'), note('group', { untilMs: untilMs + 1000 }))
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'), note('jobs', { untilMs: untilMs + 2000 }))
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['job j'])
    assert.equal(await bed.state('b', 'g'), 'PAUSED')
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['triggerGroup g'])
    assert.deepEqual(await pausedTriggerGroups(bed.store), [])
    assert.equal(await bed.state('b', 'g'), 'PAUSED')
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['jobGroup jobs'])
    assert.deepEqual(await pausedJobGroups(bed.store), [])
    assert.equal(await bed.state('b', 'g'), 'NORMAL')
    assert.equal(await bed.state('a', 'g'), 'PAUSED')
    assert.equal(await reasonOf(bed, 'a', 'g'), 'own')
  },
  'of everything leaves groups paused that were paused on their own': async (bed) => {
    await bed.schedule('a', { group: 'g' })
    await bed.schedule('b', { group: 'h' })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('h'))
    await bed.store.pauseAll(note('all', { untilMs: bed.now() + 1000 }))
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), ['all'])
    assert.equal(await bed.state('a', 'g'), 'NORMAL')
    assert.equal(await bed.state('b', 'h'), 'PAUSED')
    assert.deepEqual(await pausedTriggerGroups(bed.store), ['h'])
    await bed.schedule('c', { group: 'new' })
    assert.equal(await bed.state('c', 'new'), 'NORMAL')
  },
  'does not come when it was resumed, or paused anew without an end': async (bed) => {
    const a = await bed.schedule('a')
    const b = await bed.schedule('b')
    const untilMs = bed.now() + 1000
    await bed.store.pauseTrigger(a.key, note('x', { untilMs }))
    await bed.store.pauseTrigger(b.key, note('x', { untilMs }))
    await bed.store.resumeTrigger(a.key)
    await bed.store.pauseTrigger(a.key)
    await bed.store.pauseTrigger(b.key, note('for good'))
    await bed.clock.advance(1000)
    assert.deepEqual(await bed.store.endPauses(), { ended: [], nextMs: null })
    assert.deepEqual(await bed.states('a', 'b'), ['PAUSED', 'PAUSED'])
  },
  'does not come to a job none of whose triggers is paused any more': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 10_000 })
    await bed.store.pauseJob(bed.job.key, note('x', { untilMs: bed.now() + 1000 }))
    await bed.store.resumeTrigger(key)
    await bed.clock.advance(1000)
    assert.deepEqual(await endedNow(bed), [])
  },
  'comes a bounded number at a time': async (bed) => {
    const triggers = Array.from({ length: 150 }, (_, index) =>
      bed.trigger(`t${String(index)}`, { inMs: 9000 }),
    )
    await bed.scheduleAll(triggers)
    const untilMs = bed.now() + 1000
    for (const { key } of triggers) await bed.store.pauseTrigger(key, note('x', { untilMs }))
    await bed.clock.advance(1000)
    const first = await bed.store.endPauses()
    assert.deepEqual([first.ended.length, first.nextMs], [100, untilMs])
    const second = await bed.store.endPauses()
    assert.deepEqual([second.ended.length, second.nextMs], [50, null])
  },
})

const endingOnce = area(
  'pause: until',
  {
    'ends once, whichever node looks first, also after a restart': async (bed, { reopen }) => {
      const { key } = await bed.schedule('t')
      await bed.store.pauseTrigger(key, note('x', { untilMs: bed.now() + 1000 }))
      await bed.store.shutdown()
      await bed.clock.advance(100_000)
      const other = await reopen()
      assert.deepEqual(await endedNow(other), ['trigger t'])
      assert.deepEqual(await endedNow(other), [])
      assert.equal(await other.state('t'), 'NORMAL')
    },
  },
  { persistent: true },
)

const endingAmongNodes = area(
  'pause: until',
  {
    'ends once among nodes that look at the same time': async (bed, { reopen }) => {
      const other = await reopen()
      const { key } = await bed.schedule('t')
      await bed.store.pauseTrigger(key, note('x', { untilMs: bed.now() + 1000 }))
      await bed.clock.advance(1000)
      const ended = await Promise.all([endedNow(bed), endedNow(other), endedNow(bed), endedNow(other)])
      assert.deepEqual(ended.flat(), ['trigger t'])
    },
  },
  { clustered: true },
)

const missed = { withoutMissed: true }

const withoutMissed = area('resume without what was missed', {
  'goes on with the first fire time after now, whatever the policy': async (bed) => {
    for (const misfire of ['smart', 'ignore', 'rescheduleNextWithExistingCount'] as const) {
      const { key } = await bed.schedule(misfire, { everyMs: 10_000, misfire })
      await bed.store.pauseTrigger(key)
    }
    await bed.clock.advance(95_000)
    await bed.store.resumeTrigger(new TriggerKey('smart'), missed)
    await bed.store.resumeJob(bed.job.key, missed)
    for (const misfire of ['smart', 'ignore', 'rescheduleNextWithExistingCount']) {
      assert.equal((await bed.stored(misfire)).nextFireTimeMs, bed.now() + 5000, misfire)
    }
    assert.deepEqual(await bed.acquireNames(), [])
    assert.deepEqual(bed.signals.misfired, [])
  },
  'leaves out also what is late by less than a misfire': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 10_000 })
    await bed.store.pauseTriggers(GroupMatcher.anyGroup())
    await bed.clock.advance(15_000)
    await bed.store.resumeTriggers(GroupMatcher.anyGroup(), missed)
    assert.equal((await bed.stored('t')).nextFireTimeMs, bed.now() + 5000)
    await bed.store.pauseJobs(GroupMatcher.anyGroup())
    await bed.clock.advance(15_000)
    await bed.store.resumeJobs(GroupMatcher.anyGroup(), missed)
    assert.equal((await bed.stored('t')).nextFireTimeMs, bed.now() + 10_000)
    await bed.store.pauseAll()
    await bed.clock.advance(15_000)
    await bed.store.resumeAll(missed)
    assert.equal((await bed.stored('t')).nextFireTimeMs, bed.now() + 5000)
    assert.equal(await bed.state(key.name), 'NORMAL')
  },
  'finishes a trigger that has no fire time left': async (bed) => {
    const { key } = await bed.schedule('t')
    await bed.store.pauseTrigger(key)
    await bed.clock.advance(1)
    await bed.store.resumeTrigger(key, missed)
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.equal(bed.signals.finalized.length, 1)
  },
  'runs again what was to be tried again, which is no missed time of a schedule': async (bed) => {
    await bed.schedule('t')
    const data = { [`${reservedDataPrefix}RETRY`]: 'by the scheduler' }
    const retryTrigger = bed.trigger('retry', { group: retryingJobsGroup, data })
    await bed.complete(await bed.start('t'), 'deleteTrigger', { retryTrigger })
    await bed.store.pauseAll()
    await bed.clock.advance(2 * misfireThresholdMs)
    await bed.store.resumeAll(missed)
    assert.deepEqual(await bed.acquireNames(), ['retry'])
  },
  'leaves a trigger alone that has missed nothing': async (bed) => {
    const { key, nextFireTimeMs } = await bed.schedule('t', { inMs: 5000, everyMs: 10_000 })
    await bed.store.pauseTrigger(key)
    await bed.store.resumeTrigger(key, missed)
    assert.equal((await bed.stored('t')).nextFireTimeMs, nextFireTimeMs)
  },
})

const skipping = area('skip the next fire', {
  'moves a trigger on to the one after it': async (bed) => {
    const { key } = await bed.schedule('t', { inMs: 1000, everyMs: 10_000 })
    const [skippedMs, nextMs] = [bed.now() + 1000, bed.now() + 11_000]
    assert.deepEqual(await bed.store.skipNextFire(key, null), { skippedMs, nextMs })
    const stored = await bed.stored('t')
    assert.deepEqual([stored.nextFireTimeMs, stored.previousFireTimeMs], [nextMs, null])
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: nextMs }), ['t'])
  },
  'leaves out no other fire time than the one that is expected': async (bed) => {
    const { key } = await bed.schedule('t', { inMs: 1000, everyMs: 10_000 })
    const firstMs = bed.now() + 1000
    await bed.store.skipNextFire(key, firstMs)
    await refuses(bed.store.skipNextFire(key, firstMs), 'ERR_CHANGED_MEANWHILE')
    assert.equal((await bed.stored('t')).nextFireTimeMs, firstMs + 10_000)
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: firstMs + 10_000 }), ['t'])
  },
  'is refused when the expected fire time was the last one': async (bed) => {
    const { key, nextFireTimeMs } = await bed.schedule('t')
    await bed.store.skipNextFire(key, nextFireTimeMs)
    await refuses(bed.store.skipNextFire(key, nextFireTimeMs), 'ERR_CHANGED_MEANWHILE')
    await refuses(bed.store.skipNextFire(new TriggerKey('none'), nextFireTimeMs), 'ERR_CHANGED_MEANWHILE')
    const broken = await bed.schedule('broken', { everyMs: 1000 })
    await bed.putInError('broken')
    const { nextFireTimeMs: next } = await bed.stored('broken')
    await refuses(bed.store.skipNextFire(broken.key, next), 'ERR_CHANGED_MEANWHILE')
    assert.equal(await bed.state('broken'), 'ERROR')
  },
  'keeps to the number of fires': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 10_000, times: 3 })
    await bed.store.skipNextFire(key, null)
    await bed.clock.advance(10_000)
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(10_000)
    await bed.complete(await bed.start('t'))
    assert.equal((await bed.stored('t')).nextFireTimeMs, null)
  },
  'finishes a trigger that has none left': async (bed) => {
    const { key } = await bed.schedule('t')
    assert.deepEqual(await bed.store.skipNextFire(key, null), { skippedMs: bed.now(), nextMs: null })
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.equal(bed.signals.finalized.length, 1)
    assert.equal(await bed.store.skipNextFire(key, null), null)
  },
  'leaves a pause in force also where none is left': async (bed) => {
    const { key } = await bed.schedule('t')
    await bed.store.pauseTrigger(key, note('x'))
    assert.deepEqual(await bed.store.skipNextFire(key, null), { skippedMs: bed.now(), nextMs: null })
    assert.equal(await bed.state('t'), 'PAUSED')
    assert.equal(await reasonOf(bed, 't'), 'x')
    assert.equal(await bed.store.skipNextFire(key, null), null)
    assert.deepEqual(bed.signals.finalized, [])
    await bed.store.resumeTrigger(key)
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.equal(bed.signals.finalized.length, 1)
  },
  'ends a claim': async (bed) => {
    await bed.schedule('t', { everyMs: 10_000 })
    const claim = await bed.acquireOne('t')
    await bed.store.skipNextFire(claim.trigger.key, null)
    assert.equal(await bed.fireKind(claim), 'gone')
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'leaves a pause in force': async (bed) => {
    const { key } = await bed.schedule('t', { inMs: 1000, everyMs: 10_000 })
    await bed.store.pauseTrigger(key, note('x'))
    await bed.store.skipNextFire(key, null)
    assert.equal(await bed.state('t'), 'PAUSED')
    assert.equal(await reasonOf(bed, 't'), 'x')
  },
  'does nothing to a trigger in error, or to none': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    await bed.putInError('t')
    assert.equal(await bed.store.skipNextFire(new TriggerKey('t'), null), null)
    assert.equal(await bed.store.skipNextFire(new TriggerKey('none'), null), null)
  },
})

export const pauseNoteCases: readonly StoreCase[] = [
  ...known,
  ...ending,
  ...endingOnce,
  ...endingAmongNodes,
  ...withoutMissed,
  ...skipping,
]
