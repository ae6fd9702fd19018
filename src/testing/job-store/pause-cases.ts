import assert from 'node:assert/strict'
import { TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { area, type StoreCase } from './store-case.ts'
import { pausedJobGroups, pausedTriggerGroups } from './stored.ts'
import { jobDetail, only, type Testbed } from './testbed.ts'

const groups = ['aa', 'ab', 'bb', 'ba']

/** One trigger called `t` in each of four groups. */
async function scheduleGroups(bed: Testbed): Promise<void> {
  for (const group of groups) await bed.schedule('t', { group })
}

/** One job called `j` in each of four groups, each with a trigger named after its group. */
async function scheduleJobGroups(bed: Testbed): Promise<void> {
  for (const group of groups) await bed.schedule(group, { job: jobDetail('j', { group }) })
}

async function pausedOf(states: (group: string) => Promise<string>): Promise<string[]> {
  const paused: string[] = []
  for (const group of groups) if ((await states(group)) === 'PAUSED') paused.push(group)
  return paused
}

const operators: readonly { readonly matcher: GroupMatcher; readonly matched: string[] }[] = [
  { matcher: GroupMatcher.groupEquals('ab'), matched: ['ab'] },
  { matcher: GroupMatcher.groupStartsWith('a'), matched: ['aa', 'ab'] },
  { matcher: GroupMatcher.groupEndsWith('a'), matched: ['aa', 'ba'] },
  { matcher: GroupMatcher.groupContains('b'), matched: ['ab', 'ba', 'bb'] },
  { matcher: GroupMatcher.anyGroup(), matched: ['aa', 'ab', 'ba', 'bb'] },
]

const single = area('pause: one', {
  'takes a trigger out of service until it is resumed': async (bed) => {
    const { key } = await bed.schedule('t')
    assert.equal(await bed.store.pauseTrigger(key), true)
    assert.equal(await bed.state('t'), 'PAUSED')
    assert.deepEqual(await bed.acquireNames(), [])
    assert.equal(await bed.store.resumeTrigger(key), true)
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'may be said twice': async (bed) => {
    const { key } = await bed.schedule('t')
    await bed.store.pauseTrigger(key)
    assert.equal(await bed.store.pauseTrigger(key), true)
    await bed.store.resumeTrigger(key)
    assert.equal(await bed.store.resumeTrigger(key), true)
    assert.equal(await bed.state('t'), 'NORMAL')
  },
  'leaves the other triggers of the group and of the job alone': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b')])
    await bed.store.pauseTrigger(new TriggerKey('a'))
    assert.deepEqual(await bed.states('a', 'b'), ['PAUSED', 'NORMAL'])
    assert.deepEqual(await pausedTriggerGroups(bed.store), [])
  },
  'of a job takes out all triggers that it has, and none that it gets later': async (bed) => {
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b')])
    await bed.schedule('other', { job: jobDetail('other') })
    assert.equal(await bed.store.pauseJob(bed.job.key), true)
    await bed.schedule('later')
    assert.deepEqual(await bed.states('a', 'b', 'other', 'later'), ['PAUSED', 'PAUSED', 'NORMAL', 'NORMAL'])
    assert.equal(await bed.store.resumeJob(bed.job.key), true)
    assert.deepEqual(await bed.states('a', 'b'), ['NORMAL', 'NORMAL'])
  },
  'leaves complete triggers and triggers in error as they are': async (bed) => {
    await bed.schedule('error', { everyMs: 1000 })
    await bed.putInError('error')
    await bed.schedule('complete')
    await bed.complete(await bed.start('complete'))
    await bed.store.pauseAll()
    assert.deepEqual(await bed.states('error', 'complete'), ['ERROR', 'COMPLETE'])
    await bed.store.resumeAll()
    assert.deepEqual(await bed.states('error', 'complete'), ['ERROR', 'COMPLETE'])
  },
  'ends the claim on a trigger': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const claim = await bed.acquireOne('t')
    await bed.store.pauseTrigger(claim.trigger.key)
    assert.equal(await bed.fireKind(claim), 'gone')
    assert.equal(await bed.state('t'), 'PAUSED')
    await bed.store.releaseAcquiredTriggers([claim])
    assert.equal(await bed.state('t'), 'PAUSED')
  },
  'does not stop an execution, whose trigger stays paused when it ends': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const bundle = await bed.start('t')
    await bed.store.pauseTrigger(bundle.trigger.key)
    await bed.complete(bundle)
    assert.equal(await bed.state('t'), 'PAUSED')
  },
  'announces a resumed trigger': async (bed) => {
    const trigger = await bed.schedule('t', { inMs: 5000 })
    await bed.store.pauseTrigger(trigger.key)
    bed.signals.clear()
    await bed.store.resumeTrigger(trigger.key)
    assert.ok(bed.signals.announced(trigger.startTimeMs))
  },
})

