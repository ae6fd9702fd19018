import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobBuilder,
  JobExecutionError,
  jobKey,
  type RemoteExecution,
  type RemoteJobContext,
  type RemoteJobOptions,
  type ResultTaker,
  ramJobStore,
  type Scheduler,
  SchedulerError,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../../src/index.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'

interface Rig {
  readonly scheduler: Scheduler
  readonly clock: ManualClock
  /** Events of executions, in words. */
  readonly told: string[]
  readonly errors: SchedulerError[]
}

const theJob = jobKey('billing')
const codeOf = (error: unknown) => (SchedulerError.is(error) ? error.code : error)

/** A started scheduler whose one job fires every minute and forbids concurrent execution. */
async function open(
  send: (context: RemoteJobContext) => unknown,
  options: RemoteJobOptions & { readonly store?: JobStore } = {},
): Promise<Rig> {
  const { store = ramJobStore(), ...jobOptions } = options
  const clock = new ManualClock()
  const billing = defineRemoteJob('billing', send, { disallowConcurrentExecution: true, ...jobOptions })
  const scheduler = await createScheduler({
    clock,
    logger: false,
    jobs: [billing],
    jobStore: store,
    threadPool: { size: 1 },
  })
  onTestFinished(() => scheduler.shutdown())
  const told: string[] = []
  const errors: SchedulerError[] = []
  const { events } = scheduler
  events.on('jobToBeExecuted', () => told.push('begins'))
  events.on('jobWasExecuted', ({ context, error }) => {
    told.push(
      error === null ? `succeeded ${String(context.result)} after ${context.jobRunTimeMs}` : error.message,
    )
  })
  events.on('jobRetryScheduled', ({ attempt }) => told.push(`attempt ${attempt} follows`))
  events.on('resultLate', ({ reference }) => told.push(`late ${reference}`))
  events.on('schedulerError', ({ error }) => errors.push(error))
  await scheduler.start()
  const job = JobBuilder.newJob(billing).withIdentity(theJob).build()
  const trigger = TriggerBuilder.newTrigger({ clock })
    .withIdentity('t')
    .startAt(new Date(clock.now()))
    .withSchedule(SimpleScheduleBuilder.repeatMinutelyForever())
  await scheduler.scheduleJob(job, trigger.build())
  await scheduler.idle()
  return { scheduler, clock, told, errors }
}

const awaiting =
  (reference: string, timeoutMs = 600_000) =>
  (context: RemoteJobContext) =>
    context.awaitResult({ reference: `${reference}-${context.attempt}`, note: 'http://there', timeoutMs })

