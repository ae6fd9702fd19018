import assert from 'node:assert/strict'
import { copyJobData } from '../../core/job-data-map.ts'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import { area, type StoreCase } from './store-case.ts'
import { storedCounts } from './stored.ts'
import { jobDetail, refuses, type Testbed, textsOf } from './testbed.ts'

const strangeNames = [
  'a_b',
  'a%b',
  "O'Brien",
  'a"b',
  'back\\slash',
  'Été',
  'été',
  '日本',
  'semi;colon --',
  'a.b',
  ' x ',
]

async function addGroups(bed: Testbed): Promise<void> {
  const keys = [
    ['one', 'aaabbbccc'],
    ['two', 'xxxyyyzzz'],
    ['three', 'xxxyyyzzz'],
  ] as const
  for (const [name, group] of keys) await bed.store.addJob(jobDetail(name, { group }), { replace: false })
}

export const jobCases: readonly StoreCase[] = area('jobs', {
  'gives a job back as it was stored': async ({ store }) => {
    const job = jobDetail('full', {
      group: 'reports',
      jobType: 'report',
      description: 'Sends the daily report',
      jobDataMap: { to: 'ops@example.com', retries: 3, nested: { list: [1, null, true, 'x'], empty: {} } },
      durable: true,
      requestsRecovery: true,
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
      timeoutMs: 90_000,
      retry: {
        attempts: 4,
        backoff: { type: 'exponential', initialMs: 500, factor: 2, maxMs: 60_000, jitter: 0.25 },
      },
    })
    await store.addJob(job, { replace: false })
    assert.deepEqual(await store.getJob(new JobKey('full', 'reports')), job)
  },
  'gives the data of jobs and triggers frozen, as they were given': async (bed) => {
    const data = copyJobData('a test', { nested: { list: [{ n: 1 }] } })
    const { key } = await bed.schedule('t', { job: jobDetail('j', { jobDataMap: data }), data })
    const { jobDetail: fired, trigger } = await bed.start('t')
    for (const each of [await bed.store.getJob(fired.key), await bed.store.getTrigger(key), fired, trigger]) {
      assert.ok(each !== null)
      const nested = each.jobDataMap['nested'] as { readonly list: readonly object[] }
      const parts = [each.jobDataMap, nested, nested.list, nested.list[0]]
      assert.ok(parts.every((part) => Object.isFrozen(part)))
    }
  },
  'gives a zero in data without a sign': async (bed) => {
    const data = copyJobData('a test', { zero: -0, list: [-0], nested: { zero: -0 } })
    const { key } = await bed.schedule('t', { job: jobDetail('j', { jobDataMap: data }), data })
    const { jobDetail: fired, trigger } = await bed.start('t')
    for (const each of [await bed.store.getJob(fired.key), await bed.store.getTrigger(key), fired, trigger]) {
      assert.deepEqual(each?.jobDataMap, { zero: 0, list: [0], nested: { zero: 0 } })
    }
  },
  'keeps two jobs of one name in different groups apart': async ({ store }) => {
    await store.addJob(jobDetail('twin', { description: 'first' }), { replace: false })
    await store.addJob(jobDetail('twin', { group: 'other', description: 'second' }), { replace: false })
    assert.equal((await store.getJob(new JobKey('twin')))?.description, 'first')
    assert.equal((await store.getJob(new JobKey('twin', 'other')))?.description, 'second')
    assert.equal(await store.getJob(new JobKey('Twin')), null)
  },
  'keeps names with quotes, wildcards, accents and blanks apart': async ({ store }) => {
    for (const name of strangeNames) {
      await store.addJob(jobDetail(name, { group: name, description: name }), { replace: false })
    }
    for (const name of strangeNames) {
      assert.equal((await store.getJob(new JobKey(name, name)))?.description, name)
      assert.deepEqual(await store.getJobKeys(GroupMatcher.groupEquals(name)), [new JobKey(name, name)])
    }
    assert.deepEqual(textsOf(await store.getJobGroupNames()), [...strangeNames].sort())
  },
  'refuses a job whose key is taken, and keeps the first one': async ({ store }) => {
    await store.addJob(jobDetail('job', { description: 'first' }), { replace: false })
    await refuses(
      store.addJob(jobDetail('job', { description: 'second' }), { replace: false }),
      'ERR_OBJECT_ALREADY_EXISTS',
    )
    assert.equal((await store.getJob(new JobKey('job')))?.description, 'first')
  },
  'replaces a job when told to, and leaves its triggers alone': async (bed) => {
    const trigger = await bed.schedule('t', { inMs: 5000 })
    const replaced = { ...bed.job, jobType: 'other', description: 'new' }
    await bed.store.addJob(replaced, { replace: true })
    assert.deepEqual(await bed.store.getJob(bed.job.key), replaced)
    assert.deepEqual(await bed.store.getTriggersOfJob(bed.job.key), [trigger])
    await bed.clock.advance(5000)
    assert.equal((await bed.start('t')).jobDetail.description, 'new')
  },
  'stores a job that does not exist when told to replace': async ({ store }) => {
    await store.addJob(jobDetail('job'), { replace: true })
    assert.notEqual(await store.getJob(new JobKey('job')), null)
  },
  'replaces a job only as it was read, where one is expected': async ({ store }) => {
    const first = jobDetail('job', { jobDataMap: { to: 'a', list: [1, { deep: true }] }, durable: true })
    await refuses(store.addJob(first, { replace: true, expected: first }), 'ERR_CHANGED_MEANWHILE')
    assert.equal(await store.getJob(first.key), null)
    await store.addJob(first, { replace: false })
    const expected = await store.getJob(first.key)
    assert.ok(expected !== null)
    const edits = ['one', 'two', 'three'].map((description) =>
      store.addJob({ ...first, description }, { replace: true, expected }),
    )
    const outcomes = await Promise.allSettled(edits)
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    const stored = await store.getJob(first.key)
    assert.ok(stored !== null)
    const changed = { ...first, jobDataMap: { to: 'b' } }
    await refuses(store.addJob(changed, { replace: true, expected }), 'ERR_CHANGED_MEANWHILE')
    assert.deepEqual(await store.getJob(first.key), stored)
    await store.addJob(changed, { replace: true, expected: stored })
    assert.deepEqual(await store.getJob(first.key), changed)
  },
  'deletes a job only as it was read, where one is expected': async (bed) => {
    const { store } = bed
    await bed.schedule('t', { inMs: 5000 })
    const expected = bed.job
    const changed = { ...bed.job, jobDataMap: { changed: true } }
    await store.addJob(changed, { replace: true })
    await refuses(store.deleteJobs([expected.key], { expected }), 'ERR_CHANGED_MEANWHILE')
    assert.deepEqual(await storedCounts(store), { jobs: 1, triggers: 1, calendars: 0 })
    assert.deepEqual(await store.deleteJobs([changed.key], { expected: changed }), [changed.key])
    assert.deepEqual(await store.deleteJobs([changed.key], { expected: changed }), [])
  },
  'deletes jobs with their triggers, and answers those that existed': async (bed) => {
    const { store } = bed
    await bed.scheduleAll([bed.trigger('a'), bed.trigger('b')])
    const other = jobDetail('other')
    await bed.schedule('c', { job: other })
    const deleted = await store.deleteJobs([bed.job.key, new JobKey('missing')])
    assert.deepEqual(deleted, [bed.job.key])
    assert.deepEqual(await storedCounts(store), { jobs: 1, triggers: 1, calendars: 0 })
    assert.deepEqual(await bed.acquireNames(), ['c'])
  },
  'does not announce the deletion of jobs that it was told to delete': async (bed) => {
    await bed.schedule('t', { job: jobDetail('non-durable') })
    await bed.store.deleteJobs([new JobKey('non-durable')])
    assert.deepEqual(bed.signals.deletedJobs, [])
  },
  'keeps a durable job when its last trigger goes': async (bed) => {
    const trigger = await bed.schedule('t')
    await bed.store.deleteTriggers([trigger.key])
    assert.deepEqual(await bed.store.getJob(bed.job.key), bed.job)
    assert.deepEqual(bed.signals.deletedJobs, [])
  },
  'deletes a job that is not durable with its last trigger, and says so once': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.scheduleAll([bed.trigger('a', { job }), bed.trigger('b', { job })], job)
    await bed.store.deleteTriggers([new TriggerKey('a')])
    assert.notEqual(await bed.store.getJob(job.key), null)
    await bed.store.deleteTriggers([new TriggerKey('b')])
    assert.equal(await bed.store.getJob(job.key), null)
    assert.deepEqual(bed.signals.deletedJobs, ['DEFAULT.non-durable'])
  },
  'keeps a job that is not durable until it has had a trigger and lost it': async (bed) => {
    const job = jobDetail('non-durable')
    await bed.store.addJob(job, { replace: false })
    assert.deepEqual(await bed.store.getJob(job.key), job)
    const trigger = await bed.schedule('t', { job })
    await bed.store.deleteTriggers([trigger.key])
    assert.equal(await bed.store.getJob(job.key), null)
  },
  'finds the jobs of groups by every operator': async (bed) => {
    await addGroups(bed)
    const names = async (matcher: GroupMatcher): Promise<string[]> =>
      (await bed.store.getJobKeys(matcher)).map((key) => key.name).sort()
    assert.deepEqual(await names(GroupMatcher.anyGroup()), ['one', 'three', 'two'])
    assert.deepEqual(await names(GroupMatcher.groupEquals('aaabbbccc')), ['one'])
    assert.deepEqual(await names(GroupMatcher.groupEquals('aaa')), [])
    assert.deepEqual(await names(GroupMatcher.groupStartsWith('aa')), ['one'])
    assert.deepEqual(await names(GroupMatcher.groupStartsWith('xx')), ['three', 'two'])
    assert.deepEqual(await names(GroupMatcher.groupEndsWith('cc')), ['one'])
    assert.deepEqual(await names(GroupMatcher.groupEndsWith('zzz')), ['three', 'two'])
    assert.deepEqual(await names(GroupMatcher.groupContains('bc')), ['one'])
    assert.deepEqual(await names(GroupMatcher.groupContains('yz')), ['three', 'two'])
  },
  'takes wildcards of databases in a matcher as letters': async ({ store }) => {
    for (const group of ['a_b', 'axb', 'a%b', 'a\\b']) {
      await store.addJob(jobDetail('job', { group }), { replace: false })
    }
    const groups = async (matcher: GroupMatcher): Promise<string[]> =>
      (await store.getJobKeys(matcher)).map((key) => key.group)
    assert.deepEqual(await groups(GroupMatcher.groupEquals('a_b')), ['a_b'])
    assert.deepEqual(await groups(GroupMatcher.groupStartsWith('a_')), ['a_b'])
    assert.deepEqual(await groups(GroupMatcher.groupEndsWith('%b')), ['a%b'])
    assert.deepEqual(await groups(GroupMatcher.groupContains('\\')), ['a\\b'])
  },
  'matches groups case by case': async ({ store }) => {
    await store.addJob(jobDetail('job', { group: 'Case' }), { replace: false })
    assert.deepEqual(await store.getJobKeys(GroupMatcher.groupEquals('case')), [])
    assert.deepEqual(await store.getJobKeys(GroupMatcher.groupStartsWith('C')), [new JobKey('job', 'Case')])
    assert.deepEqual(await store.getJobKeys(GroupMatcher.groupStartsWith('c')), [])
  },
  'names the groups that hold a job, and forgets a group with its last one': async (bed) => {
    await addGroups(bed)
    assert.deepEqual(textsOf(await bed.store.getJobGroupNames()), ['aaabbbccc', 'xxxyyyzzz'])
    await bed.store.deleteJobs([new JobKey('two', 'xxxyyyzzz')])
    assert.deepEqual(textsOf(await bed.store.getJobGroupNames()), ['aaabbbccc', 'xxxyyyzzz'])
    await bed.store.deleteJobs([new JobKey('three', 'xxxyyyzzz')])
    assert.deepEqual(await bed.store.getJobGroupNames(), ['aaabbbccc'])
  },
})
