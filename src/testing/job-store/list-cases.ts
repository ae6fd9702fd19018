import assert from 'node:assert/strict'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { FirePlace, JobQuery, NextTriggerQuery, Page, TriggerQuery } from '../../jobstore/queries.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, refuses, type Testbed, textsOf } from './testbed.ts'

async function jobNames(bed: Testbed, query: JobQuery): Promise<string[]> {
  return (await bed.store.queryJobs(query)).items.map(({ key }) => key.name)
}

async function triggerNames(bed: Testbed, query: TriggerQuery): Promise<string[]> {
  return (await bed.store.queryTriggers(query)).items.map(({ key }) => key.name)
}

async function nextNames(bed: Testbed, query: NextTriggerQuery): Promise<string[]> {
  return (await bed.store.queryNextTriggers(query)).items.map(({ key }) => key.name)
}

const searching = area('lists: searching', {
  'finds part of the name, the group, the type or the description of a job': async (bed) => {
    await bed.store.addJob(jobDetail('invoices', { jobType: 'mailer' }), { replace: false })
    await bed.store.addJob(jobDetail('a', { group: 'voices' }), { replace: false })
    await bed.store.addJob(jobDetail('b', { description: 'Sends all voices' }), { replace: false })
    await bed.store.addJob(jobDetail('c'), { replace: false })
    assert.deepEqual(await jobNames(bed, { search: 'voice' }), ['b', 'invoices', 'a'])
    assert.deepEqual(await jobNames(bed, { search: 'mailer' }), ['invoices'])
    assert.deepEqual(await jobNames(bed, { search: 'voice', jobType: 'mailer' }), ['invoices'])
    assert.deepEqual(await jobNames(bed, { search: '' }), ['b', 'c', 'invoices', 'a'])
    assert.deepEqual(await jobNames(bed, { search: 'xyz' }), [])
  },
  'finds part of the name, the group, the description or the job of a trigger': async (bed) => {
    await bed.schedule('nightly', { inMs: 1000 })
    await bed.schedule('a', { inMs: 1000, group: 'the night' })
    await bed.schedule('b', { inMs: 1000, description: 'Every night' })
    await bed.schedule('c', { inMs: 1000, job: jobDetail('nights') })
    await bed.schedule('d', { inMs: 1000 })
    assert.deepEqual(await triggerNames(bed, { search: 'night' }), ['b', 'c', 'nightly', 'a'])
    assert.deepEqual(await nextNames(bed, { search: 'night' }), ['b', 'c', 'nightly', 'a'])
  },
  'takes the letters A to Z in either case, and all others as they are': async (bed) => {
    for (const name of ['DailyÉtat', 'état', 'daily']) await bed.schedule(name, { inMs: 1000 })
    assert.deepEqual(await triggerNames(bed, { search: 'dAILY' }), ['DailyÉtat', 'daily'])
    assert.deepEqual(await triggerNames(bed, { search: 'É' }), ['DailyÉtat'])
    assert.deepEqual(await triggerNames(bed, { search: 'éTAT' }), ['état'])
  },
  'takes no character for a wildcard': async (bed) => {
    for (const name of ['a%b', 'a_b', 'a\\b', 'axb', "it's"]) await bed.schedule(name, { inMs: 1000 })
    assert.deepEqual(await triggerNames(bed, { search: 'A%B' }), ['a%b'])
    assert.deepEqual(await triggerNames(bed, { search: 'a_b' }), ['a_b'])
    assert.deepEqual(await triggerNames(bed, { search: 'a\\b' }), ['a\\b'])
    assert.deepEqual(await triggerNames(bed, { search: "t's" }), ["it's"])
    assert.deepEqual(await triggerNames(bed, { search: 'a\0b' }), [])
  },
})