describe.each([
  ['memory', () => ramJobStore({ history: { record: 'all' } })],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:', history: { record: 'all' } })],
] as const)('a remote job, on a store in %s', (_, makeStore) => {
  test('executes until its result is reported, and holds no slot meanwhile', async () => {
    const { scheduler, clock, told } = await open(awaiting('run'), { store: makeStore() })
    expect(told).toEqual(['begins'])
    expect(scheduler.getCurrentlyExecutingJobs()).toEqual([])
    await clock.advance(90_000)
    await scheduler.idle()
    expect(told, 'the firing blocks the next one').toEqual(['begins'])
    expect(await scheduler.awaitsResult('run-1')).toBe(true)
    expect(await scheduler.reportResult('run-1', { result: 'paid' })).toBe(true)
    await scheduler.idle()
    expect(told).toEqual(['begins', 'succeeded paid after 90000', 'begins'])
  })

  test('is in the history with the time that it took', async () => {
    const { scheduler, clock } = await open(awaiting('run'), { store: makeStore() })
    await clock.advance(5000)
    await scheduler.reportResult('run-1', { error: 'no money' })
    const { items } = await scheduler.queryExecutions()
    const [only] = items
    expect(only).toMatchObject({ outcome: 'failed' })
    expect(only?.errorText).toContain('no money')
    expect((only?.finishedTimeMs ?? 0) - (only?.fireTimeMs ?? 0)).toBe(5000)
  })

  test('is tried again by its retry policy when a failure is reported', async () => {
    const retry = { attempts: 2, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } as const
    const { scheduler, clock, told } = await open(awaiting('run'), { retry, store: makeStore() })
    await scheduler.reportResult('run-1', { error: new Error('no money') })
    await clock.advance(1000)
    await scheduler.idle()
    expect(told.slice(1)).toEqual(['Job DEFAULT.billing threw: no money', 'attempt 2 follows', 'begins'])
    expect(await scheduler.reportResult('run-2')).toBe(true)
  })

  test('may be refired when sending it has failed', async () => {
    const send = (context: RemoteJobContext) => {
      if (context.refireCount > 0) return context.awaitResult({ reference: 'run', timeoutMs: 1000 })
      throw new JobExecutionError('connection refused', { refireImmediately: true })
    }
    const { scheduler, told } = await open(send, { store: makeStore() })
    expect(await scheduler.reportResult('run', { result: 'done' })).toBe(true)
    await scheduler.idle()
    expect(told.at(-1)).toBe('succeeded done after 0')
  })

  test('may have the reference of the attempt before it', async () => {
    const again = (context: RemoteJobContext) =>
      context.awaitResult({ reference: 'order-17', timeoutMs: 60_000, onTimeout: 'retry' })
    const retry = { attempts: 3, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } as const
    const { scheduler, clock, told } = await open(again, { retry, store: makeStore() })
    await scheduler.reportResult('order-17', { error: new Error('no money') })
    await clock.advance(1000)
    await scheduler.idle()
    await clock.advance(70_000)
    await scheduler.idle()
    // The firing that was blocked may begin before the end is told.
    expect(told.slice(3).toSorted(), 'the deadline of the second attempt').toEqual([
      expect.stringContaining('has no result'),
      'attempt 3 follows',
      'begins',
      'begins',
    ])
    expect(await scheduler.reportResult('order-17', { result: 'paid' })).toBe(true)
  })

  test('ends once: a second result is late', async () => {
    const { scheduler, told } = await open(awaiting('run'), { store: makeStore() })
    const answers = await Promise.all([scheduler.reportResult('run-1'), scheduler.reportResult('run-1')])
    expect(answers.toSorted()).toEqual([false, true])
    expect(await scheduler.reportResult('run-1')).toBe(false)
    expect(await scheduler.awaitsResult('never')).toBe(false)
    expect(await scheduler.reportResult('never')).toBe(false)
    expect(told.toSorted()).toEqual([
      'begins',
      'late never',
      'late run-1',
      'late run-1',
      'succeeded undefined after 0',
    ])
  })

  test('calls no result late before the one that ended it is written', async () => {
    const store = makeStore()
    const complete = store.triggeredJobsComplete.bind(store)
    let write = (): void => {}
    const mayWrite = new Promise<void>((resolve) => {
      write = resolve
    })
    const asked = new Promise<void>((resolve) => {
      store.triggeredJobsComplete = async (completions) => {
        resolve()
        await mayWrite
        return complete(completions)
      }
    })
    const { scheduler, clock, told } = await open(awaiting('bill'), { store })
    const answers: boolean[] = []
    const report = async () => answers.push(await scheduler.reportResult('bill-1', { result: 'paid' }))
    const both = [report(), report()]
    await asked
    const all = [...both, report()]
    await clock.advance(1)
    expect(answers).toEqual([])
    write()
    await Promise.all(all)
    expect(answers.sort()).toEqual([false, false, true])
    expect(told.filter((line) => line.startsWith('late'))).toEqual(['late bill-1', 'late bill-1'])
  })

  test('has timed out when no result came, and is not tried again by itself', async () => {
    const retry = { attempts: 2, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } as const
    const { scheduler, clock, told } = await open(awaiting('run', 5000), { retry, store: makeStore() })
    await clock.advance(4999)
    await scheduler.idle()
    expect(told).toEqual(['begins'])
    await clock.advance(1)
    await scheduler.idle()
    await clock.advance(10_000)
    await scheduler.idle()
    expect(told.slice(1)).toEqual([expect.stringContaining("none was reported under 'run-1'")])
    expect(await scheduler.reportResult('run-1')).toBe(false)
    const { items } = await scheduler.queryExecutions()
    expect(items).toMatchObject([{ outcome: 'timedOut' }])
  })

  test('ends at its deadline while a listener that is told of the end of another one goes on', async () => {
    const { scheduler, clock, told } = await open((context) => context.awaitResult({ timeoutMs: 30_000 }), {
      disallowConcurrentExecution: false,
      store: makeStore(),
    })
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const first = await scheduler.cluster.executingJobs()
    scheduler.listenerManager.addJobListener({
      name: 'slow',
      jobWasExecuted: ({ fireInstanceId }) =>
        fireInstanceId === first[0]?.fireInstanceId ? held : undefined,
    })
    await clock.advance(100_000)
    expect(told.filter((each) => each.includes('has no result'))).toHaveLength(2)
    expect(await scheduler.cluster.executingJobs()).toEqual([])
    goOn()
  })

  test('has its late result as the last line of its log, once', async () => {
    const { scheduler, clock } = await open(
      async (context) => {
        context.log.info({}, 'sent')
        await awaiting('run', 5000)(context)
      },
      { store: makeStore() },
    )
    await clock.advance(5000)
    await scheduler.idle()
    const { items } = await scheduler.queryExecutions()
    const id = items[0]?.fireInstanceId ?? ''
    const late: unknown[] = []
    scheduler.events.on('resultLate', ({ fireInstanceId }) => late.push(fireInstanceId))
    const both = [scheduler.reportResult('run-1', { result: 'paid' }), scheduler.reportResult('run-1')]
    expect(await Promise.all(both)).toEqual([false, false])
    expect(await scheduler.reportResult('run-1', { error: 'no money' })).toBe(false)
    expect(late.toSorted()).toEqual([id, null, null])
    await clock.advance(1000)
    await scheduler.idle()
    const log = await scheduler.queryExecutionLog(id)
    expect(log.items).toMatchObject([
      { line: 1, message: 'sent' },
      {
        line: 2,
        level: 'warn',
        message: 'A late result came, after the deadline: it ended well',
        fieldsText: '{"reference":"run-1","result":"paid"}',
      },
    ])
    expect(await scheduler.getExecution(id)).toMatchObject({ outcome: 'timedOut' })
  })

  test('is tried again when no result came, if it says so', async () => {
    const retry = { attempts: 2, backoff: { type: 'fixed', initialMs: 1000, jitter: 0 } } as const
    const send = (context: RemoteJobContext) => context.awaitResult({ timeoutMs: 5000, onTimeout: 'retry' })
    const { scheduler, clock, told } = await open(send, { retry, store: makeStore() })
    await clock.advance(5000)
    await scheduler.idle()
    await clock.advance(1000)
    await scheduler.idle()
    expect(told.slice(2)).toEqual(['attempt 2 follows', 'begins'])
  })

  test('is stopped by an interrupt', async () => {
    const stopped: RemoteExecution[] = []
    const { scheduler, told } = await open(awaiting('run'), {
      stop: (execution) => stopped.push(execution),
      store: makeStore(),
    })
    expect(await scheduler.interrupt(theJob)).toBe(true)
    expect(stopped).toMatchObject([{ reference: 'run-1', note: 'http://there', jobKey: theJob }])
    expect(told.slice(1)).toEqual(['Job DEFAULT.billing was interrupted (interrupt).'])
    expect(await scheduler.interrupt(theJob)).toBe(false)
  })

  test('ends although it cannot be stopped', async () => {
    const { scheduler, told, errors } = await open(awaiting('run'), {
      stop: () => Promise.reject(new Error('not there')),
      store: makeStore(),
    })
    expect(await scheduler.interrupt(theJob)).toBe(true)
    expect(errors.map(({ message }) => message).join()).toContain('was not stopped')
    expect(told).toHaveLength(2)
  })

  test('has failed when it throws after it was written down', async () => {
    const { scheduler, told } = await open(
      async (context) => {
        await context.awaitResult({ reference: 'run', timeoutMs: 5000 })
        throw new Error('refused')
      },
      { store: makeStore() },
    )
    expect(told).toEqual(['begins', 'Job DEFAULT.billing threw: refused'])
    expect(await scheduler.reportResult('run')).toBe(false)
  })

  test('may be ended before it has finished sending', async () => {
    const early: boolean[] = []
    let taker: ResultTaker | null = null
    const { scheduler, told } = await open(
      async (context) => {
        await context.awaitResult({ reference: 'run', timeoutMs: 5000 })
        early.push((await taker?.reportResult('run', { result: 'early' })) === true)
        throw new Error('the answer was lost')
      },
      {
        connect: (scheduler) => {
          taker = scheduler
        },
        store: makeStore(),
      },
    )
    expect(early).toEqual([true])
    expect(told).toEqual(['begins', 'succeeded early after 0'])
    await scheduler.idle()
  })

  test('refuses a reference that is taken, and a second call', async () => {
    const codes: unknown[] = []
    const { scheduler, clock } = await open(
      async (context) => {
        const options = { reference: 'same', timeoutMs: 500_000 }
        await context.awaitResult(options).catch((error: unknown) => codes.push(codeOf(error)))
        await context.awaitResult(options).catch((error: unknown) => codes.push(codeOf(error)))
      },
      { disallowConcurrentExecution: false, store: makeStore() },
    )
    await clock.advance(60_000)
    await scheduler.idle()
    expect(codes).toEqual(['ERR_SCHEDULER_STATE', 'ERR_OBJECT_ALREADY_EXISTS', 'ERR_OBJECT_ALREADY_EXISTS'])
  })
})

