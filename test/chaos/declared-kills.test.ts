import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { type Line, pauseHeld, stop, World } from './declared-world.ts'

const failedAfterMs = 1500
/** What both versions declare and nobody pauses. */
const always = ['tick', 'counter'] as const

async function kill(...nodes: readonly ChildProcess[]): Promise<void> {
  const exits = nodes.map((node) => once(node, 'exit'))
  for (const node of nodes) node.kill('SIGKILL')
  await Promise.all(exits)
}

/** The last run of each planned instant, by instant. */
function lastRuns(lines: readonly Line[]): readonly Line[] {
  const runs = new Map(lines.map((line) => [line.planned, line]))
  return [...runs.values()].toSorted((a, b) => a.planned - b.planned)
}

/** The seconds between the first and the last run that nobody ran. */
function lost(lines: readonly Line[]): readonly number[] {
  const planned = new Set(lines.map((line) => line.planned))
  const first = Math.min(...planned)
  const count = (Math.max(...planned) - first) / 1000 + 1
  return Array.from({ length: count }, (_, index) => first + index * 1000).filter((ms) => !planned.has(ms))
}

/** What ran twice as itself, or was recovered more often than once for each process that died. */
function doubled(lines: readonly Line[], deaths: number): readonly Line[] {
  return lines.filter(({ planned, recovering }) => {
    const same = lines.filter((line) => line.planned === planned && line.recovering === recovering)
    return same.length > (recovering ? deaths : 1)
  })
}

/** Waits until what died processes had begun has been recovered. */
async function nothingLost(world: World, kinds: readonly string[]): Promise<void> {
  await vi
    .waitUntil(
      async () => {
        const lines = await world.lines()
        return kinds.every((kind) => lost(lines.filter((line) => line.kind === kind)).length === 0)
      },
      { timeout: 30_000, interval: 100 },
    )
    // What is lost is said by what follows.
    .catch(() => {})
}

/** Nothing was lost, doubled, resumed or reset, although processes died. */
async function expectWhole(
  world: World,
  { kinds, pausedAtMs, deaths }: { kinds: readonly string[]; pausedAtMs: number; deaths: number },
): Promise<void> {
  expect(await world.lines('error')).toEqual([])
  for (const kind of kinds) {
    const lines = await world.lines(kind)
    expect({ kind, lost: lost(lines), doubled: doubled(lines, deaths) }).toEqual({
      kind,
      lost: [],
      doubled: [],
    })
  }
  // A run that died had not stored its count. Its recovery may come after the next instant.
  const counts = lastRuns(await world.lines('counter')).map(({ count }) => count)
  expect(counts.toSorted((a, b) => a - b)).toEqual(counts.map((_, index) => index + 1))
  expect((await world.lines('held')).filter(({ planned }) => planned > pausedAtMs)).toEqual([])
}

test('three processes of two versions on PostgreSQL, killed in runs, while declaring, and all at once', async () => {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const world = new World('PostgreSQL', database.connectionString)
  const [a, b, c] = await Promise.all([
    world.start('a', 'old', failedAfterMs),
    world.start('b', 'old', failedAfterMs),
    world.start('c', 'old', failedAfterMs),
  ])
  await world.ticks(2)
  const pausedAtMs = await pauseHeld(a)
  await world.dieInRun(a)
  // The new code is declared in part, then in a transaction that never ends, then whole.
  await world.dieAfterMembers('a', 'new', 2)
  await world.ticks(2, 'new')
  await world.dieAtStatement('a', 'new')
  const a2 = await world.start('a', 'new', failedAfterMs)
  const deployedAtMs = Date.now()
  // Old code that starts again beside new code, and dies again.
  await kill(b)
  const b2 = await world.start('b', 'old', failedAfterMs)
  await world.dieInRun(c)
  await kill(b2)
  const [b3, c2] = await Promise.all([
    world.start('b', 'new', failedAfterMs),
    world.start('c', 'new', failedAfterMs),
  ])
  await world.ticks(2)
  await kill(a2, b3, c2)
  // Nobody runs until another process has started.
  const last = await world.start('d', 'new', failedAfterMs)
  await world.ticks(3)
  await nothingLost(world, [...always, 'added'])
  await stop(last)
  await expectWhole(world, { kinds: [...always, 'added'], pausedAtMs, deaths: 7 })
  const later = (await world.lines()).filter(({ planned }) => planned > deployedAtMs)
  expect(later.filter(({ kind }) => kind === 'removed')).toEqual([])
  expect(later.filter(({ code }) => code === 'old')).toEqual([])
})

test('one process on SQLite, killed in runs, while declaring, and between due times', async () => {
  const world = new World('SQLite', join(temporaryFolder(), 'jobs.db'))
  const first = await world.start('a', 'old')
  await world.ticks(2)
  const pausedAtMs = await pauseHeld(first)
  let node = await world.dieInRun(first, () => world.start('a', 'old'))
  await kill(node ?? expect.fail('the heir was started'))
  await world.dieAfterMembers('a', 'new', 2)
  await world.dieAtStatement('a', 'new')
  for (const code of ['new', 'old', 'new'] as const) {
    node = await world.start('a', code)
    await world.ticks(2, code)
    await kill(node)
  }
  node = await world.start('a', 'new')
  await world.ticks(2)
  await nothingLost(world, always)
  await stop(node)
  await expectWhole(world, { kinds: always, pausedAtMs, deaths: 5 })
})
