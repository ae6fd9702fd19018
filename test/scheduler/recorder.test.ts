import { describe, expect, test } from 'vitest'
import { JobPersistenceError } from '../../src/core/errors.ts'
import { seededIds } from '../../src/core/ids.ts'
import { JobKey, jobKey, triggerKey } from '../../src/core/key.ts'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { ExecutionReport } from '../../src/jobstore/execution-report.ts'
import type { JobStatusChange } from '../../src/jobstore/job-status.ts'
import type { JobStoreRecords, RecordBatch } from '../../src/jobstore/job-store-records.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { SchedulerEventEmitter } from '../../src/listeners/events.ts'
import { ListenerManager } from '../../src/listeners/listener-manager.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { Notifier } from '../../src/scheduler/notifier.ts'
import { Recorder } from '../../src/scheduler/recorder.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

/** A store that notes what it is given, and fails when it is told to. */
class NotingStore extends DelegatingJobStore {
  readonly written: RecordBatch[] = []
  refuses: (batch: RecordBatch) => boolean = () => false
  fault = new Error('away')
  takesLogLines = false
  entriesAtOnce: number | undefined = undefined
  countsCompletions = false
  gone: RegExp | null = null
  readonly looks: number[] = []
  areLooksRefused = false

  override get records(): JobStoreRecords {
    const records = super.records
    if (records === null) throw new Error('the store in memory has records')
    return Object.assign(Object.create(records) as JobStoreRecords, {
      kinds: ['statuses', 'logs', 'progress'],
      takesLogLines: this.takesLogLines,
      countsCompletions: this.countsCompletions,
      ...(this.entriesAtOnce !== undefined && { entriesAtOnce: this.entriesAtOnce }),
      ...(this.gone !== null && { worthWriting: this.#notGone }),
      write: (batch: RecordBatch): Promise<void> => {
        if (this.refuses(batch)) return Promise.reject(this.fault)
        this.written.push(batch)
        return Promise.resolve()
      },
    })
  }

  readonly #notGone = (statuses: readonly JobStatusChange[]): Promise<readonly JobStatusChange[]> => {
    if (this.areLooksRefused) return Promise.reject(new Error('away'))
    this.looks.push(statuses.length)
    return Promise.resolve(statuses.filter(({ jobKey: { name } }) => this.gone?.test(name) !== true))
  }
}

/** Name and failures of each job, by batch. */
const failuresIn = ({ written }: NotingStore): unknown[] =>
  written.map(({ statuses }) => statuses?.map(({ jobKey: { name }, failures }) => [name, failures]))

function rig() {
  const clock = new ManualClock()
  const store = new NotingStore(ramJobStore())
  const errors: string[] = []
  const dropped: unknown[] = []
  const infos: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: (fields) => dropped.push(fields),
    info: (_fields, message) => infos.push(message),
  }
  const notifier = new Notifier(new SchedulerEventEmitter(logger), new ListenerManager(), silentLogger)
  notifier.events.on('schedulerError', ({ message }) => errors.push(message))
  const recorder = new Recorder({ clock, ids: seededIds(1), instanceId: 'n', store, logger, notifier })
  const ended = (name: string, outcome: 'succeeded' | 'failed' = 'succeeded'): void => {
    recorder.note('statuses', {
      jobKey: new JobKey(name),
      fireInstanceId: name,
      outcome,
      fireTimeMs: clock.now(),
      finishedTimeMs: clock.now(),
      knownTimeMs: clock.now(),
      errorText: null,
    })
  }
  const logged = (number: number, fireInstanceId = 'a'): void => {
    recorder.note('logs', {
      fireInstanceId,
      line: { line: number, timeMs: 0, level: 'info', message: '', fieldsText: null },
    })
  }
  return { clock, store, errors, infos, dropped, recorder, ended, logged }
}

