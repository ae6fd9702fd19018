import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineDataflowJob,
  defineJob,
  type EndedSharding,
  JobBuilder,
  JobExecutionError,
  type JobListener,
  jobKey,
  type Scheduler,
  type SchedulerOptions,
  type Shard,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreCapabilities } from '../../src/jobstore/job-store-capabilities.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { ManualClock } from '../../src/testing.ts'

async function open(options: SchedulerOptions): Promise<{ scheduler: Scheduler; clock: ManualClock }> {
  const clock = new ManualClock()
  const scheduler = await createScheduler({ clock, logger: false, ...options })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  return { scheduler, clock }
}

const now = (clock: ManualClock) =>
  TriggerBuilder.newTrigger({ clock }).withIdentity('t').startAt(new Date(clock.now())).build()

const everyMinute = (clock: ManualClock) =>
  now(clock).getTriggerBuilder().withSchedule(SimpleScheduleBuilder.repeatMinutelyForever()).build()

describe('a sharded job', () => {
  test('runs one execution for each item, each with its shard', async () => {
    const seen: (Shard | null)[] = []
    const origins: string[] = []
    const work = defineJob('work', ({ shard, originalTriggerKey }) => {
      seen.push(shard)
      origins.push(originalTriggerKey.group)
    })
    const { scheduler, clock } = await open({ jobs: [work] })
    const ended: EndedSharding[] = []
    scheduler.events.on('allShardsDone', ({ firing }) => ended.push(firing))
    const told: string[] = []
    const listener: JobListener = {
      name: 'ends',
      allShardsDone: ({ jobKey: key, items }) => {
        told.push(`${key.name} ${String(items.length)}`)
      },
    }
    scheduler.listenerManager.addJobListener(listener)
    const job = JobBuilder.newJob(work)
      .withIdentity('sharded')
      .withSharding({ items: 3, parameters: { 0: 'north', 2: 'south' } })
      .build()
    await scheduler.scheduleJob(job, now(clock))
    await scheduler.idle()
    const firingId = ended[0]?.fireInstanceId
    expect(seen.sort((a, b) => (a?.item ?? 0) - (b?.item ?? 0))).toEqual([
      { item: 0, total: 3, parameter: 'north', firingId },
      { item: 1, total: 3, parameter: null, firingId },
      { item: 2, total: 3, parameter: 'south', firingId },
    ])
    expect(new Set(origins)).toEqual(new Set(['SHARDED_JOBS']))
    expect(ended).toHaveLength(1)
    expect(ended[0]).toMatchObject({ outcome: 'succeeded', triggerKey: { name: 't' }, errorText: null })
    expect(told).toEqual(['sharded 3'])
    expect(await scheduler.checkExists(jobKey('sharded'))).toBe(false)
  })

  test('fails in a row as a firing, whatever the order in which its items end', async () => {
    const work = defineJob('work', async ({ shard }) => {
      // The one that ends well ends last.
      if (shard?.item === 0) throw new JobExecutionError('north is closed')
      await Promise.resolve()
    })
    const { scheduler, clock } = await open({ jobs: [work] })
    const job = JobBuilder.newJob(work).withIdentity('sharded').withSharding({ items: 3 }).build()
    await scheduler.scheduleJob(job, everyMinute(clock))
    await scheduler.idle()
    await clock.advance(60_000)
    await scheduler.idle()
    await clock.advance(2000)
    const [status] = (await scheduler.queryJobStatus({ jobKeys: [job.key], days: 1, take: 1 })).items
    expect(status).toMatchObject({ lastOutcome: 'failed', consecutiveFailures: 2, lastSuccessTimeMs: null })
    expect(status?.lastErrorText).toContain('north is closed')
    expect(status?.days[0]?.counts).toMatchObject({ failed: 2, succeeded: 4 })
  })

  test('is tried again item by item, and keeps the planned instant', async () => {
    const runs: string[] = []
    const work = defineJob(
      'work',
      ({ shard, attempt, scheduledFireTime }) => {
        runs.push(
          `${String(shard?.item)}/${String(attempt)} ${String(scheduledFireTime.getTime() - startMs)}`,
        )
        if (shard?.item === 1) throw new JobExecutionError('no', { unscheduleAllTriggers: attempt === 2 })
      },
      { retry: { attempts: 3, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } },
    )
    const jobStore = ramJobStore({ history: { record: 'all' } })
    const { scheduler, clock } = await open({ jobs: [work], jobStore })
    const startMs = clock.now()
    const done = scheduler.events.next('allShardsDone')
    const job = JobBuilder.newJob(work)
      .withIdentity('sharded')
      .storeDurably()
      .withSharding({ items: 2 })
      .build()
    await scheduler.scheduleJob(job, everyMinute(clock))
    await scheduler.idle()
    for (let count = 0; count < 3; count++) {
      await clock.advance(1000)
      await scheduler.idle()
    }
    expect(runs).toEqual(['0/1 0', '1/1 0', '1/2 0', '1/3 0'])
    const { firing } = await done
    expect(firing.outcome).toBe('failed')
    expect(firing.items.map(({ outcome }) => outcome)).toEqual(['succeeded', 'failed'])
    const { items } = await scheduler.queryExecutions({ firingId: firing.fireInstanceId })
    expect(items.map(({ attempt, shard }) => [shard?.item, attempt]).sort()).toEqual([
      [0, 1],
      [1, 1],
      [1, 2],
      [1, 3],
    ])
    // An item that asks to unschedule everything does not stop the trigger.
    expect(await scheduler.getTriggerState(now(clock).key)).toBe('NORMAL')
  })

  test('leaves an item out that is turned off, and shows what is open', async () => {
    let release = (): void => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const work = defineJob('work', () => gate)
    const { scheduler, clock } = await open({ jobs: [work], instanceId: 'one' })
    const key = jobKey('sharded')
    await scheduler.addJob(
      JobBuilder.newJob(work).withIdentity(key).storeDurably().withSharding({ items: 2 }).build(),
    )
    expect(await scheduler.disableShard(key, 1)).toBe(true)
    const began = scheduler.events.next('jobToBeExecuted')
    const done = scheduler.events.next('allShardsDone')
    await scheduler.triggerJob(key)
    await began
    const overview = await scheduler.getShards(key)
    expect(overview?.disabledItems).toEqual([1])
    expect(overview?.firings[0]?.items).toMatchObject([
      { item: 0, owner: 'one', state: 'given' },
      { item: 1, state: 'ended', outcome: 'disabled' },
    ])
    release()
    await done
    expect(await scheduler.enableShard(key, 1)).toBe(true)
    expect(await scheduler.getShards(key)).toEqual({ jobKey: key, firings: [], disabledItems: [] })
    await expect(scheduler.disableShard(key, 1000)).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
    await clock.advance(0)
  })

  test('whose class cannot be made fails as a firing, and fires again', async () => {
    class Broken {
      constructor() {
        throw new Error('no class')
      }
      execute(): void {}
    }
    const { scheduler, clock } = await open({ jobs: [Broken] })
    const done = scheduler.events.next('allShardsDone')
    const job = JobBuilder.newJob(Broken).withIdentity('sharded').withSharding({ items: 2 }).build()
    await scheduler.scheduleJob(job, everyMinute(clock))
    expect((await done).firing.items.map(({ outcome }) => outcome)).toEqual(['failed', 'failed'])
    await scheduler.idle()
    expect(await scheduler.getTriggerState(now(clock).key)).toBe('NORMAL')
  })

  test.each([
    ['disallowConcurrentExecution', (builder: JobBuilder) => builder.disallowConcurrentExecution()],
    ['persistJobDataAfterExecution', (builder: JobBuilder) => builder.persistJobDataAfterExecution()],
  ])('is refused with %s', async (setting, change) => {
    const work = defineJob('work', () => {})
    const { scheduler, clock } = await open({ jobs: [work] })
    const job = change(JobBuilder.newJob('work').withSharding({ items: 2 })).build()
    await expect(scheduler.scheduleJob(job, now(clock))).rejects.toThrow(setting)
  })

  test('is refused by a store that does not split firings', async () => {
    class Plain extends DelegatingJobStore {
      override get capabilities(): JobStoreCapabilities {
        return { ...super.capabilities, sharding: false }
      }
      override get shards(): null {
        return null
      }
    }
    const work = defineJob('work', () => {})
    const { scheduler, clock } = await open({ jobs: [work], jobStore: new Plain(ramJobStore()) })
    const job = JobBuilder.newJob(work).withIdentity('sharded').withSharding({ items: 2 }).build()
    const refused = { code: 'ERR_NOT_SUPPORTED' }
    await expect(scheduler.scheduleJob(job, now(clock))).rejects.toMatchObject(refused)
    await expect(scheduler.disableShard(job.key, 0)).rejects.toMatchObject(refused)
    await expect(scheduler.getShards(job.key)).rejects.toMatchObject(refused)
  })
})

