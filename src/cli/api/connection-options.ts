import type { OptionValues, StringOption } from '../command.ts'
import { UsageError } from '../command.ts'
import { findSettings, loadSettings, storeSetting } from '../config/load-settings.ts'
import type { Settings } from '../config/settings.ts'
import { parseDuration } from '../duration.ts'
import type { CliHost } from '../host.ts'
import { storePlaces } from '../stores.ts'
import type { ApiClient } from './api-client.ts'
import { attachedClient } from './attached-client.ts'
import { httpClient } from './http-client.ts'

/** Where the jobs are, for every command that opens a store. */
export const storeOptions: Readonly<
  Record<'store' | 'prefix' | 'schema' | 'scheduler' | 'config', StringOption>
> = {
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
  config: {
    type: 'string',
    value: 'FILE',
    help: "Settings: quartz-ts.config.ts, which is found by itself here, or Java's quartz.properties",
  },
}

type ConnectionOptions = typeof storeOptions &
  Readonly<Record<'server' | 'token-file' | 'token' | 'timeout', StringOption>>

/** Where the jobs are, for every command that looks and steers: a store, or a server. */
export const connectionOptions: ConnectionOptions = {
  ...storeOptions,
  server: { type: 'string', value: 'URL', help: 'Ask the server at this address instead of a store' },
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'Holds the token for --server (default: the environment variable QUARTZ_TS_TOKEN)',
  },
  token: {
    type: 'string',
    value: 'TOKEN',
    help: 'The token itself, which other users of the machine can see',
  },
  timeout: { type: 'string', value: 'DURATION', help: 'How long a server may take to answer (default 60s)' },
}

/** What the help of these commands says about their place. */
export const connectionNote: string =
  'The store is opened by this process, which fires nothing and is no node of the cluster: nodes that are up see ' +
  'what it changed. A server is one that quartz-ts serve or createServer runs.'

export type StoreValues = OptionValues<typeof storeOptions>
type ConnectionValues = OptionValues<ConnectionOptions>

/** What the command line and the file of settings say together. */
export async function settingsFor(values: StoreValues, { stderr }: CliHost): Promise<Settings> {
  const settings = await settingsOf(values, stderr)
  const store =
    values.store === undefined ? settings.store : storeSetting(requireText('--store', values.store), values)
  if (values.store === undefined && (values.prefix ?? values.schema) !== undefined) {
    throw new UsageError('--prefix and --schema go with --store.')
  }
  return { ...settings, store, ...(values.scheduler !== undefined && { schedulerName: values.scheduler }) }
}

/** A place on the command line needs no file of settings, so none is looked for. */
async function settingsOf(
  values: StoreValues & { readonly server?: string },
  stderr: CliHost['stderr'],
): Promise<Settings> {
  if (values.config !== undefined) return loadSettings(requireText('--config', values.config), stderr)
  return (values.store ?? values.server) ? { store: null } : findSettings(stderr)
}

function requireText(option: string, text: string): string {
  if (text.trim() !== '') return text
  throw new UsageError(`${option} needs a value.`)
}

interface ConnectOptions {
  /** What the command does may be the first of a scheduler. */
  readonly mayBeNew?: boolean
  /** Those of the command line, where they were read before. */
  readonly settings?: Settings | undefined
}

/**
 * A client of the server or the store that is named.
 *
 * @throws UsageError where none is named, or both are; CommandFailure for a scheduler that the store does not have
 */
export async function connect(
  values: ConnectionValues,
  host: CliHost,
  { mayBeNew = false, settings: read }: ConnectOptions = {},
): Promise<ApiClient> {
  if (values.store !== undefined && values.server !== undefined) {
    throw new UsageError('--store and --server: give one of them.')
  }
  const settings = read ?? (await settingsFor(values, host))
  const schedulerName = settings.schedulerName ?? null
  const timeoutMs = parseDuration('--timeout', values.timeout ?? '60s', { min: 1 })
  const address = values.server ?? (values.store === undefined ? settings.server : undefined)
  if (address !== undefined) {
    const tokenFile = values['token-file'] ?? (values.token === undefined ? settings.tokenFile : undefined)
    return httpClient({ address, tokenFile, token: values.token, schedulerName, timeoutMs }, host)
  }
  if ((values.token ?? values['token-file']) !== undefined) {
    throw new UsageError('--token and --token-file go with --server.')
  }
  const { store } = settings
  if (store === null) {
    throw new UsageError(`Say where the jobs are: --store with ${storePlaces}; or --server with an address.`)
  }
  store.requireThere()
  return attachedClient(store.open('never'), { schedulerName, mayBeNew }, host)
}