describe('the recorder', () => {
  test('writes the progress of an execution once a second at most, and always its last value', async () => {
    const { clock, store, recorder } = rig()
    let asked = 0
    for (let percent = 0; percent < 100; percent++) {
      recorder.note('progress', {
        fireInstanceId: 'a',
        progressText: () => {
          asked++
          return String(percent)
        },
      })
      await clock.advance(50)
    }
    const values = (): unknown[] =>
      store.written.flatMap(({ progress = [] }) => progress.map(({ progressText }) => progressText))
    // The last one before each second is over.
    expect(values()).toEqual(['19', '39', '59', '79', '99'])
    // A text is made of what is written alone.
    expect(asked).toBe(5)
    recorder.note('progress', { fireInstanceId: 'a', progressText: () => 'last' })
    expect(values()).toHaveLength(5)
    await recorder.close()
    expect(values().at(-1)).toBe('last')
  })

  test('writes what was gathered in a second at once, one change for each job in order', async () => {
    const { clock, store, recorder, ended, logged } = rig()
    for (const name of ['b', 'a', 'b']) ended(name, 'failed')
    logged(1)
    logged(2)
    await clock.advance(999)
    expect(store.written).toEqual([])
    await clock.advance(1)
    const [batch] = store.written
    expect(batch?.statuses?.map(({ jobKey: { name }, failures }) => [name, failures])).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    expect(batch?.logs?.map(({ lines }) => lines.length)).toEqual([2])
    await clock.advance(10_000)
    expect(store.written).toHaveLength(1)
    await recorder.close()
    expect(clock.timerCount).toBe(0)
  })

  test('notes the status of what is completed, in order of keys, unless the store counts that itself', async () => {
    const { clock, store, recorder } = rig()
    const completed = (name: string): void => {
      const report: ExecutionReport = {
        outcome: 'failed',
        errorText: 'no',
        triggerKey: triggerKey(name),
        scheduledFireTimeMs: 1,
        fireTimeMs: 1,
        finishedTimeMs: 2,
        attempt: 1,
        recovering: false,
      }
      const jobDetail = JobBuilder.newJob('any').withIdentity(name).build()
      recorder.noteCompletion({ fireInstanceId: name, jobDetail }, report)
    }
    for (const name of ['c', 'a', 'b', 'c']) completed(name)
    await clock.advance(1000)
    store.countsCompletions = true
    for (const name of ['a', 'd']) completed(name)
    expect(recorder.isBehind).toBe(false)
    await recorder.close()
    expect(failuresIn(store)).toEqual([
      [
        ['a', 1],
        ['b', 1],
        ['c', 2],
      ],
    ])
  })

  test('adds up what a store did not take and what came meanwhile, of jobs that ran once and more', async () => {
    const { clock, store, ended, recorder } = rig()
    store.refuses = () => true
    for (const name of ['a', 'b', 'b']) ended(name, 'failed')
    await clock.advance(1000)
    for (const name of ['a', 'b', 'c', 'c']) ended(name, 'failed')
    store.refuses = () => false
    await clock.advance(30_000)
    expect(failuresIn(store)).toEqual([
      [
        ['a', 2],
        ['b', 3],
        ['c', 2],
      ],
    ])
    await recorder.close()
  })

  test('keeps what a store that is away does not take, says so once, and goes on', async () => {
    const { clock, store, errors, infos, ended, recorder } = rig()
    store.refuses = () => true
    ended('a', 'failed')
    await clock.advance(1000)
    ended('a', 'failed')
    await clock.advance(120_000)
    expect(errors).toHaveLength(1)
    expect(infos).toEqual([])
    store.refuses = () => false
    await clock.advance(30_000)
    expect(store.written.map(({ statuses }) => statuses?.map(({ failures }) => failures))).toEqual([[2]])
    await clock.advance(30_000)
    expect(infos).toEqual(['Records of executions are written again.'])
    await recorder.close()
    expect(clock.timerCount).toBe(0)
  })

  test('says at the end how much a store that is away has not taken, whether or not it failed before', async () => {
    for (const failsBefore of [false, true]) {
      const { dropped, ended, errors, recorder, store } = rig()
      store.refuses = () => true
      for (let index = 0; index < 3; index++) ended(`j${index}`)
      if (failsBefore) await recorder.flush()
      errors.length = 0
      await recorder.close()
      expect(errors).toEqual([expect.stringMatching(/the shutdown does not wait for it/)])
      expect(dropped).toEqual([{ dropped: 3 }])
      ended('too late')
      expect(recorder.keeps('statuses')).toBe(false)
    }
  })

  test('tries no more where another scheduler has taken the store, which the store has told', async () => {
    const { clock, ended, errors, recorder, store, dropped } = rig()
    let tries = 0
    store.refuses = () => ++tries > 0
    store.fault = new JobPersistenceError('taken over', { code: 'ERR_STORE_IN_USE' })
    ended('a')
    await clock.advance(1000)
    ended('b')
    await clock.advance(120_000)
    await recorder.close()
    expect([tries, errors, dropped]).toEqual([1, [], [{ dropped: 1 }]])
  })

  test('lets a kind that is refused hold up no other', async () => {
    const { clock, store, ended, logged } = rig()
    store.refuses = ({ logs }) => logs !== undefined
    ended('a')
    logged(1)
    await clock.advance(1000)
    expect(store.written.map((batch) => Object.keys(batch))).toEqual([['statuses']])
    store.refuses = () => false
    await clock.advance(30_000)
    expect(store.written.map((batch) => Object.keys(batch))).toEqual([['statuses'], ['logs']])
  })

  test('writes no more entries at once than the store takes, with a turn of the event loop between', async () => {
    const { store, ended, logged, recorder } = rig()
    store.entriesAtOnce = 2
    for (const name of ['a', 'b', 'c', 'd', 'e']) ended(name)
    for (const number of [1, 2]) logged(number, `of ${number}`)
    const seen: number[] = []
    const look = (): void => {
      seen.push(store.written.length)
      if (store.written.length < 4) setImmediate(look)
    }
    setImmediate(look)
    await recorder.flush()
    const sizes = store.written.map((batch) => [batch.statuses?.length ?? 0, batch.logs?.length ?? 0])
    expect(sizes).toEqual([
      [2, 0],
      [2, 0],
      [1, 1],
      [0, 1],
    ])
    expect(seen).toEqual(expect.arrayContaining([1, 2, 3]))
  })

  test('looks before it writes which statuses the store would keep, many at once', async () => {
    const { store, ended, recorder } = rig()
    store.entriesAtOnce = 2
    store.gone = /^once/
    for (let number = 0; number < 2500; number++) ended(`once ${number}`)
    await recorder.flush()
    expect(store.looks).toEqual([1000, 1000, 500])
    expect(store.written).toEqual([])
    for (const name of ['once', 'stays', 'stays too', 'twice']) ended(name, 'failed')
    await recorder.flush()
    expect(failuresIn(store)).toEqual([
      [
        ['stays', 1],
        ['stays too', 1],
      ],
      [['twice', 1]],
    ])
  })

  test('keeps statuses while the store does not answer which of them it would keep', async () => {
    const { store, clock, errors, ended, recorder } = rig()
    store.gone = /^once/
    store.areLooksRefused = true
    for (const name of ['once', 'stays']) ended(name, 'failed')
    await recorder.flush()
    expect(errors).toHaveLength(1)
    expect(store.written).toEqual([])
    store.areLooksRefused = false
    await clock.advance(30_000)
    expect(failuresIn(store)).toEqual([[['stays', 1]]])
  })

  test('keeps of several batches only what the store has not taken, in order', async () => {
    const { store, clock, ended, recorder } = rig()
    store.entriesAtOnce = 2
    for (const name of ['a', 'b', 'c', 'd', 'e']) ended(name, 'failed')
    store.refuses = () => store.written.length === 1
    await recorder.flush()
    expect(store.written).toHaveLength(1)
    store.refuses = () => false
    await clock.advance(30_000)
    const written = store.written.flatMap(({ statuses = [] }) => statuses)
    expect(written.map(({ jobKey: { name }, failures }) => [name, failures])).toEqual(
      ['a', 'b', 'c', 'd', 'e'].map((name) => [name, 1]),
    )
  })

  test('leaves out the statuses of a batch of which the store cannot tell whether it was written', async () => {
    const { store, clock, dropped, ended, logged, recorder } = rig()
    store.entriesAtOnce = 2
    for (const name of ['a', 'b', 'c']) ended(name, 'failed')
    logged(1)
    store.fault = new JobPersistenceError('lost', { code: 'ERR_COMMIT_UNKNOWN' })
    store.refuses = () => store.written.length === 1
    await recorder.flush()
    expect(failuresIn(store)).toEqual([
      [
        ['a', 1],
        ['b', 1],
      ],
    ])
    store.refuses = () => false
    ended('c', 'failed')
    await clock.advance(30_000)
    // The first failure of `c` may be counted, or not.
    expect(failuresIn(store).slice(1)).toEqual([[['c', 1]]])
    expect(store.written.flatMap(({ logs = [] }) => logs)).toHaveLength(1)
    expect(dropped).toEqual([{ dropped: 1 }])
  })

  test('hands the lines of an execution that ended to a store that takes them so, if they are few', async () => {
    const { store, recorder, logged } = rig()
    for (let number = 1; number <= 20; number++) logged(number)
    expect(recorder.takeLogLines('a')).toBeNull()
    store.takesLogLines = true
    expect(recorder.takeLogLines('a')).toHaveLength(20)
    expect(recorder.takeLogLines('a')).toBeNull()
    for (let number = 1; number <= 21; number++) logged(number, 'b')
    expect(recorder.takeLogLines('b')).toBeNull()
    await recorder.close()
    expect(store.written.map(({ logs }) => logs?.map(({ lines }) => lines.length))).toEqual([[21]])
  })

  test('keeps a bounded rest and says how much it dropped', async () => {
    const { clock, store, dropped, logged } = rig()
    store.refuses = () => true
    await clock.advance(0)
    logged(1)
    await clock.advance(1000)
    for (let number = 2; number <= 20_003; number++) logged(1, String(number))
    await clock.advance(30_000)
    store.refuses = () => false
    await clock.advance(30_000)
    expect(dropped).toEqual([{ dropped: 3 }])
    expect(store.written[0]?.logs?.at(0)?.fireInstanceId).toBe('4')
  })

  test('writes a large rest before the second is over', async () => {
    const { clock, store, logged } = rig()
    for (let number = 1; number <= 10_000; number++) logged(number)
    await clock.settle()
    expect(store.written).toHaveLength(1)
  })
})

