import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ramJobStore } from 'quartz-ts'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  keptKinds,
  type RecordOptions,
  recordOptionNames,
  resolveRecordOptions,
} from '../../src/jobstore/record-options.ts'
import { jobDetail } from '../../src/testing/job-store/testbed.ts'
import { pruningCase } from '../support/pruning-case.ts'
import {
  complete,
  dayMs,
  entry,
  open,
  type RecordStores,
  status,
  write,
  writeLater,
} from '../support/record-bed.ts'
import { recordCases } from '../support/record-cases.ts'
import { temporaryFolder } from '../support/sqlite.ts'

recordCases({
  engine: 'SQLite',
  prepare() {
    const filename = join(temporaryFolder(), 'jobs.db')
    return Promise.resolve((options) => sqliteJobStore({ filename, ...options }))
  },
})

pruningCase('SQLite', () => {
  const filename = join(temporaryFolder(), 'jobs.db')
  const database = new Database(filename)
  onTestFinished(() => {
    database.close()
  })
  return Promise.resolve({
    open: (options) => sqliteJobStore({ filename, ...options }),
    run(text) {
      const statement = database.prepare(text)
      return Promise.resolve(statement.reader ? statement.pluck().all()[0] : statement.run())
    },
  })
})

const ramStores: RecordStores = {
  engine: 'RAM',
  prepare: () => Promise.resolve((options) => ramJobStore(options)),
}

recordCases(ramStores)

test('RAM keeps the status of the last 200 deleted jobs, and of every job that exists', async () => {
  const bed = await open(ramStores, {})
  // Jobs that have not run.
  for (let index = 0; index < 500; index++) {
    await bed.store.addJob(jobDetail(`idle-${index}`, { durable: true }), { replace: false })
  }
  const names = async (): Promise<string[]> => {
    const page = await bed.store.records?.queryJobStatus({ take: 1000 })
    return (page?.items ?? []).map(({ jobKey }) => jobKey.name)
  }
  const runAndDelete = async (name: string): Promise<void> => {
    const detail = jobDetail(name, { durable: true })
    await bed.store.addJob(detail, { replace: false })
    await write(bed, { statuses: [status(bed, name)] })
    await bed.store.deleteJobs([detail.key])
  }
  await bed.store.addJob(jobDetail('kept', { durable: true }), { replace: false })
  await write(bed, { statuses: [status(bed, 'kept')] })
  for (let index = 0; index < 200; index++) await runAndDelete(`deleted-${index}`)
  expect(await names()).toHaveLength(201)
  for (let index = 200; index < 1000; index++) {
    await runAndDelete(`deleted-${index}`)
    expect(await names()).toHaveLength(201)
  }
  expect(await names()).toEqual(expect.arrayContaining(['kept', 'deleted-800', 'deleted-999']))
  // One that is stored again exists, and has the status that it had.
  await bed.store.addJob(jobDetail('deleted-800', { durable: true }), { replace: false })
  for (let index = 1000; index < 1300; index++) await runAndDelete(`deleted-${index}`)
  expect(await names()).toHaveLength(202)
  expect(await names()).toContain('deleted-800')
})

test('RAM counts executions as they are completed, but not those of a job that is gone without a status', async () => {
  const bed = await open(ramStores, { jobStatus: { maxDays: 2 } })
  const run = async (trigger: string, outcome: 'succeeded' | 'failed' = 'succeeded'): Promise<void> => {
    await complete(bed, await bed.start(trigger), { outcome })
  }
  const statuses = async (): Promise<unknown> => {
    const page = await bed.store.records?.queryJobStatus({ days: 366 })
    return page?.items.map(({ jobKey, consecutiveFailures, days }) => [
      jobKey.name,
      consecutiveFailures,
      days.map(({ counts }) => counts.succeeded + counts.failed),
    ])
  }
  await bed.schedule('once', { job: jobDetail('gone') })
  await run('once')
  expect(await statuses()).toEqual([])

  // The last run of this one deletes it, and it has a status by then.
  await bed.schedule('first', { job: jobDetail('job') })
  await bed.schedule('second', { job: jobDetail('job') })
  await run('first', 'failed')
  expect(await statuses()).toEqual([['job', 1, [1]]])
  await run('second', 'failed')
  expect(await statuses()).toEqual([['job', 2, [2]]])
  expect(await bed.store.getJobs([jobDetail('job').key])).toEqual([])

  await bed.schedule('kept', { job: jobDetail('kept', { durable: true }) })
  await run('kept')
  for (let day = 0; day < 3; day++) {
    await bed.clock.advance(dayMs)
    await bed.schedule('kept', { job: jobDetail('kept', { durable: true }) })
    await run('kept')
  }
  expect(await statuses()).toContainEqual(['kept', 0, [1, 1]])
})

