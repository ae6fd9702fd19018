import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from 'quartz-ts/sqlite'
import { jobStoreConformance } from 'quartz-ts/testing'
import { afterAll, describe, test } from 'vitest'
import { loadNodeSqlite } from '../../src/jobstore/sqlite/node-sqlite.ts'
import { sqliteCapabilities } from '../support/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-conformance-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('SqliteJobStore in memory conforms', () => {
  const cases = jobStoreConformance({
    name: 'sqlite-memory',
    create: () => sqliteJobStore({ filename: ':memory:' }),
    capabilities: sqliteCapabilities,
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

describe('SqliteJobStore on a file conforms', () => {
  const cases = jobStoreConformance({
    name: 'sqlite-file',
    create: (dataId) => sqliteJobStore({ filename: join(folder, `${dataId}.db`) }),
    capabilities: { ...sqliteCapabilities, persistent: true },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

const hasNodeSqlite = (await loadNodeSqlite()) !== null

const describeOnNode = describe.skipIf(!hasNodeSqlite) // reason: Node.js has the module from 22.16 on

describeOnNode('SqliteJobStore on node:sqlite conforms', () => {
  const cases = jobStoreConformance({
    name: 'node-sqlite',
    create: (dataId) => sqliteJobStore({ filename: join(folder, `${dataId}.db`), driver: 'node:sqlite' }),
    capabilities: { ...sqliteCapabilities, persistent: true },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

describe("SqliteJobStore on a user's connection conforms", () => {
  const connections = new Map<string, Database.Database>()
  afterAll(() => {
    for (const database of connections.values()) database.close()
  })
  const open = (dataId: string): Database.Database => {
    const database = connections.get(dataId) ?? new Database(join(folder, `${dataId}.db`))
    connections.set(dataId, database)
    return database
  }
  const cases = jobStoreConformance({
    name: 'sqlite-database',
    create: (dataId) => sqliteJobStore({ database: open(dataId), tablePrefix: 'my_' }),
    capabilities: { ...sqliteCapabilities, persistent: true },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})
