import assert from 'node:assert/strict'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { CronScheduleBuilder } from '../../triggers/families/cron/cron-trigger.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import { area, type StoreCase } from './store-case.ts'
import { storedCounts } from './stored.ts'
import { jobDetail, refuses, type Testbed, textsOf } from './testbed.ts'

const noReplace = { replace: false }

async function jobNames(bed: Testbed): Promise<string[]> {
  return textsOf(await bed.store.getJobKeys(GroupMatcher.anyGroup()))
}

async function triggerNames(bed: Testbed): Promise<string[]> {
  return textsOf(await bed.store.getTriggerKeys(GroupMatcher.anyGroup()))
}

const storing = area('triggers', {
  'gives a trigger back as it was stored': async (bed) => {
    await bed.addCalendars('holidays')
    const trigger = bed.trigger('full', {
      group: 'reports',
      inMs: 1234,
      everyMs: 60_000,
      times: 7,
      priority: 9,
      calendar: 'holidays',
      misfire: 'rescheduleNextWithRemainingCount',
      data: { to: 'ops@example.com', nested: { list: [1, null, 'x'] } },
      description: 'Every minute, seven times',
    })
    await bed.scheduleAll([trigger])
    assert.deepEqual(await bed.store.getTrigger(new TriggerKey('full', 'reports')), trigger)
  },
  'keeps two triggers of one name in different groups apart': async (bed) => {
    await bed.schedule('twin', { description: 'first' })
    await bed.schedule('twin', { group: 'other', description: 'second' })
    assert.equal((await bed.stored('twin')).description, 'first')
    assert.equal((await bed.stored('twin', 'other')).description, 'second')
  },
  'keeps the milliseconds of times far away': async (bed) => {
    const trigger = await bed.schedule('t', { inMs: 95 * 365 * 86_400_000 + 123 })
    assert.equal((await bed.stored('t')).nextFireTimeMs, trigger.nextFireTimeMs)
  },
  'stores a job and its triggers together': async (bed) => {
    await bed.store.scheduleJobs(
      [{ job: bed.job, triggers: [bed.trigger('a'), bed.trigger('b')] }],
      noReplace,
    )
    assert.deepEqual(await jobNames(bed), ['DEFAULT.job'])
    assert.deepEqual(await bed.states('a', 'b'), ['NORMAL', 'NORMAL'])
  },
  'stores many jobs and triggers at once, also triggers of jobs of a later entry': async (bed) => {
    const later = jobDetail('later')
    const entries = [
      { job: bed.job, triggers: [bed.trigger('a'), bed.trigger('b', { job: later })] },
      { job: later, triggers: [] },
      { job: null, triggers: [bed.trigger('c')] },
    ]
    await bed.store.scheduleJobs(entries, noReplace)
    assert.deepEqual(await triggerNames(bed), ['DEFAULT.a', 'DEFAULT.b', 'DEFAULT.c'])
    assert.equal((await bed.store.getTriggersOfJob(later.key))[0]?.key.name, 'b')
  },
  'announces the fire time of a stored trigger': async (bed) => {
    const trigger = await bed.schedule('t', { inMs: 5000 })
    assert.ok(bed.signals.announced(trigger.startTimeMs))
  },
  'lists the triggers of a job and of no other': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b', { group: 'other' })])
    await bed.schedule('c', { job: jobDetail('else') })
    const keys = (await bed.store.getTriggersOfJob(bed.job.key)).map((trigger) => trigger.key)
    assert.deepEqual(textsOf(keys), ['DEFAULT.a', 'other.b'])
  },
  'finds the triggers of groups by every operator': async (bed) => {
    for (const group of ['red', 'rest', 'bored', 'other']) await bed.schedule('t', { group })
    const groups = async (matcher: GroupMatcher): Promise<string[]> =>
      (await bed.store.getTriggerKeys(matcher)).map((key) => key.group).sort()
    assert.deepEqual(await groups(GroupMatcher.groupEquals('red')), ['red'])
    assert.deepEqual(await groups(GroupMatcher.groupStartsWith('re')), ['red', 'rest'])
    assert.deepEqual(await groups(GroupMatcher.groupEndsWith('red')), ['bored', 'red'])
    assert.deepEqual(await groups(GroupMatcher.groupContains('or')), ['bored'])
    assert.deepEqual(await groups(GroupMatcher.anyGroup()), ['bored', 'other', 'red', 'rest'])
    assert.deepEqual(textsOf(await bed.store.getTriggerGroupNames()), ['bored', 'other', 'red', 'rest'])
  },
  'deletes triggers, and answers those that existed': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b'), bed.trigger('c')])
    const deleted = await bed.store.deleteTriggers([
      new TriggerKey('a'),
      new TriggerKey('missing'),
      new TriggerKey('c'),
    ])
    assert.deepEqual(textsOf(deleted), ['DEFAULT.a', 'DEFAULT.c'])
    assert.deepEqual(await triggerNames(bed), ['DEFAULT.b'])
    assert.deepEqual(await bed.acquireNames(), ['b'])
  },
  'keeps track of the triggers of a job in whatever order they go': async (bed) => {
    const names = ['a', 'b', 'c', 'd', 'e']
    await bed.scheduleAll(names.map((name) => bed.trigger(name)))
    const left = new Set(names)
    for (const name of ['c', 'e', 'a', 'b', 'd']) {
      await bed.store.deleteTriggers([new TriggerKey(name)])
      left.delete(name)
      const triggers = await bed.store.getTriggersOfJob(bed.job.key)
      assert.deepEqual(
        textsOf(triggers.map(({ key }) => key)),
        [...left].map((each) => `DEFAULT.${each}`),
      )
    }
  },
  'deletes a job of many triggers trigger by trigger': async (bed) => {
    const job = jobDetail('many')
    const triggers = Array.from({ length: 300 }, (_, index) => bed.trigger(`t${String(index)}`, { job }))
    await bed.scheduleAll(triggers, job)
    await bed.store.deleteTriggers(triggers.map(({ key }) => key))
    assert.equal(await bed.store.getJob(job.key), null)
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.many'])
  },
})