describe('withSharding', () => {
  const build = (options: unknown) => () => JobBuilder.newJob('work').withSharding(options as never)

  test.each([
    ['nothing', undefined, 'ERR_INVALID_ARGUMENT'],
    ['an unknown option', { items: 1, item: 2 }, 'ERR_INVALID_OPTION'],
    ['no items', { items: 0 }, 'ERR_INVALID_OPTION'],
    ['too many items', { items: 1001 }, 'ERR_INVALID_OPTION'],
    ['another word', { items: 'all' }, 'ERR_INVALID_OPTION'],
    ['an unknown strategy', { items: 1, strategy: 'best' }, 'ERR_INVALID_OPTION'],
    ['a parameter of no item', { items: 2, parameters: { 2: 'a' } }, 'ERR_INVALID_OPTION'],
    ['a parameter under a name', { items: 2, parameters: { a: 'a' } }, 'ERR_INVALID_OPTION'],
    ['a parameter that is no text', { items: 2, parameters: { 0: 1 } }, 'ERR_INVALID_OPTION'],
    ['a long parameter', { items: 2, parameters: { 0: 'x'.repeat(1001) } }, 'ERR_INVALID_OPTION'],
    ['an unknown misfire', { items: 1, misfire: 'wait' }, 'ERR_INVALID_OPTION'],
  ])('refuses %s', (_what, options, code) => {
    expect(build(options)).toThrow(expect.objectContaining({ code }))
  })

  test('fills in what is left out, and says whether items are recovered', () => {
    const job = JobBuilder.newJob('work').withSharding({ items: 4 }).build()
    const defaults = { strategy: 'sticky', parameters: {}, misfire: 'runOnce' }
    expect(job.sharding).toEqual({ items: 4, ...defaults })
    expect(Object.isFrozen(job.sharding)).toBe(true)
    expect(job.requestsRecovery).toBe(true)
    expect(JobBuilder.from(job).build()).toEqual(job)
    const split = (builder: JobBuilder): boolean =>
      builder.withSharding({ items: 4 }).build().requestsRecovery
    expect(split(JobBuilder.newJob('work').requestRecovery(false))).toBe(false)
    expect(JobBuilder.newJob('work').withSharding({ items: 4 }).requestRecovery(false).build()).toMatchObject(
      {
        requestsRecovery: false,
      },
    )
    expect(split(JobBuilder.from(JobBuilder.newJob('work').build()))).toBe(true)
    expect(JobBuilder.from(job).withSharding(null).build()).toMatchObject({ sharding: null })
    expect(JobBuilder.newJob('work').withSharding({ items: 'nodes' }).build().requestsRecovery).toBe(false)
  })
})