describe('a remote job', () => {
  test('is written down once, also when it asks twice at once', async () => {
    const outcomes: unknown[] = []
    const store = ramJobStore()
    const { scheduler, told } = await open(
      async (context) => {
        const asked = ['a', 'b'].map((reference) => context.awaitResult({ reference, timeoutMs: 5000 }))
        for (const { status, ...rest } of await Promise.allSettled(asked)) {
          outcomes.push('reason' in rest ? codeOf(rest.reason) : status)
        }
      },
      { store },
    )
    expect(outcomes).toEqual(['fulfilled', 'ERR_SCHEDULER_STATE'])
    expect(await scheduler.reportResult('b')).toBe(false)
    expect(await scheduler.reportResult('a', { result: 'done' })).toBe(true)
    expect(told).toContain('succeeded done after 0')
    expect(await store.awaitedResults?.inFlight()).toEqual({ results: [], seen: 0 })
  })

  test('may be written down under another reference when the first one is taken', async () => {
    const { scheduler, clock } = await open(
      async (context) => {
        await context.awaitResult({ reference: 'same', timeoutMs: 500_000 }).catch(() => {
          return context.awaitResult({ reference: 'another', timeoutMs: 500_000 })
        })
      },
      { disallowConcurrentExecution: false },
    )
    await clock.advance(60_000)
    await scheduler.idle()
    expect(await scheduler.reportResult('same')).toBe(true)
    expect(await scheduler.reportResult('another')).toBe(true)
  })

  test.each([
    ['timeoutMs', {}],
    ['timeoutMs', { timeoutMs: 0 }],
    ['reference', { timeoutMs: 1, reference: '' }],
    ['note', { timeoutMs: 1, note: 'x'.repeat(4001) }],
    ['onTimeout', { timeoutMs: 1, onTimeout: 'again' }],
    ['when', { timeoutMs: 1, when: 1 }],
  ])('refuses a wrong %s', async (argument, options) => {
    const seen: unknown[] = []
    await open(async (context) => {
      await context.awaitResult(options as never).catch((error: unknown) => seen.push(codeOf(error)))
    })
    expect(argument).not.toBe('')
    expect(seen).toEqual(['ERR_INVALID_OPTION'])
  })
})