const triggerGroups = area('pause: trigger groups', {
  'pauses the groups that a matcher of any operator matches, and answers and remembers them': async (bed) => {
    await scheduleGroups(bed)
    for (const { matcher, matched } of operators) {
      assert.deepEqual([...(await bed.store.pauseTriggers(matcher))].sort(), matched)
      assert.deepEqual([...(await pausedTriggerGroups(bed.store))].sort(), matched)
      assert.deepEqual((await pausedOf((group) => bed.state('t', group))).sort(), matched)
      assert.deepEqual([...(await bed.store.resumeTriggers(matcher))].sort(), matched)
      assert.deepEqual(await pausedTriggerGroups(bed.store), [])
      assert.deepEqual(await pausedOf((group) => bed.state('t', group)), [])
    }
  },
  'starts triggers paused that are stored later in a paused group': async (bed) => {
    await bed.schedule('first', { group: 'g' })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('g'))
    await bed.schedule('later', { group: 'g' })
    await bed.schedule('else')
    assert.equal(await bed.state('later', 'g'), 'PAUSED')
    assert.deepEqual(await bed.acquireNames(), ['else'])
  },
  'remembers a group that is named exactly also while it is empty': async (bed) => {
    assert.deepEqual(await bed.store.pauseTriggers(GroupMatcher.groupEquals('empty')), ['empty'])
    assert.deepEqual(await pausedTriggerGroups(bed.store), ['empty'])
    await bed.schedule('t', { group: 'empty' })
    assert.equal(await bed.state('t', 'empty'), 'PAUSED')
  },
  'remembers a group when its last trigger goes': async (bed) => {
    const { key } = await bed.schedule('t', { group: 'g' })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('g'))
    await bed.store.deleteTriggers([key])
    assert.deepEqual(await pausedTriggerGroups(bed.store), ['g'])
    await bed.schedule('t', { group: 'g' })
    assert.equal(await bed.state('t', 'g'), 'PAUSED')
  },
  'does not remember a prefix, so that groups that come later run': async (bed) => {
    await bed.schedule('t', { group: 'aa' })
    await bed.store.pauseTriggers(GroupMatcher.groupStartsWith('a'))
    await bed.schedule('t', { group: 'ab' })
    assert.equal(await bed.state('t', 'ab'), 'NORMAL')
  },
  'pauses a remembered group again, with triggers that were resumed alone': async (bed) => {
    const { key } = await bed.schedule('t', { group: 'g' })
    const matcher = GroupMatcher.groupEquals('g')
    await bed.store.pauseTriggers(matcher)
    await bed.store.resumeTrigger(key)
    assert.equal(await bed.state('t', 'g'), 'NORMAL')
    assert.deepEqual(await pausedTriggerGroups(bed.store), ['g'], 'the group stays remembered')
    assert.deepEqual(await bed.store.pauseTriggers(matcher), ['g'])
    assert.equal(await bed.state('t', 'g'), 'PAUSED')
  },
  'forgets a resumed group also when it is empty': async (bed) => {
    const matcher = GroupMatcher.groupEquals('empty')
    await bed.store.pauseTriggers(matcher)
    await bed.store.resumeTriggers(matcher)
    assert.deepEqual(await pausedTriggerGroups(bed.store), [])
    await bed.schedule('t', { group: 'empty' })
    assert.equal(await bed.state('t', 'empty'), 'NORMAL')
  },
  'resumes triggers of the group that were paused alone': async (bed) => {
    const { key } = await bed.schedule('t', { group: 'g' })
    await bed.store.pauseTrigger(key)
    await bed.store.resumeTriggers(GroupMatcher.groupEquals('g'))
    assert.equal(await bed.state('t', 'g'), 'NORMAL')
  },
  'leaves triggers paused whose job group is paused': async (bed) => {
    await bed.schedule('t', { group: 'g', job: jobDetail('j', { group: 'jobs' }) })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('g'))
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    await bed.store.resumeTriggers(GroupMatcher.groupEquals('g'))
    assert.equal(await bed.state('t', 'g'), 'PAUSED')
    await bed.store.resumeJobs(GroupMatcher.groupEquals('jobs'))
    assert.equal(await bed.state('t', 'g'), 'NORMAL')
  },
  'takes the wildcards of databases as letters': async (bed) => {
    for (const group of ['a_b', 'axb']) await bed.schedule('t', { group })
    assert.deepEqual(await bed.store.pauseTriggers(GroupMatcher.groupStartsWith('a_')), ['a_b'])
    assert.equal(await bed.state('t', 'axb'), 'NORMAL')
  },
})