const filtering = area('lists: filters', {
  'pick jobs and triggers by groups of jobs': async (bed) => {
    for (const group of ['x', 'y', 'z']) {
      await bed.schedule(`of-${group}`, { job: jobDetail('j', { group }), inMs: 1000 })
    }
    assert.deepEqual(
      textsOf((await bed.store.queryJobs({ jobGroups: ['z', 'x', 'none'] })).items.map((job) => job.key)),
      ['x.j', 'z.j'],
    )
    assert.deepEqual(await jobNames(bed, { jobGroups: [] }), [])
    assert.deepEqual(await triggerNames(bed, { jobGroups: ['z', 'x'] }), ['of-x', 'of-z'])
    assert.deepEqual(await triggerNames(bed, { jobGroups: [] }), [])
    assert.deepEqual(await nextNames(bed, { jobGroups: ['y'] }), ['of-y'])
  },
  'pick triggers by the type of their job': async (bed) => {
    await bed.schedule('m', { job: jobDetail('j', { jobType: 'mail' }), inMs: 1000 })
    await bed.schedule('n', { inMs: 1000 })
    assert.deepEqual(await triggerNames(bed, { jobType: 'mail' }), ['m'])
    assert.deepEqual(await nextNames(bed, { jobType: 'mail' }), ['m'])
    assert.deepEqual(await triggerNames(bed, { jobType: 'none' }), [])
  },
  'pick triggers by several states': async (bed) => {
    await bed.schedule('error', { everyMs: 60_000 })
    await bed.putInError('error')
    for (const name of ['paused', 'normal']) await bed.schedule(name, { inMs: 1000 })
    await bed.store.pauseTrigger(new TriggerKey('paused'))
    assert.deepEqual(await triggerNames(bed, { state: ['ERROR', 'PAUSED'] }), ['error', 'paused'])
    assert.deepEqual(await triggerNames(bed, { state: ['NORMAL', 'ERROR'] }), ['error', 'normal'])
    assert.deepEqual(await triggerNames(bed, { state: [] }), [])
  },
  'pick triggers that are due before an instant': async (bed) => {
    await bed.schedule('soon', { inMs: 1000 })
    await bed.schedule('later', { inMs: 2000 })
    await bed.schedule('never')
    await bed.complete(await bed.start('never'))
    const dueBefore = new Date(bed.now() + 2000)
    assert.deepEqual(await triggerNames(bed, { dueBefore }), ['soon'])
    assert.deepEqual(await nextNames(bed, { dueBefore }), ['soon'])
  },
  'go on behind every key': async (bed) => {
    const keys = [
      ['b', 'DEFAULT'],
      ['a', 'A'],
      ['c', 'A'],
      ['a', 'CC'],
      ['a', 'E'],
      ['b', 'e'],
    ] as const
    for (const [name, group] of keys) await bed.schedule(name, { group, description: 'same', inMs: 1000 })
    for (const query of [{}, { search: 'SAME' }, { state: 'NORMAL' }, { jobKey: bed.job.key }] as const) {
      const found = await keysOfPages<TriggerKey>((place) =>
        bed.store.queryTriggers({ ...query, take: 1, ...place }),
      )
      assert.deepEqual(
        found.map(String),
        keys.map(([name, group]) => `${group}.${name}`),
      )
    }
  },
  'leave no key out and repeat none between pages, whatever characters it has': async (bed) => {
    await scheduleWide(bed)
    for (const take of [1, 2, 5]) {
      const jobs = await keysOfPages<JobKey>((place) => bed.store.queryJobs({ take, ...place }))
      assert.deepEqual(textsOf(jobs), wideKeys)
      for (const query of [{}, { state: 'NORMAL' }] as const) {
        const triggers = await keysOfPages<TriggerKey>((place) =>
          bed.store.queryTriggers({ ...query, take, ...place }),
        )
        assert.deepEqual(textsOf(triggers), wideKeys)
      }
    }
  },
})

/** UTF-16 orders characters behind U+FFFF otherwise than their code points do. */
const wideNames = ['a', '\u{62A5}\u{FF08}', '\u{62A5}\u{FF1A}', '\u{62A5}\u{1F600}', '\u{62A5}\u{1F680}']
const wideGroups = ['DEFAULT', '\u{FF08}', '\u{1F600}']
const wideKeys = wideGroups.flatMap((group) => wideNames.map((name) => `${group}.${name}`)).sort()

/** One job and one trigger of each wide key. All triggers have one time and one priority. */
async function scheduleWide(bed: Testbed): Promise<void> {
  for (const group of wideGroups) {
    for (const name of wideNames) {
      await bed.schedule(name, { group, job: jobDetail(name, { group }), inMs: 1000 })
    }
  }
}

/** The keys of all pages of a listing. */
async function keysOfPages<Place>(
  read: (place: { readonly after?: Place }) => Promise<Page<{ readonly key: JobKey | TriggerKey }, Place>>,
): Promise<(JobKey | TriggerKey)[]> {
  const found: (JobKey | TriggerKey)[] = []
  for (let place: { readonly after?: Place } = {}; ; ) {
    const { items, next } = await read(place)
    found.push(...items.map(({ key }) => key))
    if (next === null) return found
    place = { after: next }
  }
}

