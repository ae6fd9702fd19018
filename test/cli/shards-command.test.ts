import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { filledScheduler, serverFixture, tokens } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { run as runCommand } from './fake-host.ts'

interface Place {
  readonly scheduler: Scheduler
  /** Runs a command on this place. */
  readonly run: (...args: readonly string[]) => ReturnType<typeof runCommand>
}

async function storePlace(): Promise<Place> {
  const file = join(temporaryFolder(), 'jobs.db')
  const scheduler = await filledScheduler({ jobStore: sqliteJobStore({ filename: file }) })
  onTestFinished(() => scheduler.shutdown())
  const host = { clock: systemClock, environment: {} }
  return { scheduler, run: (...args) => runCommand([...args, '--store', `sqlite:${file}`], host) }
}

async function serverPlace(): Promise<Place> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const host = { clock: systemClock, environment: { QUARTZ_TS_TOKEN: tokens.admin } }
  const { address, scheduler } = fixture
  return { scheduler, run: (...args) => runCommand([...args, '--server', address], host) }
}

/** A job of two items, `mail/parts`. */
async function addSharded(scheduler: Scheduler, type: string): Promise<void> {
  const job = JobBuilder.newJob(type).withIdentity('parts', 'mail').storeDurably()
  await scheduler.addJob(job.withSharding({ items: 2, parameters: { 1: 'south' } }).build())
}

describe.each([
  ['a SQLite file', storePlace],
  ['a server', serverPlace],
])('on %s', (_where, open) => {
  test('items are turned off and on', async () => {
    const { scheduler, run } = await open()
    await addSharded(scheduler, 'echo')
    expect((await run('jobs', 'mail/parts')).out).toMatch(/^sharding +2 items, sticky$/m)
    expect((await run('shards', 'mail/parts')).out).toBe('No firing of it is open.\n')
    const off = ['shards', 'mail/parts', '--disable', '1']
    expect((await run(...off, '--dry-run')).out).toBe('item 1 of job mail/parts: would be turned off\n')
    expect((await run(...off)).out).toMatch(/^item 1 of job mail\/parts: turned off /)
    expect((await run(...off)).out).toBe('item 1 of job mail/parts: is off\n')
    expect((await run('shards', 'mail/parts')).out).toBe('Turned off: 1\nNo firing of it is open.\n')
    expect((await run('shards', 'parts', '--group', 'mail', '--enable', '1')).out).toMatch(/turned on/)
    const { out } = await run('shards', 'mail/parts', '--json')
    expect(JSON.parse(out)).toEqual({ firings: [], disabledItems: [] })
    expect(await run('shards', 'mail/none')).toMatchObject({ code: 3 })
  })
})

test.each([
  ['both at once', ['--disable', '1', '--enable', '1']],
  ['a dry run of nothing', ['--dry-run']],
  ['what is no item', ['--disable', 'x']],
  ['an item that none can be', ['--enable', '1000']],
])('%s is refused', async (_what, options) => {
  const { run } = await serverPlace()
  expect(await run('shards', 'mail/hourly', ...options)).toMatchObject({ code: 2, out: '' })
})

test('an open firing is shown item by item', async () => {
  const { scheduler, run } = await serverPlace()
  await addSharded(scheduler, 'waiting')
  await scheduler.start()
  const began = scheduler.events.next('jobToBeExecuted')
  await scheduler.triggerJob(jobKey('parts', 'mail'))
  await began
  const { out } = await run('shards', 'mail/parts', '--zone', 'UTC')
  expect(out).toMatch(/^Firing \S+ of DEFAULT\/MT_\S+, \d{4}-\S+ \S+ \(UTC\):\nITEM +OWNER +STATE/)
  expect(out).toMatch(/\n +1 +\S+ +given +south\n$/)
  await scheduler.interrupt(jobKey('parts', 'mail'))
})