const jobGroups = area('pause: job groups', {
  'pauses the groups that a matcher of any operator matches, and answers and remembers them': async (bed) => {
    await scheduleJobGroups(bed)
    for (const { matcher, matched } of operators) {
      assert.deepEqual([...(await bed.store.pauseJobs(matcher))].sort(), matched)
      assert.deepEqual([...(await pausedJobGroups(bed.store))].sort(), matched)
      assert.deepEqual((await pausedOf((group) => bed.state(group))).sort(), matched)
      assert.deepEqual([...(await bed.store.resumeJobs(matcher))].sort(), matched)
      assert.deepEqual(await pausedJobGroups(bed.store), [])
      assert.deepEqual(await pausedOf((group) => bed.state(group)), [])
    }
    assert.deepEqual(await pausedTriggerGroups(bed.store), [])
  },
  'starts triggers paused that are stored later for a job of the group': async (bed) => {
    const job = jobDetail('j', { group: 'jobs' })
    await bed.schedule('first', { job })
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    await bed.schedule('second', { job })
    await bed.schedule('third', { job: jobDetail('k', { group: 'jobs' }) })
    assert.deepEqual(await bed.states('first', 'second', 'third'), ['PAUSED', 'PAUSED', 'PAUSED'])
  },
  'remembers a group that is named exactly also while it is empty': async (bed) => {
    assert.deepEqual(await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs')), ['jobs'])
    await bed.schedule('t', { job: jobDetail('j', { group: 'jobs' }) })
    assert.equal(await bed.state('t'), 'PAUSED')
  },
  'leaves triggers paused whose own group is paused': async (bed) => {
    await bed.schedule('t', { group: 'g', job: jobDetail('j', { group: 'jobs' }) })
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('g'))
    await bed.store.resumeJobs(GroupMatcher.groupEquals('jobs'))
    assert.equal(await bed.state('t', 'g'), 'PAUSED')
  },
  'gives way to the resume of one trigger, and stays remembered': async (bed) => {
    const job = jobDetail('j', { group: 'jobs' })
    const { key } = await bed.schedule('t', { job })
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    assert.equal(await bed.store.resumeTrigger(key), true)
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.deepEqual(await pausedJobGroups(bed.store), ['jobs'])
    await bed.schedule('later', { job })
    assert.equal(await bed.state('later'), 'PAUSED')
  },
  'gives way to the resume of one job, and stays remembered': async (bed) => {
    const job = jobDetail('j', { group: 'jobs' })
    await bed.schedule('t', { job, group: 'g' })
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('g'))
    assert.equal(await bed.store.resumeJob(job.key), true)
    assert.equal(await bed.state('t', 'g'), 'NORMAL')
    assert.deepEqual(await pausedJobGroups(bed.store), ['jobs'])
    assert.deepEqual(await pausedTriggerGroups(bed.store), ['g'])
  },
  'pauses a retry trigger of a job of the group': async (bed) => {
    const job = jobDetail('j', { group: 'jobs' })
    await bed.schedule('t', { job, everyMs: 1000 })
    const bundle = await bed.start('t')
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    await bed.complete(bundle, 'noop', { retryTrigger: bed.trigger('retry', { job, inMs: 10 }) })
    assert.equal(await bed.state('retry'), 'PAUSED')
  },
})

