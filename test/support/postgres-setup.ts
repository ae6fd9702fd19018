import type { TestProject } from 'vitest/node'
import { keepExitCode } from './keep-exit-code.ts'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A server that the test files of one run share; `freshDatabase` makes each a database of its own. */
    postgresUrl: string
  }
}

/** Uses the server that QUARTZ_TS_TEST_PG names, or starts one for the run. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['QUARTZ_TS_TEST_PG']
  if (given !== undefined && given !== '') {
    project.provide('postgresUrl', given)
    return undefined
  }
  keepExitCode()
  // PostgreSQL's default of 100 connections is little for test files that run side by side.
  const server = await startPostgres({ settings: ['max_connections=300'] })
  project.provide('postgresUrl', server.connectionString)
  return () => server.remove()
}
