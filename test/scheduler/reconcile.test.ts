import { describe, expect, it } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { defineSchedule } from '../../src/scheduler/define-schedule.ts'
import type { Reconciliation, ScheduleDefinition } from '../../src/scheduler/schedule-definition.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { WeeklyCalendar } from '../../src/triggers/calendars/weekly-calendar.ts'
import { schedulerFixture } from '../support/scheduler-fixture.ts'

const work = defineJob('work', () => {})
const every = (key: string, interval: string): ScheduleDefinition =>
  defineSchedule(work, { key, every: interval })

const fixture = (): ReturnType<typeof schedulerFixture> => schedulerFixture({ jobs: [work] })

function names({ added, changed, removed, unchanged, deferred, broken }: Reconciliation): object {
  const of = (keys: Reconciliation['added']): string => keys.map(({ name }) => name).join(' ')
  const changes = { added: of(added), changed: of(changed), removed: of(removed), unchanged: of(unchanged) }
  return { ...changes, deferred, broken: of(broken) }
}

const nothing = { added: '', changed: '', removed: '', unchanged: '', deferred: false, broken: '' }

async function nextOf(scheduler: Scheduler, name: string): Promise<number | null | undefined> {
  return (await scheduler.getTrigger(triggerKey(name)))?.nextFireTimeMs
}

