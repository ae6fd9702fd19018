import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  JobChainingJobListener,
  JobExecutionError,
  type JobKey,
  JobPersistenceError,
  jobKey,
  type RetryOptions,
  ramJobStore,
  type Shard,
  TriggerBuilder,
} from '../../src/index.ts'
import { DelegatingJobStore, type JobStoreOperation } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import type { SchedulerSignaler } from '../../src/jobstore/scheduler-signaler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { type Fault, FaultyJobStore } from '../support/faulty-job-store.ts'
import { firing, type ShellRig, shellRig } from '../support/shell-rig.ts'

const [first, second, third] = [jobKey('first'), jobKey('second'), jobKey('third')]

/** Three jobs, of which the first one ends as it is told to, and a list of those that ran. */
async function chained(
  end: (refireCount: number, shard: Shard | null) => void,
  chain: JobChainingJobListener,
  options: {
    readonly head?: JobKey
    readonly maxRefires?: number
    readonly retry?: RetryOptions
    readonly items?: number
  } = {},
) {
  const { head = first, maxRefires = 100, retry, items } = options
  const ran: string[] = []
  const job = defineJob('noting', ({ jobKey: key, refireCount, shard }) => {
    ran.push(key.name)
    if (key.equals(head)) end(refireCount, shard)
  })
  const rig: ShellRig = await shellRig([job], { maxRefires })
  rig.scheduler.listenerManager.addJobListener(chain)
  for (const key of [second, third]) {
    await rig.scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
  }
  const builder = JobBuilder.newJob(job).withIdentity(head)
  if (retry !== undefined) builder.withRetry(retry)
  if (items !== undefined) builder.withSharding({ items })
  await rig.scheduler.scheduleJob(builder.build(), firing(rig.startMs))
  await rig.clock.advance(100)
  await rig.scheduler.shutdown()
  return { ran, errors: rig.errors }
}

function linking(...links: Parameters<JobChainingJobListener['addJobChainLink']>[]): JobChainingJobListener {
  const chain = new JobChainingJobListener('chain')
  for (const link of links) chain.addJobChainLink(...link)
  return chain
}

const fail = (): never => {
  throw new Error('failed')
}

describe('a chain of jobs', () => {
  it('runs the second when the first has ended well, and so on', async () => {
    const { ran } = await chained(() => {}, linking([first, second], [second, third]))
    expect(ran).toEqual(['first', 'second', 'third'])
  })

  it('ends where a job fails', async () => {
    const { ran, errors } = await chained(fail, linking([first, second], [second, third]))
    expect(ran).toEqual(['first'])
    expect(errors).toEqual([])
  })

  it('goes on after a failure where the link says so', async () => {
    const { ran } = await chained(fail, linking([first, second, { evenAfterFailure: true }], [first, third]))
    expect(ran).toEqual(['first', 'second'])
  })

  it('has a job followed by several', async () => {
    const { ran } = await chained(() => {}, linking([first, second], [first, third]))
    expect(ran.toSorted()).toEqual(['first', 'second', 'third'])
  })

  it('follows a job up once when it was refired', async () => {
    const { ran } = await chained(
      (refireCount) => {
        if (refireCount < 2) throw new JobExecutionError('again', { refireImmediately: true })
      },
      linking([first, second, { evenAfterFailure: true }]),
    )
    expect(ran).toEqual(['first', 'first', 'first', 'second'])
  })

  it('follows a job up once whose refires are used up', async () => {
    const { ran } = await chained(
      () => {
        throw new JobExecutionError('again', { refireImmediately: true })
      },
      linking([first, second, { evenAfterFailure: true }]),
      { maxRefires: 2 },
    )
    expect(ran).toEqual(['first', 'first', 'first', 'second'])
  })

  it.each([
    ['after its last attempt, with an end that is good', 3, ['first', 'first', 'first', 'second', 'third']],
    ['after its last attempt, with a failure', 4, ['first', 'first', 'first', 'second']],
  ])('follows a job up that is retried %s', async (_how, goodRun, expected) => {
    let runs = 0
    const { ran } = await chained(
      () => {
        if (++runs < goodRun) fail()
      },
      linking([first, second, { evenAfterFailure: true }], [first, third]),
      { retry: { attempts: 3, backoff: { initialMs: 10 } } },
    )
    expect(ran).toEqual(expected)
  })

  it('follows a job up whose failure unschedules it, which is not retried', async () => {
    const { ran } = await chained(
      () => {
        throw new JobExecutionError('no more', { unscheduleFiringTrigger: true })
      },
      linking([first, second, { evenAfterFailure: true }]),
      { retry: { attempts: 3 } },
    )
    expect(ran).toEqual(['first', 'second'])
  })

  it.each([
    ['has ended well', -1, ['second', 'third']],
    ['has failed in one item', 2, ['second']],
  ])('follows a sharded job up once that %s', async (_how, failingItem, followers) => {
    const { ran } = await chained(
      (_refireCount, shard) => {
        if (shard?.item === failingItem) fail()
      },
      linking([first, second, { evenAfterFailure: true }], [first, third]),
      { items: 4 },
    )
    expect(ran).toEqual(['first', 'first', 'first', 'first', ...followers])
  })

  it('has one follower where it is linked twice', async () => {
    const chain = linking([first, second, { evenAfterFailure: true }], [first, second])
    expect((await chained(() => {}, chain)).ran).toEqual(['first', 'second'])
    expect((await chained(fail, chain)).ran).toEqual(['first'])
  })

  it('reports a follower that does not exist, and runs the others', async () => {
    const missing = jobKey('missing')
    const { ran, errors } = await chained(() => {}, linking([first, missing], [first, third]))
    expect(ran).toEqual(['first', 'third'])
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatchObject({
      code: 'ERR_LISTENER_FAILED',
      cause: { errors: [{ code: 'ERR_JOB_NOT_FOUND' }] },
    })
  })

  it('tells jobs apart whose groups and names make one text', async () => {
    const chain = linking([jobKey('c', 'a.b'), second], [jobKey('b.c', 'a'), third])
    expect((await chained(() => {}, chain, { head: jobKey('b.c', 'a') })).ran).toEqual(['b.c', 'third'])
    expect((await chained(() => {}, chain, { head: jobKey('c', 'a.b') })).ran).toEqual(['c', 'second'])
  })

  it('refuses a job that would follow itself', () => {
    expect(() => linking([first, jobKey('first')])).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT', field: 'second' }),
    )
  })
})

