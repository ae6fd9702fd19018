import type { TestProject } from 'vitest/node'
import { keepExitCode } from './keep-exit-code.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A server that the test files of one run share; `freshDatabase` makes each a database of its own. */
    postgresUrl: string
  }
}

interface SharedServer {
  readonly starting: Promise<PostgresServer>
  /** How many projects have not ended yet. */
  users: number
}

// Each project loads this module for itself, so what they share cannot be a variable of it.
const shared = globalThis as { quartzTsPostgresOfTests?: SharedServer }

/** Uses the server that QUARTZ_TS_TEST_PG names, or starts one for all projects of the run. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['QUARTZ_TS_TEST_PG']
  if (given !== undefined && given !== '') {
    project.provide('postgresUrl', given)
    return undefined
  }
  const server = (shared.quartzTsPostgresOfTests ??= start())
  server.users += 1
  project.provide('postgresUrl', (await server.starting).connectionString)
  return async () => {
    server.users -= 1
    if (server.users > 0) return
    delete shared.quartzTsPostgresOfTests
    await (await server.starting).remove()
  }
}

function start(): SharedServer {
  keepExitCode()
  // PostgreSQL's default of 100 connections is little for test files that run side by side.
  return { starting: startPostgres({ settings: ['max_connections=600'] }), users: 0 }
}
