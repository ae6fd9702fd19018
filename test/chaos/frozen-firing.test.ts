import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { triggerToJSON } from '../../src/triggers/families/trigger-json.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { ChaosNode, type ChaosNodeOptions } from './chaos-node.ts'
import { isRun, type LogLine, readLog } from './run-log.ts'

const points = ['afterFired', 'afterFiredAtOnce'] as const

test.each(points)('a node that stands still %s does not begin what another node has run', async (point) => {
  const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-chaos-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  const log = join(folder, 'log')
  const open = async (instanceId: string, options: Partial<ChaosNodeOptions> = {}): Promise<ChaosNode> => {
    const storeOptions = { poolSize: 4, checkInIntervalMs: 500, failedAfterMs: 3000 }
    const location = database.connectionString
    const given = { store: 'postgres', location, log, instanceId, storeOptions } as const
    const node = await ChaosNode.open({ ...given, ...options })
    onTestFinished(() => node.kill())
    return node
  }
  const written = (isIt: (line: LogLine) => boolean): Promise<void> =>
    vi.waitFor(
      async () => {
        expect((await readLog(log)).some(isIt)).toBe(true)
      },
      { timeout: 60_000, interval: 20 },
    )

  const frozen = await open('frozen', { killAt: { point, nth: 1, signal: 'SIGSTOP' } })
  const trigger = TriggerBuilder.newTrigger().withIdentity('once').build()
  const job = { name: 'once', type: 'work', recovery: true }
  await frozen.ask('schedule', { entries: [{ job, triggers: [triggerToJSON(trigger)] }] })
  await frozen.ask('start')
  await written(({ kind }) => kind === 'frozen')
  const other = await open('other')
  await other.ask('start')
  await written((line) => line.kind === 'ended' && line.node === 'other')
  frozen.thaw()
  await written(({ kind, node }) => kind === 'recoveredByPeer' && node === 'frozen')
  await frozen.stop()
  await other.stop()
  const began = (await readLog(log)).filter((line) => isRun(line) && line.kind === 'started')
  expect(began.map(({ node }) => node)).toEqual(['other'])
})