test('RAM deletes the log of the execution that has not logged for longest', async () => {
  const bed = await open(ramStores, { executionLog: { maxRows: 10 } })
  const log = (fireInstanceId: string, from: number): Promise<void> => {
    const numbers = Array.from({ length: 4 }, (_, index) => from + index)
    const of = { timeMs: bed.now(), level: 'info', message: 'x', fieldsText: null } as const
    return write(bed, { logs: [{ fireInstanceId, lines: numbers.map((line) => ({ line, ...of })) }] })
  }
  await log('goes on', 1)
  await log('over', 1)
  await log('goes on', 5)
  const linesOf = async (id: string): Promise<number | undefined> =>
    (await bed.store.records?.queryExecutionLog(id, {}))?.items.length
  expect([await linesOf('goes on'), await linesOf('over')]).toEqual([8, 0])
})

const none = {
  history: false,
  jobStatus: false,
  executionLog: false,
  misfires: false,
  audit: false,
} as const satisfies RecordOptions

test('false turns every part off', () => {
  const resolved = resolveRecordOptions('a store', none)
  expect(recordOptionNames.filter((name) => resolved[name].isKept)).toEqual([])
  expect(keptKinds(resolved)).toEqual([])
})

describe.each(Object.keys(none))('%s', (name) => {
  test.each([true, null, 'all', 'off', 1, []])('is refused as %j', (value) => {
    expect(() => resolveRecordOptions('a store', { [name]: value })).toThrow(
      expect.objectContaining({
        code: 'ERR_INVALID_OPTION',
        field: name,
        message: expect.stringContaining(
          `'${name}' must be an object of options, or false to keep nothing`,
        ) as string,
      }),
    )
  })
})

test.each([
  { history: { record: 'off' } },
  { history: { record: false } },
  { jobStatus: { record: false } },
  { executionLog: { level: 'off' } },
  { executionLog: { level: false } },
  { misfires: { record: false } },
  { audit: { record: false } },
])('%j is no way to turn a part off', (options) => {
  expect(() => resolveRecordOptions('a store', options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
  )
})

test('RAM counts nothing of completions where no status is wanted', async () => {
  const bed = await open(ramStores, { jobStatus: false })
  await bed.schedule('t', { job: jobDetail('job', { durable: true }) })
  await complete(bed, await bed.start('t'))
  expect((await bed.store.records?.queryJobStatus({}))?.items).toEqual([])
})

test('RAM drops records of a clock that was ahead first, where there are too many', async () => {
  const bed = await open(ramStores, { history: { record: 'all', maxRows: 2 }, audit: { maxRows: 2 } })
  const run = async (name: string): Promise<void> => {
    await bed.schedule(name, { inMs: 0 })
    await complete(bed, await bed.start(name))
  }
  for (const name of ['ahead-1', 'ahead-2']) {
    await run(name)
    await write(bed, { audits: [entry(bed, name)] })
  }
  bed.clock.jump(-365 * dayMs)
  await writeLater(bed, () => ({ audits: [entry(bed, 'first')] }))
  await run('now')
  await write(bed, { audits: [entry(bed, 'second')] })
  const { items } = await bed.store.queryExecutions({})
  expect(items.map(({ triggerKey }) => triggerKey.name)).toEqual(['ahead-1', 'now'])
  const audits = await bed.store.records?.queryAudit({})
  expect(audits?.items.map(({ id }) => id)).toEqual(['second', 'first'])
})