it('leaves the follower to the node that has taken the firing over', async () => {
  const clock = new ManualClock()
  let signaler: SchedulerSignaler | null = null
  const store = new (class extends DelegatingJobStore {
    override initialize(context: JobStoreContext): Promise<void> {
      signaler = context.signaler
      return super.initialize(context)
    }
  })(ramJobStore())
  const ran: string[] = []
  const job = defineJob('noting', ({ jobKey: key, originalTriggerKey }) => {
    ran.push(key.name)
    if (originalTriggerKey.name === 'taken over') signaler?.recoveredByPeer()
  })
  await using scheduler = await createScheduler({ clock, jobs: [job], jobStore: store, logger: false })
  scheduler.listenerManager.addJobListener(linking([first, second, { evenAfterFailure: true }]))
  for (const key of [first, second]) {
    await scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
  }
  await scheduler.start()
  for (const name of ['taken over', 'kept']) {
    const trigger = TriggerBuilder.newTrigger({ clock }).withIdentity(name).forJob(first).build()
    await scheduler.scheduleJob(trigger)
    await scheduler.idle()
  }
  expect(ran).toEqual(['first', 'first', 'second'])
})

it('triggers the follower of a sharded job that ends while a shutdown waits for it', async () => {
  const clock = new ManualClock()
  // Each call of the store takes a while, as on a server.
  const slow = new (class extends DelegatingJobStore {
    protected override async around<Answer>(
      operation: JobStoreOperation,
      proceed: () => Promise<Answer>,
    ): Promise<Answer> {
      if (operation === 'getJob' || operation === 'scheduleJobs') {
        await new Promise<void>((resolve) => clock.setTimer(30, resolve))
      }
      return proceed()
    }
  })(ramJobStore())
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const job = defineJob('noting', () => ended)
  const errors: string[] = []
  const stored: string[] = []
  const scheduler = await createScheduler({ clock, jobs: [job], jobStore: slow, logger: false })
  scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
  scheduler.events.on('jobScheduled', ({ trigger }) => stored.push(trigger.jobKey?.name ?? ''))
  scheduler.listenerManager.addJobListener(linking([first, second]))
  const jobOf = (key: JobKey) => JobBuilder.newJob(job).withIdentity(key)
  await scheduler.addJob(jobOf(second).storeDurably().build())
  const sharded = scheduler.scheduleJob(jobOf(first).withSharding({ items: 2 }).build(), firing(clock.now()))
  await clock.advance(100)
  await sharded
  await scheduler.start()
  await clock.advance(100)
  const down = scheduler.shutdown({ waitForJobsToComplete: true })
  await clock.advance(10)
  end()
  await clock.advance(2000)
  await down
  expect([errors, stored]).toEqual([[], ['first', 'second']])
})

