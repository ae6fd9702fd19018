import { withoutSecrets } from '../core/secrets.ts'
import { createScheduler } from '../scheduler/create-scheduler.ts'
import { zeroSizeThreadPool } from '../threadpool/in-process-thread-pool.ts'
import { type Command, parseCommandLine, UsageError } from './command.ts'
import type { CliHost } from './host.ts'
import { isPortTaken, type Serving, serve } from './serving.ts'
import { requireWhole } from './shared-options.ts'
import { storeAt, storePlaces } from './stores.ts'
import { visible } from './terminal/text.ts'

const spec = {
  name: 'serve',
  argument: '',
  summary: 'Serves the HTTP API of the schedulers on a store',
  options: {
    store: { type: 'string', value: 'STORE', help: `Where the jobs are: ${storePlaces}` },
    prefix: {
      type: 'string',
      value: 'PREFIX',
      help: 'What the names of the tables begin with (default qrtz_)',
    },
    schema: { type: 'string', value: 'SCHEMA', help: 'The schema of the tables (PostgreSQL only)' },
    scheduler: {
      type: 'string',
      value: 'NAME',
      help: 'The name of the schedulers (default QuartzScheduler)',
    },
    port: { type: 'string', value: 'PORT', help: 'The port, 0 for a free one (default 8080)' },
    host: {
      type: 'string',
      value: 'HOST',
      help: 'The address to listen on (default 127.0.0.1: this machine alone)',
    },
    'token-file': {
      type: 'string',
      value: 'FILE',
      help: 'Keeps the hash of a token that is made at the first start',
    },
    'read-only': { type: 'boolean', help: 'Refuse everything that changes something' },
  },
  notes: [
    'The token is printed once, at the end of the address. This process fires nothing and is no node of the cluster: ' +
      'it looks at the data of others and changes it. Ctrl-C ends it.',
  ],
} as const

/** `quartz-ts serve`: the HTTP API of a store, attached to its data. */
export const serveCommand: Command = {
  spec,
  async run(args, host) {
    const { values } = parseCommandLine(spec, args)
    const place = values.store ?? ''
    if (place.trim() === '') throw new UsageError(`'serve' needs --store: ${storePlaces}.`)
    const port = requireWhole('--port', values.port ?? '8080', { min: 0, max: 65_535 })
    await using scheduler = await createScheduler({
      jobStore: storeAt(place, values),
      threadPool: zeroSizeThreadPool(),
      clock: host.clock,
      ...(values.scheduler !== undefined && { schedulerName: values.scheduler }),
    })
    // The store is reached before the address is printed.
    await scheduler.getJobGroupNames()
    const { server, url } = await portOrUsage(
      () =>
        serve(scheduler, {
          port,
          host: values.host ?? '127.0.0.1',
          tokenFile: values['token-file'] ?? null,
          isReadOnly: values['read-only'] === true,
          clock: host.clock,
        }),
      port,
    )
    const what = `${visible(scheduler.schedulerName)} on ${visible(withoutSecrets(place))}`
    const hint = server.newToken === null ? ` (with the token of ${values['token-file'] ?? ''})` : ''
    host.stdout.write(`Serving ${what}:\n\n  ${url}${hint}\n\n`)
    await signalled(host)
    await server.close()
    return 0
  },
}

async function portOrUsage(open: () => Promise<Serving>, port: number): Promise<Serving> {
  try {
    return await open()
  } catch (error) {
    if (!isPortTaken(error)) throw error
    throw new UsageError(`Port ${port} is taken: name another one with --port, or 0 for any.`, {
      cause: error,
    })
  }
}

/** Resolves at the first SIGINT or SIGTERM. */
function signalled(host: CliHost): Promise<void> {
  return new Promise((resolve) => {
    const stops = (['SIGINT', 'SIGTERM'] as const).map((signal) =>
      host.onSignal(signal, () => {
        for (const stop of stops) stop()
        resolve()
      }),
    )
  })
}
