import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { postgresQuery, sqliteQuery } from './leftovers.ts'

const program = fileURLToPath(new URL('./remote-node.mjs', import.meta.url))

/** Where a node ends itself, how often the order is sent in all, and whether its result is new to the next node. */
const points = [
  { point: 'beforeHandOver', sent: ['sent by heir'], isTaken: true },
  { point: 'beforeSend', sent: [], isTaken: true },
  { point: 'afterSend', sent: ['sent by victim'], isTaken: true },
  { point: 'beforeCompletion', sent: ['sent by victim'], isTaken: true },
  { point: 'afterCompletion', sent: ['sent by victim'], isTaken: false },
]

interface Ground {
  readonly where: string
  readonly query: ReturnType<typeof sqliteQuery>
}

async function postgres(): Promise<Ground> {
  const database = await freshDatabase()
  onTestFinished(() => database[Symbol.asyncDispose]())
  return { where: database.connectionString, query: postgresQuery(database) }
}

function sqlite(): Promise<Ground> {
  const where = join(temporaryFolder(), 'jobs.db')
  return Promise.resolve({ where, query: sqliteQuery(where) })
}

describe.each([
  { engine: 'SQLite', prepare: sqlite },
  { engine: 'PostgreSQL', prepare: postgres },
])('a remote job on $engine', ({ engine, prepare }) => {
  test.each(points)('whose node is killed $point', async ({ point, sent, isTaken }) => {
    const { where, query } = await prepare()
    const log = join(temporaryFolder(), 'log')
    const open = async (instanceId: string, killAt = ''): Promise<ChildProcess> => {
      const node = fork(program, [engine, where, log, instanceId, killAt])
      onTestFinished(() => void node.kill('SIGKILL'))
      await once(node, 'message')
      return node
    }
    const victim = await open('victim', point)
    const ended = once(victim, 'exit')
    victim.send('start')
    await once(victim, 'message')
    victim.send('schedule')
    if (point.endsWith('Completion')) {
      await once(victim, 'message')
      victim.send('report')
    }
    expect((await ended)[1]).toBe('SIGKILL')

    const heir = await open('heir')
    const started = once(heir, 'message')
    heir.send('start')
    await started
    // Until the heir has what the victim left, or has sent it anew.
    await vi.waitFor(
      async () => {
        const rows = await query(`SELECT instance_name FROM qrtz_fired_triggers WHERE state = 'EXECUTING'`)
        const awaited = await query('SELECT reference FROM qrtz_awaited_results')
        expect([rows, awaited.length]).toEqual(isTaken ? [[{ instance_name: 'heir' }], 1] : [[], 0])
      },
      { timeout: 60_000, interval: 50 },
    )
    heir.send('report')
    const isAnswer = (message: unknown): boolean => typeof message === 'object'
    const answers: unknown[] = []
    heir.on('message', (message) => answers.push(message))
    await vi.waitUntil(() => answers.some(isAnswer), { timeout: 60_000, interval: 50 })
    expect(answers.find(isAnswer)).toEqual({ isTaken })

    const text = await readFile(log, 'utf8').catch(() => '')
    expect(text.split('\n').filter((line) => line !== '')).toEqual(sent)
    const ends = await query('SELECT outcome FROM qrtz_execution_history')
    expect(ends.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(1)
    expect(await query('SELECT reference FROM qrtz_awaited_results')).toEqual([])
    expect(await query('SELECT entry_id FROM qrtz_fired_triggers')).toEqual([])
    heir.send('stop')
    await once(heir, 'exit')
  })
})