describe('while the store is unavailable', () => {
  const away = () => new JobPersistenceError('away', { code: 'ERR_DATABASE_UNAVAILABLE' })

  /** A first job that ends at once while the store refuses what follows, and the names of the jobs that ran. */
  async function outage(
    faults: readonly Fault[],
    {
      chain = linking([first, second], [first, third]),
      items = 0,
      scheduler: options = {},
    }: {
      readonly chain?: JobChainingJobListener
      readonly items?: number
      readonly scheduler?: Parameters<typeof shellRig>[1]
    } = {},
  ) {
    const ran: string[] = []
    const job = defineJob('noting', ({ jobKey: key }) => {
      ran.push(key.name)
    })
    const rig = await shellRig([job], options)
    onTestFinished(() => rig.scheduler.shutdown())
    rig.scheduler.listenerManager.addJobListener(chain)
    for (const key of [second, third]) {
      await rig.scheduler.addJob(JobBuilder.newJob(job).withIdentity(key).storeDurably().build())
    }
    const builder = JobBuilder.newJob(job).withIdentity(first)
    if (items > 0) builder.withSharding({ items })
    await rig.scheduler.scheduleJob(builder.build(), firing(rig.startMs))
    for (const fault of faults) rig.store.failOn(fault)
    return { ...rig, ran }
  }

  it('tries the follower again until the store answers, and the others with it', async () => {
    const { clock, errors, ran, scheduler } = await outage([
      { operation: 'scheduleJobs', times: 20, error: away() },
    ])
    await clock.advance(5000)
    expect(ran).toEqual(['first'])
    expect(scheduler.getCurrentlyExecutingJobs()).toHaveLength(1)
    await clock.advance(60_000)
    expect(ran.toSorted()).toEqual(['first', 'second', 'third'])
    expect(errors).toEqual([])
  })

  it('holds no slot for a sharded job, whose end is written', async () => {
    const { clock, errors, ran, scheduler } = await outage(
      [{ operation: 'scheduleJobs', times: 20, error: away() }],
      { items: 3 },
    )
    await clock.advance(5000)
    expect(ran).toEqual(['first', 'first', 'first'])
    expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
    await clock.advance(60_000)
    expect(ran.toSorted()).toEqual(['first', 'first', 'first', 'second', 'third'])
    expect(errors).toEqual([])
  })

  it('gives up after an hour, and names the followers and the first job', async () => {
    const { clock, errors, ran, scheduler } = await outage([
      { operation: 'scheduleJobs', times: Number.POSITIVE_INFINITY, error: away() },
    ])
    await clock.advance(3_590_000)
    expect(errors).toEqual([])
    await clock.advance(20_000)
    expect(ran).toEqual(['first'])
    expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
    expect(errors).toMatchObject([
      {
        code: 'ERR_LISTENER_FAILED',
        cause: {
          message: expect.stringContaining(
            'Jobs DEFAULT.second, DEFAULT.third, which follow DEFAULT.first, could not be triggered.',
          ) as string,
        },
      },
    ])
  })

  it('does not try again what may have been stored', async () => {
    const unknown = new JobPersistenceError('unknown', { code: 'ERR_COMMIT_UNKNOWN' })
    const { clock, errors, ran, store } = await outage([
      { operation: 'scheduleJobs', when: 'after', error: unknown },
    ])
    await clock.advance(60_000)
    expect(ran.toSorted()).toEqual(['first', 'second', 'third'])
    expect(store.callsOf('scheduleJobs')).toBe(3)
    expect(errors).toMatchObject([
      {
        cause: {
          message: expect.stringContaining('Job DEFAULT.second, which follows DEFAULT.first,') as string,
          errors: [{ code: 'ERR_COMMIT_UNKNOWN' }],
        },
      },
    ])
  })

  it('leaves the follower to the node that has taken the firing over meanwhile', async () => {
    let signaler: SchedulerSignaler | null = null
    const store = new FaultyJobStore(
      new (class extends DelegatingJobStore {
        override initialize(context: JobStoreContext): Promise<void> {
          signaler = context.signaler
          return super.initialize(context)
        }
      })(ramJobStore()),
    )
    const { clock, errors, ran } = await outage([], { scheduler: { jobStore: store } })
    store.failOn({ operation: 'scheduleJobs', times: 20, error: away() })
    await clock.advance(1000)
    ;(signaler as SchedulerSignaler | null)?.recoveredByPeer()
    await clock.advance(60_000)
    expect(ran).toEqual(['first'])
    expect(errors).toEqual([])
  })

  it('ends with a shutdown that does not wait, and says so', async () => {
    const { clock, errors, ran, scheduler } = await outage([
      { operation: 'scheduleJobs', times: Number.POSITIVE_INFINITY, error: away() },
    ])
    await clock.advance(1000)
    await Promise.all([scheduler.shutdown(), clock.advance(10_000)])
    expect(ran).toEqual(['first'])
    expect(errors).toMatchObject([
      { cause: { errors: [{ code: 'ERR_SCHEDULER_SHUTDOWN' }, { code: 'ERR_SCHEDULER_SHUTDOWN' }] } },
    ])
  })

  it('has a shutdown wait that waits for jobs', async () => {
    const { clock, errors, scheduler, store } = await outage([
      { operation: 'scheduleJobs', times: 20, error: away() },
    ])
    const stored: string[] = []
    scheduler.events.on('jobScheduled', ({ trigger }) => stored.push(trigger.jobKey?.name ?? ''))
    await clock.advance(1000)
    await Promise.all([scheduler.shutdown({ waitForJobsToComplete: true }), clock.advance(60_000)])
    expect(stored).toEqual(['second', 'third'])
    expect(store.callsOf('scheduleJobs')).toBe(23)
    expect(errors).toEqual([])
  })
})
