import assert from 'node:assert/strict'
import { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { TriggerQuery } from '../../jobstore/queries.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, only, refuses, type Testbed } from './testbed.ts'

/** In order of keys: group DEFAULT first, then by code unit. */
const orderedKeys = [
  ['B', 'DEFAULT'],
  ['a', 'DEFAULT'],
  ['a10', 'DEFAULT'],
  ['a2', 'DEFAULT'],
  ['é', 'DEFAULT'],
  ['z', 'A'],
  ['A', 'b'],
  ['a', 'b'],
  ['a', 'ba'],
] as const

const texts = orderedKeys.map(([name, group]) => `${group}.${name}`)

async function scheduleShuffled(bed: Testbed): Promise<void> {
  const shuffled = orderedKeys.map((key, index) => ({ key, rank: (index * 5) % 9 }))
  shuffled.sort((a, b) => a.rank - b.rank)
  await bed.scheduleAll(shuffled.map(({ key: [name, group] }) => bed.trigger(name, { group, inMs: 1000 })))
}

async function triggerNames(bed: Testbed, query: TriggerQuery): Promise<string[]> {
  return (await bed.store.queryTriggers(query)).items.map(({ key }) => key.name)
}

/** All pages of a listing of triggers. */
async function walk(bed: Testbed, query: TriggerQuery): Promise<string[][]> {
  const pages: string[][] = []
  let after: TriggerKey | null = null
  do {
    const page = await bed.store.queryTriggers(after === null ? query : { ...query, after })
    pages.push(page.items.map(({ key }) => key.toString()))
    after = page.next
  } while (after !== null)
  return pages
}

const paging = area('queries: pages', {
  'list triggers in order of their keys': async (bed) => {
    await scheduleShuffled(bed)
    assert.deepEqual(await walk(bed, {}), [texts])
  },
  'list jobs in order of their keys': async (bed) => {
    for (const [name, group] of [...orderedKeys].reverse()) {
      await bed.store.addJob(jobDetail(name, { group }), { replace: false })
    }
    const { items, next } = await bed.store.queryJobs({})
    assert.deepEqual(
      items.map(({ key }) => key.toString()),
      texts,
    )
    assert.equal(next, null)
  },
  'follow each other without holes or repetition': async (bed) => {
    await scheduleShuffled(bed)
    for (const take of [1, 2, 4, 8]) {
      const pages = await walk(bed, { take })
      assert.deepEqual(pages.flat(), texts)
      assert.ok(pages.slice(0, -1).every((page) => page.length === take))
      assert.equal(pages.length, Math.ceil(texts.length / take))
    }
  },
  'of jobs follow each other without holes or repetition': async (bed) => {
    for (const [name, group] of orderedKeys) {
      await bed.store.addJob(jobDetail(name, { group }), { replace: false })
    }
    const first = await bed.store.queryJobs({ take: 5 })
    assert.deepEqual(first.next, new JobKey('é'))
    const second = await bed.store.queryJobs({ take: 5, after: new JobKey('é') })
    assert.equal(second.next, null)
    assert.deepEqual(
      [...first.items, ...second.items].map(({ key }) => key.toString()),
      texts,
    )
  },
  'end with the last full page': async (bed) => {
    await scheduleShuffled(bed)
    assert.equal((await bed.store.queryTriggers({ take: 9 })).next, null)
    assert.deepEqual((await walk(bed, { take: 3 })).length, 3)
  },
  'hold a hundred items unless told otherwise': async (bed) => {
    const names = Array.from({ length: 230 }, (_, index) => `t${String(index).padStart(3, '0')}`)
    await bed.scheduleAll(names.map((name) => bed.trigger(name, { inMs: 1000 })))
    const pages = await walk(bed, {})
    assert.deepEqual(
      pages.map(({ length }) => length),
      [100, 100, 30],
    )
    assert.deepEqual(
      pages.flat(),
      names.map((name) => `DEFAULT.${name}`),
    )
  },
  'go on after a key that does not exist any more': async (bed) => {
    await scheduleShuffled(bed)
    const { next } = await bed.store.queryTriggers({ take: 3 })
    assert.deepEqual(next, new TriggerKey('a10'))
    await bed.store.deleteTriggers([new TriggerKey('a10')])
    assert.deepEqual((await walk(bed, { after: new TriggerKey('a10') })).flat(), texts.slice(3))
    assert.deepEqual((await walk(bed, { after: new TriggerKey('zz', 'zz') })).flat(), [])
  },
  'refuse a size outside 1 to 1000': async (bed) => {
    for (const take of [0, -1, 1001, 1.5, Number.NaN]) {
      await refuses(bed.store.queryTriggers({ take }), 'ERR_INVALID_OPTION')
      await refuses(bed.store.queryJobs({ take }), 'ERR_INVALID_OPTION')
    }
    assert.deepEqual((await bed.store.queryTriggers({ take: 1000 })).items, [])
  },
})

const filtering = area('queries: filters', {
  'pick jobs by group and by type': async (bed) => {
    await bed.store.addJob(jobDetail('a', { group: 'red', jobType: 'mail' }), { replace: false })
    await bed.store.addJob(jobDetail('b', { group: 'rest', jobType: 'mail' }), { replace: false })
    await bed.store.addJob(jobDetail('c', { group: 'rest', jobType: 'file' }), { replace: false })
    const names = async (query: Parameters<typeof bed.store.queryJobs>[0]): Promise<string[]> =>
      (await bed.store.queryJobs(query)).items.map(({ key }) => key.name)
    assert.deepEqual(await names({ jobType: 'mail' }), ['a', 'b'])
    assert.deepEqual(await names({ group: GroupMatcher.groupEquals('rest') }), ['b', 'c'])
    assert.deepEqual(await names({ group: GroupMatcher.groupStartsWith('re'), jobType: 'file' }), ['c'])
    assert.deepEqual(await names({ jobType: 'none' }), [])
  },
  'pick triggers by group': async (bed) => {
    for (const group of ['red', 'rest', 'bored']) await bed.schedule(group, { group })
    assert.deepEqual(await triggerNames(bed, { group: GroupMatcher.groupEquals('red') }), ['red'])
    assert.deepEqual(await triggerNames(bed, { group: GroupMatcher.groupStartsWith('re') }), ['red', 'rest'])
    assert.deepEqual(await triggerNames(bed, { group: GroupMatcher.groupEndsWith('red') }), ['bored', 'red'])
  },
  'pick triggers by job, a page at a time': async (bed) => {
    const job = jobDetail('mine')
    await bed.scheduleAll(
      ['c', 'a', 'd', 'b'].map((name) => bed.trigger(name, { job })),
      job,
    )
    await bed.schedule('other')
    assert.deepEqual(await walk(bed, { jobKey: job.key, take: 3 }), [
      ['DEFAULT.a', 'DEFAULT.b', 'DEFAULT.c'],
      ['DEFAULT.d'],
    ])
    assert.deepEqual(await triggerNames(bed, { jobKey: new JobKey('missing') }), [])
  },
  'pick triggers by calendar': async (bed) => {
    await bed.addCalendars('holidays', 'other')
    await bed.schedule('a', { calendar: 'holidays' })
    await bed.schedule('b', { calendar: 'other' })
    await bed.schedule('c')
    assert.deepEqual(await triggerNames(bed, { calendarName: 'holidays' }), ['a'])
  },
  'pick triggers by state': async (bed) => {
    const job = jobDetail('j', { disallowConcurrentExecution: true })
    await bed.schedule('error', { everyMs: 60_000 })
    await bed.putInError('error')
    await bed.schedule('complete')
    await bed.complete(await bed.start('complete'))
    await bed.schedule('paused', { inMs: 1000 })
    await bed.store.pauseTrigger(new TriggerKey('paused'))
    await bed.schedule('runs', { job, everyMs: 60_000 })
    await bed.schedule('waits', { job, inMs: 1000 })
    await bed.start('runs')
    await bed.schedule('normal', { inMs: 1000 })
    assert.deepEqual(await triggerNames(bed, { state: 'ERROR' }), ['error'])
    assert.deepEqual(await triggerNames(bed, { state: 'COMPLETE' }), ['complete'])
    assert.deepEqual(await triggerNames(bed, { state: 'PAUSED' }), ['paused'])
    assert.deepEqual(await triggerNames(bed, { state: 'BLOCKED' }), ['runs', 'waits'])
    assert.deepEqual(await triggerNames(bed, { state: 'NORMAL' }), ['normal'])
    assert.deepEqual(await triggerNames(bed, { state: 'NONE' }), [])
  },
  combine: async (bed) => {
    const job = jobDetail('mine')
    await bed.schedule('a', { job, group: 'g' })
    await bed.schedule('b', { job, group: 'g' })
    await bed.schedule('c', { job })
    await bed.schedule('d', { group: 'g' })
    await bed.store.pauseTrigger(new TriggerKey('b', 'g'))
    const query = { jobKey: job.key, group: GroupMatcher.groupEquals('g') }
    assert.deepEqual(await triggerNames(bed, query), ['a', 'b'])
    assert.deepEqual(await triggerNames(bed, { ...query, state: 'PAUSED' }), ['b'])
    assert.deepEqual(await triggerNames(bed, { ...query, after: new TriggerKey('a', 'g') }), ['b'])
  },
  'count pages after filtering': async (bed) => {
    const triggers = Array.from({ length: 40 }, (_, index) =>
      bed.trigger(`t${String(index).padStart(2, '0')}`, { calendar: index % 4 === 0 ? 'c' : 'd' }),
    )
    await bed.addCalendars('c', 'd')
    await bed.scheduleAll(triggers)
    const pages = await walk(bed, { calendarName: 'c', take: 4 })
    assert.deepEqual(
      pages.map(({ length }) => length),
      [4, 4, 2],
    )
  },
})

const summaries = area('queries: summaries', {
  'hold what a job is, without its data': async ({ store }) => {
    const job = jobDetail('full', {
      jobType: 'report',
      description: 'Sends the daily report',
      jobDataMap: { to: 'ops@example.com' },
      durable: true,
      requestsRecovery: true,
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
    })
    await store.addJob(job, { replace: false })
    assert.deepEqual(only((await store.queryJobs({})).items), {
      key: job.key,
      jobType: 'report',
      description: 'Sends the daily report',
      durable: true,
      requestsRecovery: true,
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
      pause: null,
    })
  },
  'hold what a trigger is and how far it has come, without its data': async (bed) => {
    const startMs = bed.now()
    await bed.schedule('full', {
      everyMs: 60_000,
      priority: 9,
      data: { to: 'ops@example.com' },
      description: 'Every minute',
    })
    await bed.complete(await bed.start('full'))
    assert.deepEqual(only((await bed.store.queryTriggers({})).items), {
      key: new TriggerKey('full'),
      jobKey: bed.job.key,
      type: bed.triggerType,
      state: 'NORMAL',
      description: 'Every minute',
      calendarName: null,
      priority: 9,
      nextFireTimeMs: startMs + 60_000,
      previousFireTimeMs: startMs,
      pause: null,
    })
  },
})

export const queryCases: readonly StoreCase[] = [...paging, ...filtering, ...summaries]