const everything = area('pause: everything', {
  'pauses every trigger and remembers every group': async (bed) => {
    await scheduleGroups(bed)
    await bed.store.pauseAll()
    assert.deepEqual((await pausedOf((group) => bed.state('t', group))).sort(), ['aa', 'ab', 'ba', 'bb'])
    assert.deepEqual([...(await pausedTriggerGroups(bed.store))].sort(), ['aa', 'ab', 'ba', 'bb'])
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'pauses groups that come later too': async (bed) => {
    await bed.schedule('t', { group: 'old' })
    await bed.store.pauseAll()
    await bed.schedule('t', { group: 'new' })
    await bed.schedule('u', { group: 'new' })
    assert.deepEqual([await bed.state('t', 'new'), await bed.state('u', 'new')], ['PAUSED', 'PAUSED'])
    assert.deepEqual([...(await pausedTriggerGroups(bed.store))].sort(), ['new', 'old'])
  },
  'forgets a group that is resumed by name, also for its later triggers': async (bed) => {
    await bed.schedule('t', { group: 'a' })
    await bed.schedule('t', { group: 'b' })
    await bed.store.pauseAll()
    await bed.store.resumeTriggers(GroupMatcher.groupEquals('a'))
    await bed.schedule('u', { group: 'a' })
    assert.deepEqual([await bed.state('t', 'a'), await bed.state('u', 'a')], ['NORMAL', 'NORMAL'])
    assert.equal(await bed.state('t', 'b'), 'PAUSED')
    assert.equal(
      await bed.store.rescheduleTrigger(new TriggerKey('t', 'a'), bed.trigger('t', { group: 'a' })),
      true,
    )
    assert.equal(await bed.state('t', 'a'), 'NORMAL')
  },
  'ends for groups that come later when all groups are resumed': async (bed) => {
    await bed.store.pauseAll()
    await bed.store.resumeTriggers(GroupMatcher.anyGroup())
    await bed.schedule('t', { group: 'new' })
    assert.equal(await bed.state('t', 'new'), 'NORMAL')
  },
  'ends with resumeAll, which forgets every group, empty ones and job groups too': async (bed) => {
    await bed.schedule('t', { job: jobDetail('j', { group: 'jobs' }) })
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('empty'))
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    await bed.store.pauseAll()
    await bed.store.resumeAll()
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.deepEqual(await pausedTriggerGroups(bed.store), [])
    assert.deepEqual(await pausedJobGroups(bed.store), [])
    await bed.schedule('u', { group: 'empty', job: jobDetail('k', { group: 'jobs' }) })
    assert.equal(await bed.state('u', 'empty'), 'NORMAL')
  },
  'announces what resumeAll makes available': async (bed) => {
    const trigger = await bed.schedule('t', { inMs: 5000 })
    await bed.store.pauseAll()
    bed.signals.clear()
    await bed.store.resumeAll()
    assert.ok(bed.signals.announced(trigger.startTimeMs))
  },
})

