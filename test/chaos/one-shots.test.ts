import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { ChaosNode } from './chaos-node.ts'
import { leftovers, postgresQuery } from './leftovers.ts'
import { readLog } from './run-log.ts'

const count = 10_000

test('two nodes with ten slots each run 10,000 one-shots, each once', async () => {
  const path = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const log = join(path, 'log')
  const open = async (instanceId: string): Promise<ChaosNode> => {
    const options = {
      store: 'postgres',
      location: database.connectionString,
      log,
      instanceId,
      poolSize: 10,
    } as const
    const node = await ChaosNode.open(options)
    onTestFinished(() => node.kill())
    return node
  }
  const nodes = [await open('a'), await open('b')]
  await nodes[0]?.ask('scheduleOneShots', { count })
  await Promise.all(nodes.map((node) => node.ask('start')))
  const ran = async (kind: string): Promise<string[]> =>
    (await readLog(log)).flatMap((line) => (line.kind === kind && 'trigger' in line ? line.trigger : []))
  await vi.waitUntil(async () => (await ran('ended')).length >= count, { timeout: 200_000, interval: 1000 })
  for (const node of nodes) await node.stop()
  const started = await ran('started')
  expect(started).toHaveLength(count)
  expect(new Set(started).size).toBe(count)
  const workers = new Set((await readLog(log)).map(({ node }) => node))
  expect([...workers].sort()).toEqual(['a', 'b'])
  expect(await leftovers(postgresQuery(database))).toEqual({})
})