describe('a scheduler', () => {
  test('remembers what its executions did, were given, said and returned', async () => {
    const clock = new ManualClock()
    const work = defineJob<{ to: string; password: string }>('work', (context) => {
      const { log, mergedJobDataMap } = context
      log.debug({}, 'not kept')
      log.info({ to: mergedJobDataMap.to, token: 'x' }, 'begins')
      context.progress(10)
      context.progress({ percent: 50 })
      log.warn({}, 'ends')
      return { sent: 3 }
    })
    await using scheduler = await createScheduler({
      clock,
      logger: false,
      jobs: [work],
      jobStore: ramJobStore({ history: { record: 'all' } }),
    })
    const job = JobBuilder.newJob(work)
      .withIdentity('j')
      .usingJobData({ to: 'ops', password: 'p' })
      .storeDurably()
    await scheduler.scheduleJob(job.build(), TriggerBuilder.newTrigger({ clock }).build())
    await scheduler.start()
    await scheduler.idle()
    await scheduler.triggerJob(jobKey('j'), {}, { by: 'ann' })
    await scheduler.idle()
    const { items } = await scheduler.queryExecutions()
    expect(items.map(({ manual, triggeredBy }) => [manual, triggeredBy])).toEqual(
      expect.arrayContaining([
        [true, 'ann'],
        [false, null],
      ]),
    )
    const id = items.find(({ manual }) => !manual)?.fireInstanceId ?? ''
    expect(await scheduler.getExecution(id)).toMatchObject({
      outcome: 'succeeded',
      acquiredTimeMs: clock.now(),
      beganTimeMs: clock.now(),
      dataText: '{"to":"ops","password":"***"}',
      progressText: '{"percent":50}',
      resultText: '{"sent":3}',
      attempts: [{ fireInstanceId: id }],
    })
    const log = await scheduler.queryExecutionLog(id)
    expect(log.items.map(({ level, message, fieldsText }) => [level, message, fieldsText])).toEqual([
      ['info', 'begins', '{"to":"ops","token":"***"}'],
      ['warn', 'ends', null],
    ])
    expect(await scheduler.getJobStatus(jobKey('j'))).toMatchObject({
      lastOutcome: 'succeeded',
      consecutiveFailures: 0,
      days: [{ counts: { succeeded: 2 } }],
    })
    expect(await scheduler.getJobStatus(jobKey('none'))).toBeNull()
  })

  test('links attempts, and keeps no more lines than its store wants', async () => {
    const clock = new ManualClock()
    const bad = defineJob('bad', ({ log }) => {
      for (let line = 0; line < 10; line++) log.info('x'.repeat(3000))
      throw new Error('no paper')
    })
    await using scheduler = await createScheduler({
      clock,
      logger: false,
      jobs: [bad],
      jobStore: ramJobStore({ executionLog: { maxLines: 3 } }),
    })
    const job = JobBuilder.newJob(bad).withIdentity('j').storeDurably()
    await scheduler.scheduleJob(
      job.withRetry({ attempts: 2, backoff: { type: 'fixed', initialMs: 0 } }).build(),
      TriggerBuilder.newTrigger({ clock }).build(),
    )
    await scheduler.start()
    await scheduler.idle()
    const [second, first] = (await scheduler.queryExecutions()).items.toSorted(
      (a, b) => b.attempt - a.attempt,
    )
    expect(second?.previousFireInstanceId).toBe(first?.fireInstanceId)
    const details = await scheduler.getExecution(first?.fireInstanceId ?? '')
    expect(details?.attempts.map(({ attempt }) => attempt)).toEqual([1, 2])
    const { items } = await scheduler.queryExecutionLog(first?.fireInstanceId ?? '')
    expect(items.map(({ message }) => message.length)).toEqual([2000, 2000, expect.any(Number)])
    expect(items.at(-1)?.message).toMatch(/line 3, the last one/)
    expect((await scheduler.getJobStatus(jobKey('j')))?.consecutiveFailures).toBe(2)
  })
})