const states = area('states', {
  'puts a trigger in error back to work when it is reset, and announces it': async (bed) => {
    const { key } = await bed.schedule('t', { everyMs: 1000 })
    await bed.putInError('t')
    bed.signals.clear()
    assert.equal(await bed.store.resetTriggerFromErrorState(key), true)
    assert.equal(await bed.state('t'), 'NORMAL')
    assert.ok(bed.signals.announced(bed.now() + 1000))
    await bed.clock.advance(1000)
    assert.deepEqual(await bed.acquireNames(), ['t'])
  },
  'resets nothing that is not in error': async (bed) => {
    await bed.scheduleAll([bed.trigger('normal', { inMs: 1000 }), bed.trigger('paused', { inMs: 1000 })])
    await bed.store.pauseTrigger(new TriggerKey('paused'))
    await bed.schedule('complete')
    await bed.complete(await bed.start('complete'))
    for (const name of ['normal', 'paused', 'complete', 'missing']) {
      assert.equal(await bed.store.resetTriggerFromErrorState(new TriggerKey(name)), false)
    }
    assert.deepEqual(await bed.states('normal', 'paused', 'complete'), ['NORMAL', 'PAUSED', 'COMPLETE'])
  },
  'resets into PAUSED when the trigger group or the job group is paused': async (bed) => {
    const job = jobDetail('j', { group: 'jobs' })
    for (const name of ['a', 'b']) {
      await bed.schedule(name, { group: name, job, everyMs: 1000 })
      await bed.complete(await bed.start(name), 'setTriggerError')
    }
    await bed.store.pauseTriggers(GroupMatcher.groupEquals('a'))
    await bed.store.resetTriggerFromErrorState(new TriggerKey('a', 'a'))
    assert.equal(await bed.state('a', 'a'), 'PAUSED')
    await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
    await bed.store.resetTriggerFromErrorState(new TriggerKey('b', 'b'))
    assert.equal(await bed.state('b', 'b'), 'PAUSED')
  },
  'resets into BLOCKED while the job forbids concurrent execution and runs': async (bed) => {
    const job = jobDetail('j', { disallowConcurrentExecution: true })
    await bed.schedule('a', { job, everyMs: 1000 })
    await bed.putInError('a')
    await bed.schedule('b', { job })
    const bundle = await bed.start('b')
    await bed.store.resetTriggerFromErrorState(new TriggerKey('a'))
    assert.equal(await bed.state('a'), 'BLOCKED')
    await bed.complete(bundle)
    assert.equal(await bed.state('a'), 'NORMAL')
  },
  'resets a trigger that has no fire time left to COMPLETE': async (bed) => {
    const { key } = await bed.schedule('t')
    await bed.putInError('t')
    assert.equal(await bed.store.resetTriggerFromErrorState(key), true)
    assert.equal(await bed.state('t'), 'COMPLETE')
    assert.deepEqual(await bed.acquireNames(), [])
  },
  'reports a trigger that is claimed or running as NORMAL': async (bed) => {
    await bed.schedule('t', { everyMs: 1000 })
    const claim = await bed.acquireOne('t')
    assert.equal(await bed.state('t'), 'NORMAL')
    await bed.fire(claim)
    assert.equal(await bed.state('t'), 'NORMAL')
  },
  'does not let a claim survive the end of its trigger': async (bed) => {
    await bed.scheduleAll([bed.trigger('a', { everyMs: 1000 }), bed.trigger('b', { everyMs: 1000 })])
    const bundle = await bed.start('a')
    const claim = only(await bed.acquire())
    await bed.complete(bundle, 'setAllJobTriggersComplete')
    assert.equal(await bed.fireKind(claim), 'gone')
    await bed.store.releaseAcquiredTriggers([claim])
    assert.equal(await bed.state('b'), 'COMPLETE')
  },
})

export const pauseCases: readonly StoreCase[] = [
  ...single,
  ...triggerGroups,
  ...jobGroups,
  ...everything,
  ...states,
]
