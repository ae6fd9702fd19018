import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { type Code, type Line, pauseHeld, stop, World } from './declared-world.ts'

const program = fileURLToPath(new URL('./annotated-node.mjs', import.meta.url))

const plannedOf = (lines: readonly Line[]): readonly number[] =>
  lines.map(({ planned }) => planned).toSorted((a, b) => a - b)

/** Every instant from the first to the last is there once. */
function expectEachOnce(planned: readonly number[], everyMs = 1000): void {
  expect(planned).toEqual(planned.map((_, index) => (planned[0] ?? 0) + index * everyMs))
}

/** The stored cron expression of the method whose schedule the two versions do not agree about. */
async function storedCron(database: TestDatabase): Promise<unknown> {
  const rows = await database.query(
    `SELECT c.cron_expression AS cron FROM qrtz_triggers t JOIN qrtz_cron_triggers c
       USING (sched_name, trigger_name, trigger_group) WHERE t.job_name = 'Work.slower'`,
  )
  return rows.map(({ cron }) => cron)
}

async function storedJobs(database: TestDatabase): Promise<unknown> {
  const rows = await database.query(
    "SELECT job_name AS name FROM qrtz_job_details WHERE job_group = 'annotations'",
  )
  return rows.map(({ name }) => name).toSorted()
}

test('@Scheduled methods of two versions on PostgreSQL, restarted in turn, and all at once', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const world = new World('PostgreSQL', database.connectionString, program)
  const crons: Record<Code, string> = { old: '* * * * * ?', new: '*/2 * * * * ?' }
  /** The instance that started last decides, and goes on deciding while the others run. */
  const decides = async (code: Code): Promise<void> => {
    await expect(storedCron(database)).resolves.toEqual([crons[code]])
    await world.ticks(2)
    await expect(storedCron(database)).resolves.toEqual([crons[code]])
  }
  const [a, b, c] = await Promise.all([
    world.start('a', 'old'),
    world.start('b', 'old'),
    world.start('c', 'old'),
  ])
  await decides('old')
  const pausedAtMs = await pauseHeld(a)
  await stop(a)
  const a2 = await world.start('a', 'new')
  await decides('new')
  // Old code that starts again beside new code.
  await stop(b)
  const b2 = await world.start('b', 'old')
  await decides('old')
  await expect(storedJobs(database)).resolves.toEqual(expect.arrayContaining(['added', 'removed']))
  await stop(b2)
  const b3 = await world.start('b', 'new')
  const newestAtMs = Date.now()
  await decides('new')
  // The last old one: no node has its method then, and another look, a minute later, has to find the same.
  await stop(c)
  const c2 = await world.start('c', 'new')
  await vi.waitUntil(async () => !((await storedJobs(database)) as string[]).includes('removed'), {
    timeout: 120_000,
    interval: 100,
  })
  const removedAtMs = Date.now()
  await Promise.all([stop(a2), stop(b3), stop(c2)])
  // Nobody runs until another process has started.
  const last = await world.start('d', 'new')
  await decides('new')
  await stop(last)

  expect(await world.lines('error')).toEqual([])
  for (const kind of ['tick', 'steady', 'added', 'removed'])
    expectEachOnce(plannedOf(await world.lines(kind)))
  // Both plans have the even seconds.
  const slower = plannedOf(await world.lines('slower'))
  expect(new Set(slower).size).toBe(slower.length)
  expectEachOnce(
    slower.filter((ms) => ms % 2000 === 0),
    2000,
  )
  expect(slower.filter((ms) => ms % 2000 !== 0 && ms > newestAtMs)).toEqual([])
  expect((await world.lines('held')).filter(({ planned }) => planned > pausedAtMs)).toEqual([])
  expect((await world.lines('removed')).filter(({ planned }) => planned > removedAtMs)).toEqual([])
  expect(new Set((await world.lines('added')).map(({ code }) => code))).toEqual(new Set(['new']))
  expect(new Set((await world.lines('removed')).map(({ code }) => code))).toEqual(new Set(['old']))
})
