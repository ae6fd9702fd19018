import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createScheduler,
  defineJob,
  defineRemoteJob,
  JobBuilder,
  type JobExecutionContext,
  JobExecutionError,
  jobKey,
  TriggerBuilder,
} from '../../src/index.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { ManualClock } from '../../src/testing.ts'

const [second, hour] = [1000, 3_600_000]
const retry = { attempts: 5, backoff: { type: 'fixed', initialMs: second, jitter: 0 } } as const
const hopeless = { giveUp: true } as const

describe.each([
  { name: 'RAM', make: () => new RAMJobStore({ history: { record: 'all' } }) },
  { name: 'SQLite', make: () => sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }) },
])('a job that gives its firing up, on $name,', ({ make }) => {
  async function fixture(run: (context: JobExecutionContext) => unknown, timeoutMs: number = hour) {
    const clock = new ManualClock(new Date('2026-01-01T00:30:00Z'))
    const runs: string[] = []
    const work = defineJob(
      'work',
      (context) => {
        const hourOf = context.scheduledFireTime.getUTCHours()
        const item = context.shard === null ? '' : `.${context.shard.item}`
        runs.push(`${hourOf}${item}#${context.attempt}`)
        return run(context)
      },
      { retry, timeoutMs },
    )
    const send = defineRemoteJob(
      'send',
      (context) => context.awaitResult({ reference: 'the account', timeoutMs: hour }),
      { retry },
    )
    const scheduler = await createScheduler({ jobs: [work, send], clock, logger: false, jobStore: make() })
    onTestFinished(() => scheduler.shutdown())
    const exhausted: string[] = []
    scheduler.events.on('retriesExhausted', ({ triggerKey, attempts, error }) => {
      exhausted.push(`${triggerKey.name} ${attempts} ${error.message}`)
    })
    const again: boolean[] = []
    scheduler.events.on('jobWasExecuted', ({ context }) => again.push(context.runsAgain))
    await scheduler.start()
    const advance = async (ms: number): Promise<void> => {
      await clock.advance(ms)
      await scheduler.idle()
    }
    return { scheduler, clock, work, send, runs, exhausted, again, advance }
  }

  it.each([1, 2])('in attempt %i, has no other attempt, and its schedule goes on', async (last) => {
    const { scheduler, work, runs, exhausted, again, advance } = await fixture(({ attempt }) => {
      if (attempt < last) throw new Error('may pass')
      throw new JobExecutionError('card declined', hopeless)
    })
    await scheduler.schedule(work, { key: 'nightly', cron: '0 * * * *', zone: 'UTC' })
    await advance(2 * hour)
    const attempts = Array.from({ length: last }, (_, index) => index + 1)
    expect(runs).toEqual([1, 2].flatMap((at) => attempts.map((attempt) => `${at}#${attempt}`)))
    expect(exhausted).toEqual([`nightly ${last} card declined`, `nightly ${last} card declined`])
    expect(again).toEqual([1, 2].flatMap(() => attempts.map((attempt) => attempt < last)))
    expect(await scheduler.getTriggerState('nightly')).toBe('NORMAL')
    const { items } = await scheduler.queryExecutions({ outcome: 'failed' })
    expect(items[0]?.attempt).toBe(last)
    expect(items[0]?.errorText).toContain('card declined')
  })

  it('is gone with its trigger where that does not fire again', async () => {
    const { scheduler, clock, work, runs, advance } = await fixture(() => {
      throw new JobExecutionError('no', hopeless)
    })
    await scheduler.scheduleJob(
      JobBuilder.newJob(work).withIdentity('once').build(),
      TriggerBuilder.newTrigger({ clock }).startAt(new Date(clock.now())).build(),
    )
    await advance(hour)
    expect(runs).toHaveLength(1)
    expect(await scheduler.checkExists(jobKey('once'))).toBe(false)
  })

  it('runs again at once where it asks for that too, and is not retried behind it', async () => {
    const { scheduler, work, runs, exhausted, advance } = await fixture(({ refireCount }) => {
      throw new JobExecutionError('no', { refireImmediately: refireCount === 0, giveUp: true })
    })
    await scheduler.schedule(work, { key: 'nightly', cron: '0 * * * *', zone: 'UTC' })
    await advance(hour)
    expect(runs).toEqual(['1#1', '1#1'])
    expect(exhausted).toEqual(['nightly 1 no'])
  })

  it('gives up one item of a sharded firing, not the others', async () => {
    const { scheduler, clock, work, runs, advance } = await fixture(({ shard, attempt }) => {
      if (shard?.item === 0) throw new JobExecutionError('no', hopeless)
      if (attempt === 1) throw new Error('may pass')
    })
    const job = JobBuilder.newJob(work).withIdentity('sharded').withSharding({ items: 2 }).build()
    const ended = scheduler.events.next('allShardsDone')
    await scheduler.scheduleJob(
      job,
      TriggerBuilder.newTrigger({ clock }).startAt(new Date(clock.now())).build(),
    )
    await advance(second)
    await advance(second)
    expect(runs.toSorted()).toEqual(['0.0#1', '0.1#1', '0.1#2'])
    expect((await ended).firing).toMatchObject({ outcome: 'failed' })
  })

  it('stops when it is interrupted, instead of being tried again', async () => {
    const { scheduler, work, runs, advance } = await fixture(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new JobExecutionError('stopped for good', hopeless))
          })
        }),
    )
    const begun = scheduler.events.next('jobToBeExecuted')
    await scheduler.schedule(work, { key: 'nightly', every: '1h' })
    await begun
    expect(await scheduler.interrupt(jobKey('nightly'))).toBe(true)
    await advance(60 * second)
    expect(runs).toHaveLength(1)
    expect(await scheduler.getTriggerState('nightly')).toBe('NORMAL')
  })

  it.each([
    {
      order: 'after its time limit',
      timeoutMs: second,
      code: 'ERR_JOB_TIMEOUT',
      outcome: 'timedOut',
      text: 'Job DEFAULT.nightly ran longer than its timeoutMs of 1000 and was interrupted.',
    },
    {
      order: 'before its time limit',
      timeoutMs: 3 * second,
      code: 'ERR_JOB_EXECUTION',
      outcome: 'failed',
      text: 'card declined',
    },
  ])(
    '$order, has the code of what came first, and no other attempt',
    async ({ timeoutMs, code, outcome, text }) => {
      let decline: () => void = () => {}
      const { scheduler, clock, work, runs, exhausted, advance } = await fixture(
        () =>
          new Promise((_resolve, reject) => {
            decline = () => {
              reject(new JobExecutionError('card declined', hopeless))
            }
          }),
        timeoutMs,
      )
      const ended = scheduler.events.next('jobWasExecuted')
      const begun = scheduler.events.next('jobToBeExecuted')
      await scheduler.schedule(work, { key: 'nightly', cron: '0 * * * *', zone: 'UTC' })
      await clock.advance(hour / 2)
      await begun
      await clock.advance(2 * second)
      decline()
      const { error } = await ended
      expect(error).toMatchObject({ code, message: text, giveUp: true })
      await advance(5 * second)
      expect(runs).toEqual(['1#1'])
      expect(exhausted).toEqual([`nightly 1 ${text}`])
      const { items } = await scheduler.queryExecutions()
      expect(items.map((each) => each.outcome)).toEqual([outcome])
      expect(items[0]?.errorText).toContain('card declined')
    },
  )

  it('is told so from elsewhere, with the result of a remote job', async () => {
    const { scheduler, send, exhausted, again, advance } = await fixture(() => {})
    await scheduler.schedule(send, { key: 'nightly', cron: '0 * * * *', zone: 'UTC' })
    await advance(hour)
    const error = new JobExecutionError('no such account', hopeless)
    expect(await scheduler.reportResult('the account', { error })).toBe(true)
    await advance(60 * second)
    expect(again).toEqual([false])
    expect(exhausted).toEqual(['nightly 1 no such account'])
  })
})
