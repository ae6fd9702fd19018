import { join } from 'node:path'
import Database from 'better-sqlite3'
import { ramJobStore } from 'quartz-ts'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { jobDetail } from '../../src/testing/job-store/testbed.ts'
import { pruningCase } from '../support/pruning-case.ts'
import { open, type RecordStores, status, write } from '../support/record-bed.ts'
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

test('RAM keeps the status of 200 deleted jobs, and of every job that exists', async () => {
  const bed = await open(ramStores, {})
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
    expect((await names()).length).toBeLessThanOrEqual(202)
  }
  expect(await names()).toContain('kept')
})
