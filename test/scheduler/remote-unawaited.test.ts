import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createScheduler,
  defineRemoteJob,
  JobExecutionError,
  jobKey,
  type RemoteJobContext,
  type RemoteJobOptions,
  ramJobStore,
  SchedulerError,
} from '../../src/index.ts'
import type { AwaitedResult } from '../../src/jobstore/awaited-results.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { latch } from '../support/latch.ts'

/** Has the writing of awaited results wait until it is opened. */
function slow(store: JobStore) {
  const asked = latch()
  const written = latch()
  const { awaitedResults } = store
  if (awaitedResults === null) throw new Error('the store keeps no awaited results')
  const put = awaitedResults.put.bind(awaitedResults)
  awaitedResults.put = async (results: readonly AwaitedResult[]) => {
    asked.open()
    await written.promise
    return put(results)
  }
  return { store, asked, written }
}

async function open(
  send: (context: RemoteJobContext) => unknown,
  { store = ramJobStore(), ...options }: RemoteJobOptions & { readonly store?: JobStore } = {},
) {
  const sending = defineRemoteJob('sending', send, options)
  const scheduler = await createScheduler({ logger: false, jobs: [sending], jobStore: store })
  onTestFinished(() => scheduler.shutdown())
  const told: string[] = []
  scheduler.events.on('jobToBeExecuted', () => told.push('begins'))
  scheduler.events.on('jobWasExecuted', ({ context, error }) => {
    told.push(error === null ? `succeeded ${String(context.result)}` : error.message)
  })
  await scheduler.start()
  await scheduler.schedule(sending, { key: 'sending', in: 0 })
  return { scheduler, told }
}

const awaited = { reference: 'run', timeoutMs: 3_600_000 }

describe.each([
  ['memory', () => ramJobStore(), {}],
  ['memory with a time limit', () => ramJobStore(), { timeoutMs: 3_600_000 }],
  ['SQLite', () => sqliteJobStore({ filename: ':memory:' }), {}],
] as const)('a send that does not wait for its awaitResult, on a store in %s', (_, makeStore, options) => {
  test.each([
    ['returns at once', (context: RemoteJobContext) => void context.awaitResult(awaited)],
    [
      'is async',
      async (context: RemoteJobContext) => {
        const writing = context.awaitResult(awaited)
        await Promise.resolve()
        void writing
        return 'too early'
      },
    ],
  ])('goes on elsewhere until its result is reported, when it %s', async (_how, send) => {
    const { store, asked, written } = slow(makeStore())
    const { scheduler, told } = await open(send, { ...options, store })
    await asked.promise
    written.open()
    await scheduler.idle()
    expect(told).toEqual(['begins'])
    expect(await scheduler.reportResult('run', { result: 'paid' })).toBe(true)
    expect(told).toEqual(['begins', 'succeeded paid'])
  })

  test('has failed when it throws meanwhile, once that is written', async () => {
    const { scheduler, told } = await open(
      (context) => {
        void context.awaitResult(awaited)
        throw new Error('cannot send')
      },
      { ...options, store: makeStore() },
    )
    await scheduler.idle()
    expect(told).toEqual(['begins', expect.stringContaining('cannot send')])
    expect(await scheduler.awaitsResult('run')).toBe(false)
  })
})

test('a send has failed with the awaitResult for which it did not wait', async () => {
  const { scheduler, told } = await open((context) => void context.awaitResult(awaited))
  await scheduler.idle()
  const errors: unknown[] = []
  scheduler.events.on('jobWasExecuted', ({ error }) => errors.push(error?.cause))
  await scheduler.schedule('sending', { key: 'second', in: 0 })
  await scheduler.idle()
  expect(errors).toMatchObject([{ code: 'ERR_OBJECT_ALREADY_EXISTS' }])
  expect(told).toEqual(['begins', 'begins', expect.stringContaining("has the reference 'run'")])
})

test('a send keeps its own failure when its awaitResult fails as well', async () => {
  const { scheduler, told } = await open((context) => {
    void context.awaitResult({ ...awaited, timeoutMs: 0 })
    throw new JobExecutionError('cannot send')
  })
  await scheduler.idle()
  expect(told).toEqual(['begins', 'cannot send'])
})

test('a send that is interrupted while its awaitResult is under way ends as interrupted', async () => {
  const { store, asked, written } = slow(ramJobStore())
  const { scheduler, told } = await open((context) => void context.awaitResult(awaited), { store })
  await asked.promise
  const interrupted = scheduler.interrupt(jobKey('sending'))
  written.open()
  expect(await interrupted).toBe(true)
  await scheduler.idle()
  expect(told).toEqual(['begins', expect.stringContaining('was interrupted')])
  expect(await scheduler.awaitsResult('run')).toBe(false)
})

test('an awaitResult that comes after the end is refused and says what to do', async () => {
  const contexts: RemoteJobContext[] = []
  const { scheduler, told } = await open((context) => void contexts.push(context))
  await scheduler.idle()
  expect(told).toEqual(['begins', 'succeeded undefined'])
  const [context] = contexts
  const refused: unknown = await context?.awaitResult(awaited).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(SchedulerError)
  expect(refused).toMatchObject({
    code: 'ERR_SCHEDULER_STATE',
    message: expect.stringContaining('Await it before the job returns') as string,
  })
})

test.each([{}, { timeoutMs: 3_600_000 }])(
  'an awaitResult that follows a refused one is either of the run or refused, with %j',
  async (options) => {
    for (let turns = 0; turns < 6; turns++) {
      const second: unknown[] = []
      const { scheduler, told } = await open((context) => {
        void context
          .awaitResult({ ...awaited, timeoutMs: 0 })
          .catch(async () => {
            // What a handler does on its way may take any number of turns.
            for (let turn = 0; turn < turns; turn++) await Promise.resolve()
            await context.awaitResult(awaited)
          })
          .then(
            () => second.push('written'),
            () => second.push('refused'),
          )
      }, options)
      await scheduler.idle()
      const isWritten = second.at(-1) === 'written'
      expect([turns, told.length, await scheduler.awaitsResult('run')]).toEqual([
        turns,
        isWritten ? 1 : 2,
        isWritten,
      ])
    }
  },
)