const refusing = area('triggers: all or nothing', {
  'refuses a trigger of an unknown job, and stores nothing of the call': async (bed) => {
    const orphan = bed.trigger('orphan', { job: jobDetail('missing') })
    await refuses(
      bed.store.scheduleJobs(
        [
          { job: bed.job, triggers: [bed.trigger('a')] },
          { job: null, triggers: [orphan] },
        ],
        noReplace,
      ),
      'ERR_JOB_NOT_FOUND',
    )
    assert.deepEqual(await storedCounts(bed.store), { jobs: 0, triggers: 0, calendars: 0 })
  },
  'refuses a trigger whose key is taken, and does not leave its job behind': async (bed) => {
    await bed.schedule('taken', { description: 'first' })
    const fresh = jobDetail('fresh')
    const triggers = [bed.trigger('new', { job: fresh }), bed.trigger('taken', { job: fresh })]
    await refuses(bed.store.scheduleJobs([{ job: fresh, triggers }], noReplace), 'ERR_OBJECT_ALREADY_EXISTS')
    assert.deepEqual(await jobNames(bed), ['DEFAULT.job'])
    assert.deepEqual(await triggerNames(bed), ['DEFAULT.taken'])
    assert.equal((await bed.stored('taken')).description, 'first')
  },
  'refuses a job whose key is taken, and does not store its triggers': async (bed) => {
    await bed.store.addJob(bed.job, noReplace)
    await refuses(
      bed.store.scheduleJobs([{ job: bed.job, triggers: [bed.trigger('t')] }], noReplace),
      'ERR_OBJECT_ALREADY_EXISTS',
    )
    assert.deepEqual(await triggerNames(bed), [])
  },
  'refuses a call that names one trigger twice': async (bed) => {
    await refuses(
      bed.store.scheduleJobs([{ job: bed.job, triggers: [bed.trigger('t'), bed.trigger('t')] }], noReplace),
      'ERR_OBJECT_ALREADY_EXISTS',
    )
    assert.deepEqual(await storedCounts(bed.store), { jobs: 0, triggers: 0, calendars: 0 })
  },
  'refuses an unknown job also when told to replace': async (bed) => {
    const orphan = bed.trigger('orphan', { job: jobDetail('missing') })
    await refuses(
      bed.store.scheduleJobs([{ job: null, triggers: [orphan] }], { replace: true }),
      'ERR_JOB_NOT_FOUND',
    )
  },
  'replaces jobs and triggers when told to': async (bed) => {
    await bed.schedule('t', { inMs: 5000, description: 'first' })
    const job = { ...bed.job, description: 'new' }
    const trigger = bed.trigger('t', { description: 'second' })
    await bed.store.scheduleJobs([{ job, triggers: [trigger] }], { replace: true })
    assert.deepEqual(await bed.store.getJob(job.key), job)
    assert.deepEqual(await bed.store.getTriggersOfJob(job.key), [trigger])
    assert.deepEqual(await bed.acquireNames(), ['t'])
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: bed.now() + 10_000 }), [])
  },
  'lets a trigger change its job by replacement, and deletes a job that this leaves alone': async (bed) => {
    const former = jobDetail('former')
    await bed.schedule('t', { job: former })
    const trigger = bed.trigger('t')
    await bed.store.scheduleJobs([{ job: bed.job, triggers: [trigger] }], { replace: true })
    assert.deepEqual(await jobNames(bed), ['DEFAULT.job'])
    assert.deepEqual(await bed.store.getTriggersOfJob(bed.job.key), [trigger])
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.former'])
  },
})