describe('a dataflow job', () => {
  const rowsOf = (left: number[][]) => ({
    fetch: ({ item }: Shard) => left[item]?.splice(0, 2) ?? [],
  })

  test('goes on while there are rows, each item its own', async () => {
    const left = [[1, 2, 3], [4]]
    const worked: number[][] = []
    const flow = defineDataflowJob<number>('flow', {
      ...rowsOf(left),
      process: (rows) => worked.push([...rows]),
    })
    const { scheduler, clock } = await open({ jobs: [flow] })
    const results: unknown[] = []
    scheduler.events.on('jobWasExecuted', ({ context }) => results.push(context.result))
    const job = JobBuilder.newJob(flow).withIdentity('flow').withSharding({ items: 2 }).build()
    await scheduler.scheduleJob(job, now(clock))
    await scheduler.idle()
    expect(worked.sort()).toEqual([[1, 2], [3], [4]])
    expect(results).toContainEqual({ rows: 3, rounds: 2, isDone: true })
    expect(results).toContainEqual({ rows: 1, rounds: 1, isDone: true })
  })

  test('ends after maxRounds, is item 0 of 1 in a job that is not sharded, and refuses what is no list', async () => {
    const shards: Shard[] = []
    const endless = defineDataflowJob<number>(
      'endless',
      {
        fetch: (shard) => {
          shards.push(shard)
          return [1]
        },
        process: () => {},
      },
      { maxRounds: 3 },
    )
    const flow = { fetch: () => [1], process: () => {}, maxRounds: 3 }
    expect(() => defineDataflowJob('misplaced', flow)).toThrow(/'maxRounds' is an option.* third argument/)
    class Flow {
      readonly maxRounds = 3
      readonly fetch = flow.fetch
      readonly process = flow.process
    }
    expect(defineDataflowJob('of a class', new Flow()).jobType).toBe('of a class')
    const wrong = defineDataflowJob('wrong', { fetch: () => 'rows' as never, process: () => {} })
    const { scheduler, clock } = await open({ jobs: [endless, wrong] })
    const ends: unknown[] = []
    scheduler.events.on('jobWasExecuted', ({ context, error }) => ends.push(error?.message ?? context.result))
    await scheduler.scheduleJob(JobBuilder.newJob(endless).build(), now(clock))
    await scheduler.idle()
    expect(ends).toEqual([{ rows: 3, rounds: 3, isDone: false }])
    expect(shards).toHaveLength(3)
    expect(shards[0]).toMatchObject({ item: 0, total: 1, parameter: null })
    await scheduler.scheduleJob(JobBuilder.newJob(wrong).build(), now(clock))
    await scheduler.idle()
    expect(ends.at(-1)).toMatch(/array from fetch/)
  })

  test('ends between two rounds when it is interrupted', async () => {
    let rounds = 0
    const flow = defineDataflowJob<number>('flow', {
      fetch: () => [1],
      process: async (_rows, { scheduler, fireInstanceId }) => {
        rounds++
        await (scheduler as Scheduler).interrupt({ fireInstanceId })
      },
    })
    const { scheduler, clock } = await open({ jobs: [flow] })
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(JobBuilder.newJob(flow).build(), now(clock))
    expect((await ended).error?.code).toBe('ERR_JOB_INTERRUPTED')
    expect(rounds).toBe(1)
  })

  test('lets interrupts arrive between two rounds, although nothing in a round waits', async () => {
    let rounds = 0
    const flow = defineDataflowJob<number>('flow', {
      fetch: (_shard, { scheduler, fireInstanceId }) => {
        if (rounds === 0) setImmediate(() => void (scheduler as Scheduler).interrupt({ fireInstanceId }))
        return [1]
      },
      process: () => rounds++,
    })
    const { scheduler, clock } = await open({ jobs: [flow] })
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.scheduleJob(JobBuilder.newJob(flow).build(), now(clock))
    expect((await ended).error?.code).toBe('ERR_JOB_INTERRUPTED')
    expect(rounds).toBeLessThan(10)
  })

  test.each([0, 1_000_001, 1.5])('refuses %d rounds', (maxRounds) => {
    const flow = { fetch: () => [], process: () => {} }
    expect(() => defineDataflowJob('flow', flow, { maxRounds })).toThrow(/maxRounds/)
  })
})