const firing = area('lists: next triggers', {
  'are in order of fire time, priority and key': async (bed) => {
    await bed.schedule('late', { inMs: 3000 })
    await bed.schedule('b', { inMs: 2000 })
    await bed.schedule('a', { inMs: 2000, group: 'g' })
    await bed.schedule('c', { inMs: 2000, group: 'A' })
    await bed.schedule('first', { inMs: 2000, priority: 9 })
    await bed.schedule('last', { inMs: 2000, priority: 1 })
    assert.deepEqual(await nextNames(bed, {}), ['first', 'b', 'c', 'a', 'last', 'late'])
  },
  'go on behind a place, whatever has the same time': async (bed) => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const [index, name] of names.entries()) {
      await bed.schedule(name, { inMs: index < 4 ? 1000 : 2000, priority: index % 2 === 0 ? 7 : 3 })
    }
    const found = await keysOfPages<FirePlace>((place) => bed.store.queryNextTriggers({ take: 1, ...place }))
    assert.deepEqual(
      found.map(({ name }) => name),
      ['a', 'c', 'b', 'd', 'e', 'f'],
    )
  },
  'leave no trigger out and repeat none between pages, whatever characters its key has': async (bed) => {
    await scheduleWide(bed)
    for (const take of [1, 2, 5]) {
      const found = await keysOfPages<FirePlace>((place) => bed.store.queryNextTriggers({ take, ...place }))
      assert.deepEqual(textsOf(found), wideKeys)
    }
  },
  'have those that are claimed or blocked, and none that is paused, in error or complete': async (bed) => {
    const job = jobDetail('alone', { disallowConcurrentExecution: true })
    await bed.schedule('error', { everyMs: 60_000 })
    await bed.putInError('error')
    await bed.schedule('complete')
    await bed.complete(await bed.start('complete'))
    await bed.schedule('paused', { inMs: 1000 })
    await bed.store.pauseTrigger(new TriggerKey('paused'))
    await bed.schedule('runs', { job, everyMs: 60_000 })
    await bed.schedule('waits', { job, inMs: 2000 })
    await bed.start('runs')
    await bed.schedule('claimed', { inMs: 1000 })
    assert.deepEqual(await bed.acquireNames({ noLaterThanMs: bed.now() + 1000 }), ['claimed'])
    await bed.schedule('normal', { inMs: 3000 })
    assert.deepEqual(await nextNames(bed, {}), ['claimed', 'waits', 'normal', 'runs'])
    assert.deepEqual(await nextNames(bed, { jobKey: job.key }), ['waits', 'runs'])
    assert.deepEqual(await nextNames(bed, { group: GroupMatcher.groupEquals('none') }), [])
  },
  'refuse pages of other sizes': async ({ store }) => {
    for (const take of [0, 1001, 1.5]) await refuses(store.queryNextTriggers({ take }), 'ERR_INVALID_OPTION')
  },
})

const counting = area('lists: counts', {
  'say how many triggers there are of each state': async (bed) => {
    assert.deepEqual(await bed.store.getTriggerCounts(), {})
    const job = jobDetail('alone', { disallowConcurrentExecution: true })
    await bed.schedule('runs', { job, everyMs: 60_000 })
    await bed.schedule('waits', { job, inMs: 2000 })
    const execution = await bed.start('runs')
    for (const name of ['a', 'b', 'c']) await bed.schedule(name, { inMs: 1000 })
    await bed.store.pauseTrigger(new TriggerKey('b'))
    await bed.store.pauseTrigger(new TriggerKey('waits'))
    await bed.acquire({ noLaterThanMs: bed.now() + 1000, maxCount: 1 })
    assert.deepEqual(await bed.store.getTriggerCounts(), { NORMAL: 2, PAUSED: 2, BLOCKED: 1 })
    await bed.complete(execution, 'setTriggerError')
    assert.deepEqual(await bed.store.getTriggerCounts(), { NORMAL: 2, PAUSED: 2, ERROR: 1 })
  },
  'say how much is in each group': async (bed) => {
    const sorted = async (of: 'jobs' | 'triggers'): Promise<string[]> =>
      (await bed.store.getGroupCounts(of)).map(({ group, count }) => `${group} ${count}`).sort()
    assert.deepEqual(await sorted('jobs'), [])
    await bed.scheduleAll([bed.trigger('a', { inMs: 1000 }), bed.trigger('b', { inMs: 1000, group: 'g' })])
    await bed.schedule('c', { job: jobDetail('j', { group: 'other' }), inMs: 1000, group: 'g' })
    assert.deepEqual(await sorted('jobs'), ['DEFAULT 1', 'other 1'])
    assert.deepEqual(await sorted('triggers'), ['DEFAULT 1', 'g 2'])
  },
  'give the jobs of several keys': async (bed) => {
    for (const name of ['a', 'b', 'c']) await bed.schedule(name, { job: jobDetail(name), inMs: 1000 })
    const found = await bed.store.getJobs([new JobKey('c'), new JobKey('none'), new JobKey('a')])
    assert.deepEqual(textsOf(found.map(({ key }) => key)), ['DEFAULT.a', 'DEFAULT.c'])
    assert.deepEqual(await bed.store.getJobs([]), [])
  },
  'give the triggers of several keys': async (bed) => {
    for (const name of ['a', 'b', 'c']) await bed.schedule(name, { inMs: 1000, data: { of: name } })
    const found = await bed.store.getTriggers([
      new TriggerKey('c'),
      new TriggerKey('none'),
      new TriggerKey('a'),
    ])
    assert.deepEqual(textsOf(found.map(({ key }) => key)), ['DEFAULT.a', 'DEFAULT.c'])
    assert.deepEqual(found.map(({ jobDataMap }) => jobDataMap['of']).sort(), ['a', 'c'])
    assert.deepEqual(await bed.store.getTriggers([]), [])
    assert.deepEqual(await bed.store.queryJobs({ after: new JobKey('zzz', 'zzz') }), {
      items: [],
      next: null,
    })
  },
})

export const listCases: readonly StoreCase[] = [...searching, ...filtering, ...firing, ...counting]
