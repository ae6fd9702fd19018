import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type SqliteJobStoreOptions, sqliteJobStore } from 'quartz-ts/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { temporaryFolder } from '../support/sqlite.ts'

interface Rig {
  readonly scheduler: Scheduler
  /** Stores a job of that name, to run once. */
  readonly schedule: (name: string, options?: { inMs?: number; data?: string }) => Promise<void>
  /** Resolves when the job of that name has run. */
  readonly ran: (name: string) => Promise<void>
}

interface Run {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

/** A scheduler that has started and fired, on real time. */
async function rig(place: SqliteJobStoreOptions): Promise<Rig> {
  const done = new Map<string, Run>()
  const runOf = (name: string): Run => {
    const run = done.get(name) ?? newRun()
    done.set(name, run)
    return run
  }
  const note = defineJob('note', ({ trigger: { key } }) => {
    runOf(key.name).resolve()
  })
  const store = sqliteJobStore({ ...place, busyTimeoutMs: 50 })
  const scheduler = await createScheduler({ logger: false, jobs: [note], jobStore: store })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  const schedule: Rig['schedule'] = async (name, { inMs = 0, data = '' } = {}) => {
    const startAt = new Date(Date.now() + inMs)
    const trigger = TriggerBuilder.newTrigger().withIdentity(name).startAt(startAt).build()
    const job = JobBuilder.newJob(note).withIdentity(name).usingJobData({ data }).build()
    await scheduler.scheduleJob(job, trigger)
  }
  await schedule('first')
  await runOf('first').promise
  return { scheduler, schedule, ran: (name) => runOf(name).promise }
}

function newRun(): Run {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((onDone) => {
    resolve = onDone
  })
  return {
    promise,
    resolve: () => {
      resolve()
    },
  }
}

function open(filename: string): Database.Database {
  const database = new Database(filename, { timeout: 20 })
  database.pragma('journal_mode = WAL')
  onTestFinished(() => {
    database.close()
  })
  return database
}

const unavailable = (problem: string): object => ({
  code: 'ERR_DATABASE_UNAVAILABLE',
  message: expect.stringContaining(problem) as string,
})

describe('a scheduler on a SQLite file', () => {
  test('that another connection has locked says so, loses nothing, and goes on without it', async () => {
    const filename = join(temporaryFolder(), 'jobs.db')
    const { scheduler, schedule, ran } = await rig({ filename })
    const other = open(filename)
    await schedule('due', { inMs: 300 })
    const told = scheduler.events.next('schedulerError')
    other.exec('BEGIN IMMEDIATE')
    await expect(schedule('refused')).rejects.toMatchObject(unavailable('is locked by another connection'))
    expect((await told).error).toMatchObject(unavailable('is locked by another connection'))
    other.exec('COMMIT')
    await ran('due')
    await schedule('refused')
    await ran('refused')
  })

  test('on a full disk says so, loses nothing, and goes on when there is space', async () => {
    const database = open(join(temporaryFolder(), 'jobs.db'))
    const { schedule, ran } = await rig({ database })
    const pages = database.pragma('page_count', { simple: true }) as number
    database.pragma(`max_page_count = ${pages + 2}`)
    const large = { data: 'x'.repeat(500_000) }
    await expect(schedule('large', large)).rejects.toMatchObject(unavailable('the disk is full'))
    database.pragma('max_page_count = 100000')
    await schedule('large', large)
    await ran('large')
  })

  test('that cannot be written says so, and fires what came due when it can be again', async () => {
    const database = open(join(temporaryFolder(), 'jobs.db'))
    const { scheduler, schedule, ran } = await rig({ database })
    await schedule('due', { inMs: 300 })
    const told = scheduler.events.next('schedulerError')
    database.pragma('query_only = 1')
    await expect(schedule('refused')).rejects.toMatchObject(unavailable('cannot be written'))
    expect((await told).error).toMatchObject(unavailable('cannot be written'))
    database.pragma('query_only = 0')
    await ran('due')
  })
})

describe('a shutdown', () => {
  test('ends although the file cannot be written', async () => {
    const database = open(join(temporaryFolder(), 'jobs.db'))
    const { scheduler, schedule } = await rig({ database })
    await schedule('later', { inMs: 300 })
    database.pragma('query_only = 1')
    await scheduler.events.next('schedulerError')
    const started = Date.now()
    await scheduler.shutdown()
    expect(Date.now() - started).toBeLessThan(15_000)
  })
})
