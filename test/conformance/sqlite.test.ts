import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jobStoreConformance } from 'quartz-ts/testing'
import { afterAll, describe, test } from 'vitest'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { sqlNames } from '../../src/jobstore/sql/sql-names.ts'
import { sqliteEngine } from '../../src/jobstore/sqlite/sqlite-engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-conformance-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

function store(filename: string): JobStore {
  const names = sqlNames('test', {})
  const engine = { names, synchronous: 'normal', encoding: 'json', migrate: 'onStart' } as const
  return new SqlJobStore(sqliteEngine({ ...engine, filename, busyTimeoutMs: 5000 }))
}

describe('SqliteJobStore in memory conforms', () => {
  const cases = jobStoreConformance({
    name: 'sqlite-memory',
    create: () => store(':memory:'),
    capabilities: { persistent: false, clustered: false },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

describe('SqliteJobStore on a file conforms', () => {
  const cases = jobStoreConformance({
    name: 'sqlite-file',
    create: (dataId) => store(join(folder, `${dataId}.db`)),
    capabilities: { persistent: true, clustered: false },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})
