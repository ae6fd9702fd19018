import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'

const program = fileURLToPath(new URL('./annotated-instance.mjs', import.meta.url))
const seconds = 20

interface Line {
  readonly kind: 'cron' | 'fixedRate' | 'error'
  readonly planned: number
  readonly node: string
}

test('three instances with @Scheduled every second run 20 times in 20 seconds, not 60', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-annotations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const log = join(folder, 'log')
  const open = async (instanceId: string): Promise<ChildProcess> => {
    const instance = fork(program, [database.connectionString, log, instanceId])
    onTestFinished(() => void instance.kill('SIGKILL'))
    await once(instance, 'message')
    return instance
  }
  // All at once: they also make the tables and store the jobs at the same time.
  const instances = await Promise.all(['a', 'b', 'c'].map(open))
  const firstMs = (Math.floor(Date.now() / 1000) + 1) * 1000
  const endMs = firstMs + seconds * 1000
  const lines = async (): Promise<Line[]> =>
    (await readFile(log, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line)
  const isOver = (line: Line): boolean => line.planned > endMs
  await vi.waitUntil(async () => new Set((await lines()).filter(isOver).map(({ kind }) => kind)).size === 2, {
    timeout: 120_000,
    interval: 500,
  })
  await Promise.all(
    instances.map(async (instance) => {
      instance.send('stop')
      await once(instance, 'exit')
    }),
  )
  const all = await lines()
  expect(all.filter(({ kind }) => kind === 'error')).toEqual([])
  for (const kind of ['cron', 'fixedRate'] as const) {
    const planned = all.filter((line) => line.kind === kind).map((line) => line.planned)
    // Each planned time once, from the first to the last.
    expect(planned.toSorted((a, b) => a - b)).toEqual(
      planned.map((_, index) => Math.min(...planned) + index * 1000),
    )
    expect(planned.filter((ms) => ms >= firstMs && ms < endMs)).toHaveLength(seconds)
  }
  expect(new Set(all.map(({ node }) => node)).size).toBeGreaterThan(1)
})