const rescheduling = area('triggers: rescheduling', {
  'is false for a trigger that does not exist, and stores nothing': async (bed) => {
    await bed.store.addJob(bed.job, noReplace)
    assert.equal(await bed.store.rescheduleTrigger(new TriggerKey('missing'), bed.trigger('t')), false)
    assert.deepEqual(await triggerNames(bed), [])
  },
  'replaces a trigger, announces its time, and keeps a job that is not durable': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.schedule('t', { job, inMs: 5000 })
    bed.signals.clear()
    const trigger = bed.trigger('t', { job, inMs: 1000 })
    assert.equal(await bed.store.rescheduleTrigger(trigger.key, trigger), true)
    assert.deepEqual(await bed.store.getTriggersOfJob(job.key), [trigger])
    assert.deepEqual(bed.signals.deletedJobs, [])
    assert.ok(bed.signals.announced(trigger.startTimeMs))
  },
  'replaces a trigger by one of another key': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.schedule('old', { job })
    const trigger = bed.trigger('new', { job, group: 'other' })
    assert.equal(await bed.store.rescheduleTrigger(new TriggerKey('old'), trigger), true)
    assert.deepEqual(await triggerNames(bed), ['other.new'])
    assert.notEqual(await bed.store.getJob(job.key), null)
  },
  'refuses the key of a third trigger, and changes nothing': async (bed) => {
    const old = await bed.schedule('old')
    await bed.schedule('third')
    await refuses(
      bed.store.rescheduleTrigger(old.key, bed.trigger('third', { inMs: 1 })),
      'ERR_OBJECT_ALREADY_EXISTS',
    )
    assert.deepEqual(await triggerNames(bed), ['DEFAULT.old', 'DEFAULT.third'])
    assert.deepEqual(await bed.stored('old'), old)
  },
  'refuses a trigger of another job, and changes nothing': async (bed) => {
    const other = jobDetail('other')
    await bed.store.addJob(other, noReplace)
    const old = await bed.schedule('t')
    await refuses(
      bed.store.rescheduleTrigger(old.key, bed.trigger('t', { job: other })),
      'ERR_JOB_KEY_MISMATCH',
    )
    assert.deepEqual(await bed.stored('t'), old)
  },
  'starts a paused trigger anew': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.store.pauseTrigger(trigger.key)
    await bed.store.rescheduleTrigger(trigger.key, bed.trigger('t'))
    assert.equal(await bed.state('t'), 'NORMAL')
  },
  'leaves a trigger paused whose group is paused': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('DEFAULT'))
    await bed.store.rescheduleTrigger(trigger.key, bed.trigger('t'))
    assert.equal(await bed.state('t'), 'PAUSED')
  },
  'starts a trigger anew that was in error or complete': async (bed) => {
    await bed.schedule('error', { everyMs: 1000 })
    await bed.putInError('error')
    await bed.schedule('complete')
    await bed.complete(await bed.start('complete'))
    for (const name of ['error', 'complete']) {
      await bed.store.rescheduleTrigger(new TriggerKey(name), bed.trigger(name, { inMs: 1000 }))
    }
    assert.deepEqual(await bed.states('error', 'complete'), ['NORMAL', 'NORMAL'])
    await bed.clock.advance(1000)
    assert.deepEqual(await bed.acquireNames(), ['complete', 'error'])
  },
  'in the place of a trigger keeps its pause, with what is known of it': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    await bed.store.pauseTrigger(key, { reason: 'broken', by: 'ann', untilMs: null })
    const trigger = bed.trigger('t', { everyMs: 2000 })
    assert.equal(await bed.store.rescheduleTrigger(key, trigger, { goesOnFrom: 'due' }), true)
    assert.equal(await bed.state('t'), 'PAUSED')
    assert.equal((await bed.store.queryTriggers({ take: 10 })).items[0]?.pause?.reason, 'broken')
  },
  'in the place of a trigger keeps what was due, and its last fire': async (bed) => {
    const before = await bed.schedule('t', { everyMs: 1000 })
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(1500)
    const trigger = bed.trigger('t', { inMs: 5000, everyMs: 7000 })
    assert.equal(await bed.store.rescheduleTrigger(before.key, trigger, { goesOnFrom: 'due' }), true)
    const { previousFireTimeMs, nextFireTimeMs } = await bed.stored('t')
    assert.equal(previousFireTimeMs, before.startTimeMs)
    assert.equal(nextFireTimeMs, before.startTimeMs + 1000)
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'in the place of a trigger that fires once does not fire again while its run goes on': async (bed) => {
    const { key, startTimeMs, nextFireTimeMs } = await bed.schedule('t')
    const bundle = await bed.start('t')
    const renamed = (): Trigger => bed.trigger('t', { inMs: startTimeMs - bed.now(), priority: 6 })
    const refused = bed.store.rescheduleTrigger(key, renamed(), { goesOnFrom: 'due' })
    await refuses(refused, 'ERR_TRIGGER_NEVER_FIRES')
    await bed.clock.advance(5000)
    assert.deepEqual(await bed.acquireNames(), [])
    const repeated = bed.trigger('t', { inMs: startTimeMs - bed.now(), everyMs: 60_000 })
    assert.equal(await bed.store.rescheduleTrigger(key, repeated, { goesOnFrom: 'due' }), true)
    assert.equal((await bed.stored('t')).nextFireTimeMs, (nextFireTimeMs ?? Number.NaN) + 60_000)
    await bed.complete(bundle)
  },
  'in the place of a trigger that fires once does not bring back the fire that was left out': async (bed) => {
    const { key, startTimeMs } = await bed.schedule('t')
    await bed.store.skipNextFire(key, null)
    const renamed = bed.trigger('t', { inMs: startTimeMs - bed.now(), priority: 6 })
    await refuses(bed.store.rescheduleTrigger(key, renamed, { goesOnFrom: 'due' }), 'ERR_TRIGGER_NEVER_FIRES')
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'in the place of a trigger that its job ended goes on with its next time after now': async (bed) => {
    for (const goesOnFrom of ['due', 'lastFire'] as const) {
      const { key, startTimeMs } = await bed.schedule(goesOnFrom, { everyMs: 60_000 })
      await bed.complete(await bed.start(goesOnFrom), 'setTriggerComplete')
      await bed.clock.advance(150_000)
      const spec = { inMs: startTimeMs - bed.now(), everyMs: 60_000, priority: 6 }
      assert.equal(
        await bed.store.rescheduleTrigger(key, bed.trigger(goesOnFrom, spec), { goesOnFrom }),
        true,
      )
      const { previousFireTimeMs, nextFireTimeMs } = await bed.stored(goesOnFrom)
      assert.deepEqual([previousFireTimeMs, nextFireTimeMs], [startTimeMs, startTimeMs + 180_000])
      assert.equal(await bed.state(goesOnFrom), 'NORMAL')
      assert.deepEqual(await bed.acquireNames(), [])
    }
  },
  'in the place of a trigger that ended before it fired makes up for nothing': async (bed) => {
    const startMs = bed.now()
    await bed.schedule('ends')
    const specs = {
      every: { inMs: 60_000, everyMs: 60_000 },
      passed: { inMs: 60_000 },
      ahead: { inMs: 300_000 },
    }
    for (const [name, spec] of Object.entries(specs)) await bed.schedule(name, spec)
    await bed.complete(await bed.start('ends'), 'setAllJobTriggersComplete')
    await bed.clock.advance(150_000)
    const edit = (name: keyof typeof specs): Promise<boolean> => {
      const spec = { ...specs[name], inMs: specs[name].inMs - 150_000, priority: 6 }
      return bed.store.rescheduleTrigger(new TriggerKey(name), bed.trigger(name, spec), { goesOnFrom: 'due' })
    }
    assert.deepEqual([await edit('every'), await edit('ahead')], [true, true])
    await refuses(edit('passed'), 'ERR_TRIGGER_NEVER_FIRES')
    assert.deepEqual(await bed.states('every', 'ahead', 'passed'), ['NORMAL', 'NORMAL', 'COMPLETE'])
    assert.equal((await bed.stored('every')).nextFireTimeMs, startMs + 180_000)
    assert.equal((await bed.stored('ahead')).nextFireTimeMs, startMs + 300_000)
  },
  'in the place of a trigger counts its intervals from the last fire': async (bed) => {
    const { key, startTimeMs } = await bed.schedule('t', { everyMs: 60_000 })
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(50_000)
    await bed.store.rescheduleTrigger(key, bed.trigger('t', { everyMs: 70_000 }), { goesOnFrom: 'lastFire' })
    assert.equal((await bed.stored('t')).nextFireTimeMs, startTimeMs + 70_000)
  },
  'in the place of a trigger begins at its own start, paused as before': async (bed) => {
    const { key, startTimeMs } = await bed.schedule('t', { everyMs: 1000 })
    await bed.complete(await bed.start('t'))
    await bed.store.pauseTrigger(key)
    await bed.clock.advance(1500)
    const trigger = bed.trigger('t', { inMs: 5000, everyMs: 1000 })
    assert.equal(await bed.store.rescheduleTrigger(key, trigger, { goesOnFrom: 'start' }), true)
    const { previousFireTimeMs, nextFireTimeMs } = await bed.stored('t')
    assert.deepEqual([previousFireTimeMs, nextFireTimeMs], [startTimeMs, startTimeMs + 6500])
    assert.equal(await bed.state('t'), 'PAUSED')
  },
  'in the place of a cron trigger does not fire the second of its start again': async (bed) => {
    await bed.clock.advance(1000 - (bed.now() % 1000))
    const everySecond = (): Trigger => {
      const cron = CronScheduleBuilder.cronSchedule('* * * * * ?')
      return bed.trigger('t').getTriggerBuilder().withSchedule(cron).build().computeFirstFireTime(null)
    }
    const before = everySecond()
    await bed.scheduleAll([before])
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(450)
    await bed.store.rescheduleTrigger(before.key, everySecond(), { goesOnFrom: 'start' })
    const { previousFireTimeMs, nextFireTimeMs } = await bed.stored('t')
    assert.deepEqual([previousFireTimeMs, nextFireTimeMs], [before.startTimeMs, before.startTimeMs + 1000])
  },
  'in the place of a trigger fires its own number of times from its own start': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    for (let run = 1; run <= 3; run++) {
      await bed.complete(await bed.start('t'))
      await bed.clock.advance(1000)
    }
    const trigger = bed.trigger('t', { inMs: 5000, everyMs: 1000, times: 2 })
    await bed.store.rescheduleTrigger(key, trigger, { goesOnFrom: 'start' })
    await bed.clock.advance(5000)
    await bed.complete(await bed.start('t'))
    assert.equal((await bed.stored('t')).nextFireTimeMs, trigger.startTimeMs + 1000)
    await bed.clock.advance(1000)
    await bed.complete(await bed.start('t'))
    assert.equal((await bed.stored('t')).nextFireTimeMs, null)
  },
  'in the place of a trigger is refused when no fire is left before its end': async (bed) => {
    const { key, startTimeMs } = await bed.schedule('t', { everyMs: 60_000 })
    await bed.complete(await bed.start('t'))
    await bed.clock.advance(20_000)
    const ended = bed.trigger('t', { everyMs: 60_000, endsInMs: 30_000 })
    await refuses(
      bed.store.rescheduleTrigger(key, ended, { goesOnFrom: 'lastFire' }),
      'ERR_TRIGGER_NEVER_FIRES',
    )
    assert.equal((await bed.stored('t')).nextFireTimeMs, startTimeMs + 60_000)
  },
  'is refused when the stored trigger is not the expected one': async (bed) => {
    const { key } = await bed.schedule('t', { inMs: 1000, everyMs: 1000 })
    const expected = await bed.stored('t')
    const next = bed.trigger('t', { inMs: 5000, everyMs: 2000 })
    await bed.clock.advance(1000)
    await bed.complete(await bed.start('t'))
    assert.equal(await bed.store.rescheduleTrigger(key, next, { goesOnFrom: 'start', expected }), true)
    for (const goesOnFrom of ['start', 'due', 'lastFire', undefined] as const) {
      const options = { ...(goesOnFrom !== undefined && { goesOnFrom }), expected }
      await refuses(bed.store.rescheduleTrigger(key, expected, options), 'ERR_CHANGED_MEANWHILE')
    }
    assert.equal((await bed.stored('t')).nextFireTimeMs, next.nextFireTimeMs)
    const missing = bed.trigger('missing', { everyMs: 1000 })
    assert.equal(await bed.store.rescheduleTrigger(missing.key, missing, { expected: missing }), false)
  },
  'is deleted only as it was read, where one is expected': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    const expected = await bed.stored('t')
    await bed.complete(await bed.start('t'))
    const next = bed.trigger('t', { inMs: 5000, everyMs: 2000 })
    await bed.store.rescheduleTrigger(key, next)
    await refuses(bed.store.deleteTriggers([key], { expected }), 'ERR_CHANGED_MEANWHILE')
    assert.notEqual(await bed.state('t'), 'NONE')
    assert.deepEqual(await bed.store.deleteTriggers([key], { expected: next }), [key])
    assert.deepEqual(await bed.store.deleteTriggers([key], { expected: next }), [])
  },
  'does not count a job as new': async (bed) => {
    await bed.schedule('t')
    await bed.store.rescheduleTrigger(new TriggerKey('t'), bed.trigger('t', { inMs: 1 }))
    assert.deepEqual(await bed.store.getJob(new JobKey('job')), bed.job)
    assert.deepEqual(await storedCounts(bed.store), { jobs: 1, triggers: 1, calendars: 0 })
  },
})

export const triggerCases: readonly StoreCase[] = [...storing, ...refusing, ...rescheduling]