describe('sends beside the slots of the pool', () => {
  /** Four firings that are due at once, a pool of one slot, and sends that last until `goOn`. */
  async function openFour(sendsAtOnce: number) {
    const clock = new ManualClock()
    const sends: (() => void)[] = []
    const order = defineRemoteJob(
      'order',
      async (context) => {
        await context.awaitResult({ timeoutMs: 600_000 })
        await new Promise<void>((resolve) => {
          sends.push(resolve)
        })
      },
      { sendsAtOnce },
    )
    const scheduler = await createScheduler({
      clock,
      logger: false,
      jobs: [order],
      threadPool: { size: 1 },
    })
    onTestFinished(() => scheduler.shutdown())
    const job = JobBuilder.newJob(order).withIdentity('order').build()
    const triggers = [1, 2, 3, 4].map((number) =>
      TriggerBuilder.newTrigger({ clock })
        .withIdentity(`t${number}`)
        .startAt(new Date(clock.now()))
        .forJob(job)
        .build(),
    )
    await scheduler.scheduleJobs([{ job, triggers }])
    await scheduler.start()
    const running = () => scheduler.getCurrentlyExecutingJobs().length
    const begun = (count: number) => vi.waitUntil(() => sends.length === count, { timeout: 10_000 })
    return { scheduler, clock, sends, running, begun }
  }

  const shuttingDown = (scheduler: Scheduler) =>
    new Promise<void>((resolve) => {
      scheduler.events.on('schedulerShuttingdown', () => {
        resolve()
      })
    })

  test('are as many as the definition says, and then each takes a slot', async () => {
    const { scheduler, sends, running, begun } = await openFour(2)
    await begun(3)
    expect(running()).toBe(3)
    // The one in the slot.
    sends.pop()?.()
    await begun(3)
    expect(running()).toBe(3)
    for (const goOn of sends) goOn()
    await scheduler.idle()
    expect(running()).toBe(0)
  })

  test('are waited for by a shutdown that waits', async () => {
    const { scheduler, sends, begun } = await openFour(10)
    await begun(4)
    let isShutDown = false
    const ending = scheduler.shutdown({ waitForJobsToComplete: true }).then(() => {
      isShutDown = true
    })
    await shuttingDown(scheduler)
    for (const goOn of sends) {
      expect(isShutDown).toBe(false)
      goOn()
    }
    await ending
  })

  test('that outlast the time of a shutdown are counted', async () => {
    const { scheduler, clock, sends, begun } = await openFour(10)
    const left: number[] = []
    scheduler.events.on('shutdownIncomplete', ({ executions }) => left.push(executions))
    await begun(4)
    const ending = scheduler.shutdown({ waitForJobsToComplete: true, timeoutMs: 1000 })
    await shuttingDown(scheduler)
    await clock.advance(5000)
    await ending
    expect(left).toEqual([4])
    for (const goOn of sends) goOn()
  })

  test.each([0, 1.5, 10_001])('are not %s', (sendsAtOnce) => {
    expect(() => defineRemoteJob('order', () => {}, { sendsAtOnce })).toThrow('sendsAtOnce')
  })
})
