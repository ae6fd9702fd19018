import { packageMissing, requireFrom } from '../core/package-files.ts'
import type { SchedulerServer } from './server-face.ts'
import type { SchedulerServerOptions } from './server-options.ts'

/** Optional peers of the package: only who serves needs them. */
const packages = ['hono', '@hono/node-server', 'zod'] as const

/**
 * Makes the HTTP API of one or more schedulers. It serves when it is mounted (`fetch`) or listens; it neither
 * starts nor shuts down the schedulers.
 *
 * @example
 * const server = await createServer({ scheduler, auth: { kind: 'token' } })
 * console.log(await server.listen({ port: 8080 }), server.newToken)
 *
 * @throws SchedulerError ERR_DRIVER_MISSING when one of the packages hono, @hono/node-server and zod is missing
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is missing, unknown or wrong; there has to be
 * `auth`
 */
export async function createServer(options: SchedulerServerOptions): Promise<SchedulerServer> {
  const { resolve } = requireFrom(import.meta.url)
  for (const name of packages) {
    try {
      resolve(name)
    } catch (cause) {
      throw packageMissing(name, 'The HTTP API, which the command line asks too,', cause, packages)
    }
  }
  const { schedulerServer } = await import('./scheduler-server.ts')
  return schedulerServer(options)
}