describe('reconcile', () => {
  it('adds, changes, removes, and leaves alone what is the same', async () => {
    const { scheduler, told } = await fixture()
    const first = await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m'), every('c', '1m')])
    expect(names(first)).toEqual({ ...nothing, added: 'a b c' })
    told.length = 0
    const again = await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m'), every('c', '1m')])
    expect(names(again)).toEqual({ ...nothing, unchanged: 'a b c' })
    expect(told).toEqual([])
    const second = await scheduler.reconcile('s', [every('a', '1m'), every('b', '2m'), every('d', '1m')])
    expect(names(second)).toEqual({ ...nothing, added: 'd', changed: 'b', removed: 'c', unchanged: 'a' })
    expect(told).toEqual([
      'jobUnscheduled b',
      'jobAdded b',
      'jobScheduled b',
      'jobAdded d',
      'jobScheduled d',
      'jobDeleted c',
    ])
  })

  it.each([
    ['name', every('b'.repeat(201), '1m')],
    ['description', defineSchedule(work, { key: 'b', every: '1m', description: 'd'.repeat(251) })],
  ])(
    'changes nothing when the store cannot keep the %s of one, and says so in a dry run',
    async (field, b) => {
      const jobStore = sqliteJobStore({ filename: ':memory:' })
      await using scheduler = await createScheduler({ logger: false, jobs: [work], jobStore })
      await scheduler.reconcile('s', [every('former', '1m')])
      const set = [every('a', '1m'), b, every('c', '1m')]
      for (const dryRun of [true, false]) {
        const refused = scheduler.reconcile('s', set, { dryRun })
        await expect(refused).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT', field })
      }
      expect((await scheduler.getJobKeys(GroupMatcher.anyGroup())).map(({ name }) => name)).toEqual([
        'former',
      ])
      const next = await scheduler.reconcile('s', [every('former', '1m'), every('a', '1m')])
      expect(names(next)).toEqual({ ...nothing, added: 'a', unchanged: 'former' })
    },
  )

  it('may be awaited in a listener of what it does, as may a start', async () => {
    const { scheduler, told } = await fixture()
    const declared: Promise<unknown>[] = []
    scheduler.listenerManager.addSchedulerListener({
      jobAdded: async ({ key: { name } }) => {
        if (name !== 'a') return
        const second = scheduler.reconcile('t', [every('c', '1m')])
        declared.push(second)
        await second
        await scheduler.start()
      },
    })
    const first = await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m')])
    expect(names(first)).toEqual({ ...nothing, added: 'a b' })
    expect(declared).toHaveLength(1)
    // Each set in its order.
    expect(told.filter((each) => /^job.* [ab]$/.test(each))).toEqual([
      'jobAdded a',
      'jobScheduled a',
      'jobAdded b',
      'jobScheduled b',
    ])
    expect(scheduler.isStarted).toBe(true)
    await scheduler.shutdown()
  })

  it('tells listeners and observers in the order of the work, however long a listener takes', async () => {
    const { clock, scheduler } = await fixture()
    const [told, seen]: [string[], string[]] = [[], []]
    scheduler.listenerManager.addSchedulerListener({
      jobAdded: async ({ key: { name } }) => {
        await new Promise<void>((resolve) => {
          clock.setTimer(30, resolve)
        })
        told.push(`added ${name}`)
      },
      jobDeleted: ({ name }) => {
        told.push(`deleted ${name}`)
      },
    })
    scheduler.events.on('jobAdded', ({ jobDetail }) => seen.push(`added ${jobDetail.key.name}`))
    scheduler.events.on('jobDeleted', ({ jobKey: { name } }) => seen.push(`deleted ${name}`))
    const both = [
      scheduler.reconcile('s', [every('a', '1m'), every('b', '1m'), every('c', '1m')]),
      scheduler.reconcile('s', [every('a', '1m')]),
    ]
    const inOrder = ['added a', 'added b', 'added c', 'deleted b', 'deleted c']
    await clock.settle()
    expect([seen, told]).toEqual([inOrder, []])
    await clock.advance(90)
    await Promise.all(both)
    await clock.settle()
    expect(told).toEqual(inOrder)
    await scheduler.shutdown()
  })

  it('reads a large set that is the same by a few calls', async () => {
    const { scheduler, store } = await fixture()
    await scheduler.addCalendar('weekdays', new WeeklyCalendar())
    const many = Array.from({ length: 600 }, (_, index) =>
      defineSchedule(work, { key: `k${index}`, every: '1h', calendarName: 'weekdays' }),
    )
    await scheduler.reconcile('s', many)
    const calls = store.calls.length
    expect((await scheduler.reconcile('s', many)).unchanged).toHaveLength(600)
    const made = store.calls.slice(calls)
    expect(made.filter((call) => call !== 'getCalendar')).toEqual([
      'getJobs',
      'getTriggers',
      'getJobs',
      'getTriggers',
    ])
  })

  it('says what it would do, and does not do it', async () => {
    const { scheduler } = await fixture()
    await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m')])
    const next = [every('b', '2m'), every('c', '1m')]
    const foreseen = await scheduler.reconcile('s', next, { dryRun: true })
    expect(names(foreseen)).toEqual({ ...nothing, added: 'c', changed: 'b', removed: 'a' })
    expect(await scheduler.checkExists(jobKey('c'))).toBe(false)
    expect(await scheduler.checkExists(jobKey('a'))).toBe(true)
    expect(names(await scheduler.reconcile('s', next))).toEqual(names(foreseen))
  })

  it('leaves a copy of one of its jobs alone, which is in no set', async () => {
    const { scheduler } = await fixture()
    await scheduler.reconcile('s', [every('a', '1m')])
    const declared = await scheduler.getJobDetail(jobKey('a'))
    if (declared === null) throw new Error('a is not there')
    await scheduler.addJob(JobBuilder.from(declared).withIdentity('copy').build())
    await scheduler.addJob(JobBuilder.from(declared).withIdentity('a').withDescription('edited').build(), {
      replace: true,
    })
    await scheduler.schedule(work, { key: 'copy', every: '1m' })
    expect(names(await scheduler.reconcile('s', []))).toEqual({ ...nothing, removed: 'a' })
    expect(await scheduler.checkExists(jobKey('copy'))).toBe(true)
  })

  it('touches nothing that is not of its set', async () => {
    const { scheduler, job, once } = await fixture()
    await scheduler.schedule(work, { key: 'single', every: '1m' })
    await scheduler.scheduleJob(job('built'), once('built', 60_000))
    await scheduler.reconcile('other', [every('o', '1m')])
    await scheduler.reconcile('s', [every('a', '1m')])
    expect(names(await scheduler.reconcile('s', []))).toEqual({ ...nothing, removed: 'a' })
    for (const name of ['single', 'built', 'o']) expect(await scheduler.checkExists(jobKey(name))).toBe(true)
    await expect(scheduler.reconcile('s', [every('o', '1m')])).rejects.toMatchObject({
      code: 'ERR_OBJECT_ALREADY_EXISTS',
      message: expect.stringContaining("'other'") as string,
    })
    await expect(scheduler.schedule(work, { key: 'o', every: '1m' })).rejects.toMatchObject({
      code: 'ERR_OBJECT_ALREADY_EXISTS',
    })
  })

  it('keeps each instant of a changed cron schedule that passed while nothing fired', async () => {
    const planned: number[] = []
    const tick = defineJob('tick', ({ scheduledFireTime }) => {
      planned.push(scheduledFireTime.getTime())
    })
    const { scheduler, clock } = await schedulerFixture({ jobs: [tick] })
    const declare = async (cron: string): Promise<void> => {
      await scheduler.reconcile('s', [defineSchedule(tick, { key: 'tick', cron, zone: 'UTC' })])
    }
    await declare('* * * * * ?')
    await scheduler.start()
    await clock.advance(2000)
    await scheduler.standby()
    await clock.advance(3500)
    await declare('0/1 * * * * ?')
    await scheduler.start()
    await scheduler.idle()
    expect(planned.map((ms) => ms - (planned[0] ?? 0))).toEqual([0, 1000, 2000, 3000, 4000, 5000])
  })

  it('leaves a job alone that was taken out of the set by hand', async () => {
    const { scheduler, job, once } = await fixture()
    await scheduler.reconcile('s', [every('a', '1m'), every('b', '1m')])
    await scheduler.deleteJob(jobKey('a'))
    await scheduler.scheduleJob(job('a'), once('a', 60_000))
    expect(names(await scheduler.reconcile('s', [every('b', '1m')]))).toEqual({ ...nothing, unchanged: 'b' })
    expect(await scheduler.checkExists(jobKey('a'))).toBe(true)
  })

  it('stores nothing when one schedule is refused', async () => {
    const { scheduler } = await fixture()
    const wrong = defineSchedule(work, { key: 'b', every: '1m', calendarName: 'none' })
    await expect(scheduler.reconcile('s', [every('a', '1m'), wrong])).rejects.toMatchObject({
      code: 'ERR_CALENDAR_NOT_FOUND',
      message: expect.stringContaining('DEFAULT.b') as string,
    })
    expect(await scheduler.checkExists(jobKey('a'))).toBe(false)
  })

  it('refuses a name of a set that a database could not keep', async () => {
    const { scheduler } = await fixture()
    for (const name of ['n\0', 'n\ud800', ' ', 'n'.repeat(201)]) {
      await expect(scheduler.reconcile(name, [])).rejects.toMatchObject({ field: 'name' })
    }
    expect(names(await scheduler.reconcile('\u{1f600}', []))).toEqual(nothing)
  })

  it('says which schedule of the set is refused', async () => {
    const { scheduler } = await fixture()
    for (const when of [{}, { every: 'often' }, { daily: '7' }, { cron: '61 * * * *' }]) {
      // By hand: defineSchedule would refuse it.
      const wrong = { job: work, options: { key: 'b', ...when } } as unknown as ScheduleDefinition
      const schedules = [every('a', '1m'), wrong]
      const says = (text: string) => ({ message: expect.stringContaining(text) as string })
      await expect(scheduler.reconcile('s', schedules)).rejects.toMatchObject(
        says("reconcile, schedules[1] 'b': "),
      )
      await expect(createScheduler({ schedules })).rejects.toMatchObject(
        says("createScheduler, schedules[1] 'b': "),
      )
    }
  })

  it('stores nothing when a schedule has the key of the trigger of another job, and says so in a dry run', async () => {
    const { scheduler, job, everySecond } = await fixture()
    await scheduler.reconcile('s', [every('a', '1m')])
    await scheduler.scheduleJob(job('built'), everySecond('taken'))
    const set = [every('a', '2m'), every('b', '1m'), every('taken', '1m')]
    for (const options of [{ dryRun: true }, {}]) {
      await expect(scheduler.reconcile('s', set, options)).rejects.toMatchObject({
        code: 'ERR_OBJECT_ALREADY_EXISTS',
        message: expect.stringContaining('DEFAULT.taken') as string,
      })
    }
    expect(await scheduler.checkExists(jobKey('b'))).toBe(false)
    expect(names(await scheduler.reconcile('s', [every('a', '1m')]))).toEqual({ ...nothing, unchanged: 'a' })
  })

  it.each<[string, string | null]>([
    ['is gone', null],
    ['is no JSON', 'junk'],
    ['has no nodes', '{"members":[],"nodes":null}'],
    ['has members that are none', '{"generation":9,"digest":"","version":null,"members":[[7]],"nodes":{}}'],
    [
      'is older than the jobs',
      '{"generation":1,"digest":"d","version":null,"members":[],"nodes":{},"superseded":[]}',
    ],
  ])('changes its jobs when the record of the set %s', async (_, text) => {
    const store = new RAMJobStore()
    const { scheduler } = await schedulerFixture({ jobs: [work], jobStore: store })
    for (const interval of ['1m', '2m', '3m', '4m'])
      await scheduler.reconcile('s', [every('a', interval), every('b', '1m')])
    const version = (await store.notes.list('schedules'))[0]?.version ?? Number.NaN
    await (text === null
      ? store.notes.delete('schedules', 's', version)
      : store.notes.put('schedules', 's', text, version))
    const set = [every('a', '5m'), every('b', '1m')]
    const foreseen = await scheduler.reconcile('s', set, { dryRun: true })
    expect(names(foreseen)).toEqual({ ...nothing, changed: 'a', unchanged: 'b' })
    expect(names(await scheduler.reconcile('s', set))).toEqual(names(foreseen))
    expect(names(await scheduler.reconcile('s', set))).toEqual({ ...nothing, unchanged: 'a b' })
    expect(names(await scheduler.reconcile('s', [every('a', '5m')]))).toEqual({
      ...nothing,
      unchanged: 'a',
      removed: 'b',
    })
  })

  describe.each([
    { name: 'RAM', make: () => new RAMJobStore() },
    { name: 'SQLite', make: () => sqliteJobStore({ filename: ':memory:' }) },
  ])('on $name, when the record of the set', ({ make }) => {
    it('was lost, and other keys were declared since: an empty set takes its jobs away', async () => {
      const jobStore = make()
      const { scheduler } = await schedulerFixture({ jobs: [work], jobStore })
      for (const interval of ['1m', '2m', '3m']) await scheduler.reconcile('s', [every('a', interval)])
      const [record] = (await jobStore.notes?.list('schedules')) ?? []
      await jobStore.notes?.delete('schedules', 's', record?.version ?? Number.NaN)
      expect(names(await scheduler.reconcile('s', [every('z', '1m')]))).toEqual({ ...nothing, added: 'z' })
      expect(names(await scheduler.reconcile('s', []))).toEqual({ ...nothing, removed: 'z a' })
    })

    it('has the version of a newer program: an older one that declares the same leaves it', async () => {
      const jobStore = make()
      const { scheduler } = await schedulerFixture({ jobs: [work], jobStore })
      for (const options of [{ version: 3 }, { version: 2 }, {}])
        await scheduler.reconcile('s', [every('a', '1m')], options)
      const [record] = (await jobStore.notes?.list('schedules')) ?? []
      expect(JSON.parse(record?.text ?? '')).toMatchObject({ version: 3 })
    })

    const older = '{"generation":1,"digest":"d","version":null,"members":[],"nodes":{},"superseded":[]}'
    it.each<[string, string | null, readonly string[]]>([
      ['was lost', null, ['a']],
      ['was lost, and nothing is declared any more', null, []],
      ['is no JSON, and other keys are declared', 'junk', ['z']],
      ['is older than the jobs', older, ['a', 'z']],
    ])('%s: finds its jobs by their marks, and no others', async (_, text, keys) => {
      const jobStore = make()
      const { scheduler } = await schedulerFixture({ jobs: [work], jobStore })
      for (const interval of ['1m', '2m', '3m'])
        await scheduler.reconcile('s', [every('a', interval), every('b', '1m'), every('c', '1m')])
      await scheduler.reconcile('other', [every('o', '1m')])
      await scheduler.schedule(work, { key: 'single', every: '1m' })
      const { notes } = jobStore
      const record = (await notes?.list('schedules'))?.find(({ name }) => name === 's')
      const version = record?.version ?? Number.NaN
      await (text === null
        ? notes?.delete('schedules', 's', version)
        : notes?.put('schedules', 's', text, version))
      const set = keys.map((key) => every(key, '3m'))
      const removed = ['a', 'b', 'c'].filter((key) => !keys.includes(key)).join(' ')
      const foreseen = await scheduler.reconcile('s', set, { dryRun: true })
      expect(names(foreseen)).toMatchObject({ removed, deferred: false })
      expect(names(await scheduler.reconcile('s', set))).toEqual(names(foreseen))
      const left = await scheduler.getJobKeys(GroupMatcher.anyGroup())
      expect(left.map(({ name }) => name).toSorted()).toEqual([...keys, 'o', 'single'].toSorted())
      expect(names(await scheduler.reconcile('s', set))).toEqual({ ...nothing, unchanged: keys.join(' ') })
    })
  })

  it('refuses one set more than can be found again', async () => {
    const store = new RAMJobStore()
    const { scheduler } = await schedulerFixture({ jobs: [work], jobStore: store })
    for (let count = 1; count < 1000; count++) await store.notes.put('schedules', `s-${count}`, '', null)
    const last = [every('a', '1m')]
    expect(names(await scheduler.reconcile('t', last))).toEqual({ ...nothing, added: 'a' })
    expect(names(await scheduler.reconcile('t', last))).toEqual({ ...nothing, unchanged: 'a' })
    for (const name of ['a', 'z']) {
      await expect(scheduler.reconcile(name, [every('b', '1m')])).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        field: 'name',
      })
    }
    expect(await scheduler.checkExists(jobKey('b'))).toBe(false)
  })

  it('goes on where the one before it was interrupted', async () => {
    const { scheduler, store } = await fixture()
    const set = [every('a', '1m'), every('b', '1m')]
    await scheduler.reconcile('s', [every('old', '1m')])
    store.failOn({ operation: 'deletePlanned', error: new Error('away') })
    await expect(scheduler.reconcile('s', set)).rejects.toThrow('away')
    expect(names(await scheduler.reconcile('s', set))).toEqual({
      ...nothing,
      unchanged: 'a b',
      removed: 'old',
    })
  })

  it('is gone through again by the node when the store failed half way', async () => {
    const { scheduler, store, clock } = await fixture()
    await scheduler.reconcile('s', [every('a', '1m'), every('old', '1m')])
    store.failOn({ operation: 'putPlanned', nth: 2, error: new Error('away') })
    const set = [every('a', '2m'), every('b', '2m')]
    await expect(scheduler.reconcile('s', set)).rejects.toThrow('away')
    expect(await scheduler.checkExists(jobKey('b'))).toBe(false)
    const removed = scheduler.events.next('jobDeleted')
    await clock.advance(60_000)
    await removed
    expect(await scheduler.checkExists(jobKey('b'))).toBe(true)
    expect(names(await scheduler.reconcile('s', set))).toEqual({ ...nothing, unchanged: 'a b' })
    await scheduler.shutdown()
  })

  it('keeps the phase of an interval through a change and back', async () => {
    const { scheduler, clock } = await fixture()
    await scheduler.reconcile('s', [every('a', '1h')])
    await scheduler.start()
    await scheduler.idle()
    const firstMs = clock.now()
    await clock.advance(600_000)
    await scheduler.reconcile('s', [every('a', '2h')])
    expect(await nextOf(scheduler, 'a')).toBe(firstMs + 7_200_000)
    await scheduler.reconcile('s', [every('a', '1h')])
    expect(await nextOf(scheduler, 'a')).toBe(firstMs + 3_600_000)
    await scheduler.shutdown()
  })
})

describe('the schedules of createScheduler', () => {
  it('are in force when it resolves', async () => {
    await using scheduler = await createScheduler({
      clock: new ManualClock(),
      logger: false,
      jobs: [work],
      schedules: { name: 'mine', version: 3, schedules: [every('a', '1m')] },
    })
    expect(await scheduler.checkExists(jobKey('a'))).toBe(true)
    expect(names(await scheduler.reconcile('mine', []))).toEqual({ ...nothing, removed: 'a' })
  })

  it('make it fail when they are refused', async () => {
    const schedules = [defineSchedule('unheard of', { key: 'k', every: '1m' })]
    await expect(createScheduler({ logger: false, jobs: [work], schedules })).rejects.toMatchObject({
      code: 'ERR_UNKNOWN_JOB_TYPE',
    })
  })
})
