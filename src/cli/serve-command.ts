import { isAddressRange } from '../core/address-range.ts'
import { isHostName, isOrigin } from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { visible } from '../core/visible-text.ts'
import { type PrometheusPlugin, prometheusPlugin } from '../metrics/prometheus/prometheus-plugin.ts'
import { createScheduler, type SchedulerOptions } from '../scheduler/create-scheduler.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import { zeroSizeThreadPool } from '../threadpool/in-process-thread-pool.ts'
import { pause } from '../time/pause.ts'
import { settingsFor, storeOptions } from './api/connection-options.ts'
import { type Command, type OptionValues, parseCommandLine, UsageError } from './command.ts'
import type { Settings } from './config/settings.ts'
import { stopRequests } from './crontab/stop-requests.ts'
import { formatDuration, parseDuration } from './duration.ts'
import { exitCodes } from './exit-codes.ts'
import type { CliHost } from './host.ts'
import { isPortTaken, type Serving, type ServingOptions, serve } from './serving.ts'
import { requireWhole } from './shared-options.ts'
import { storePlaces } from './stores.ts'
import { count } from './terminal/text.ts'

const spec = {
  name: 'serve',
  argument: '',
  summary: 'Serves the HTTP API of the schedulers on a store',
  options: {
    ...storeOptions,
    start: { type: 'boolean', help: 'Be a node as well: run the jobs that the settings name' },
    drain: {
      type: 'string',
      value: 'DURATION',
      help: 'With --start: how long running jobs may go on after a signal (default 30s)',
    },
    'not-ready': {
      type: 'string',
      value: 'DURATION',
      help: 'After a signal, say so at /health/ready for this long before anything ends (default 0s)',
    },
    metrics: {
      type: 'boolean',
      help: 'With --start: measure, and answer at /metrics (needs the package prom-client)',
    },
    port: { type: 'string', value: 'PORT', help: 'The port, 0 for a free one (default 8080)' },
    host: {
      type: 'string',
      value: 'HOST',
      help: 'The address to listen on (default 127.0.0.1: this machine alone)',
    },
    'allowed-hosts': {
      type: 'string',
      value: 'NAMES',
      help: 'The names by which it is called, such as that of a proxy, with commas between them',
    },
    'allowed-origins': {
      type: 'string',
      value: 'ORIGINS',
      help: 'Whose pages may change things as well, as https://ops.example.com:8443, with commas between them',
    },
    'trusted-proxies': {
      type: 'string',
      value: 'ADDRESSES',
      help: 'The proxies that say for whom they ask, as 10.0.0.7 or 10.0.0.0/8, with commas between them',
    },
    'token-hash-file': {
      type: 'string',
      value: 'FILE',
      help: 'Keeps the hash of a token that is made at the first start',
    },
    'read-only': { type: 'boolean', help: 'Refuse everything that changes something' },
  },
  notes: [
    'The token is printed once, at the end of the address. Without --start this process fires nothing and is no node ' +
      'of the cluster: it looks at the data of others and changes it.',
    'SIGTERM or Ctrl-C ends it: after the time of --not-ready no more is fired, running jobs get the time of --drain ' +
      `and are then interrupted; with those that go on all the same it ends with ${exitCodes.leftRunning}. ` +
      `A second signal ends it at once with ${exitCodes.atOnce}.`,
  ],
} as const

type Values = OptionValues<typeof spec.options>

/** `quartz-ts serve`: the HTTP API of a store, attached to its data or as one of its nodes. */
export const serveCommand: Command = {
  spec,
  async run(args, host) {
    const { values } = parseCommandLine(spec, args)
    const settings = await settingsFor(values, host)
    const { store } = settings
    if (store === null) throw new UsageError(`'serve' needs --store: ${storePlaces}.`)
    const port = requireWhole('--port', values.port ?? String(settings.serve?.port ?? 8080), {
      min: 0,
      max: 65_535,
    })
    const drainMs = drainOf(values, settings)
    const notReadyMs =
      values['not-ready'] === undefined
        ? (settings.serve?.notReadyMs ?? 0)
        : parseDuration('--not-ready', values['not-ready'], { max: 3_600_000 })
    const callers = callersOf(values, settings)
    const metrics = metricsOf(values, settings)
    const behaviour = behaviourOf(values, settings, { drainMs, metrics })
    // Only a node may be the first one there: who looks at a misspelt name would see an empty store.
    if (values.start === true) store.keepPrivate()
    else store.requireThere()
    const scheduler = await createScheduler({
      ...behaviour,
      jobStore: store.open('onStart'),
      clock: host.clock,
      ...(settings.schedulerName !== undefined && { schedulerName: settings.schedulerName }),
    })
    const stop = stopRequests(host, null)
    let close = async (): Promise<void> => {}
    const work = async (): Promise<number> => {
      const opening = { values, settings, port, callers, metrics }
      const { greeting, health, server } = await open(scheduler, opening)
      close = () => server.close()
      host.stdout.write(greeting)
      if (values.start === true) await scheduler.start()
      await stop.first
      health.beginStop()
      await pause(host.clock, notReadyMs)
      await drain(scheduler, drainMs, host)
      await close()
      return scheduler.getCurrentlyExecutingJobs().length > 0 ? exitCodes.leftRunning : exitCodes.ok
    }
    try {
      // Also a start may take long, or hang.
      return await Promise.race([work(), stop.atOnce.then(() => exitCodes.atOnce)])
    } catch (error) {
      await close()
      await scheduler.shutdown()
      throw error
    } finally {
      stop.dispose()
    }
  },
}

/** How long running jobs may go on. @throws UsageError */
function drainOf({ drain, start }: Values, settings: Settings): number {
  if (drain === undefined) return settings.drainMs ?? 30_000
  if (start !== true) throw new UsageError('--drain goes with --start.')
  return parseDuration('--drain', drain)
}

/** Only a node has something to measure. @throws UsageError */
function metricsOf({ metrics, start }: Values, { serve: config = {} }: Settings): PrometheusPlugin | null {
  if (metrics === true && start !== true) throw new UsageError('--metrics goes with --start.')
  return start === true && (metrics ?? config.metrics ?? false) ? prometheusPlugin() : null
}

interface Behaviour {
  readonly drainMs: number
  readonly metrics: PrometheusPlugin | null
}

/** Attached to the data of others, or a node that runs what the settings name. @throws UsageError */
function behaviourOf(
  { start }: Values,
  { scheduler = {} }: Settings,
  { drainMs, metrics }: Behaviour,
): SchedulerOptions {
  if (start !== true) return { threadPool: zeroSizeThreadPool() }
  if ((scheduler.jobs ?? []).length === 0) {
    throw new UsageError(`'serve --start' needs jobs: name them under scheduler.jobs in quartz-ts.config.ts.`)
  }
  const plugins = [...(scheduler.plugins ?? []), ...(metrics === null ? [] : [metrics])]
  return { ...scheduler, plugins, disposeTimeoutMs: drainMs }
}

/** What has commas between it on the command line; null where nothing was given. @throws UsageError */
function listedIn(
  text: string | undefined,
  isRight: (item: string) => boolean,
  takes: string,
): readonly string[] | null {
  const items = text?.split(',') ?? null
  const wrong = items?.find((item) => !isRight(item))
  if (wrong === undefined) return items
  throw new UsageError(`${takes}, got '${wrong}'.`)
}

type Callers = Pick<ServingOptions, 'allowedHosts' | 'allowedOrigins' | 'trustedProxies'>

/** From where requests come: the command line goes before the settings. @throws UsageError */
function callersOf(values: Values, { serve: config = {} }: Settings): Callers {
  return {
    allowedHosts: hostsOf(values) ?? config.allowedHosts ?? null,
    allowedOrigins: originsOf(values) ?? config.allowedOrigins ?? [],
    trustedProxies: proxiesOf(values) ?? config.trustedProxies ?? [],
  }
}

/** @throws UsageError for what no request could be sent to */
function hostsOf({ 'allowed-hosts': text }: Values): readonly string[] | null {
  const takes =
    '--allowed-hosts takes names such as ops.example.com, in small letters, without scheme and port'
  return listedIn(text, isHostName, takes)
}

/** @throws UsageError for what no browser sends */
function originsOf({ 'allowed-origins': text }: Values): readonly string[] | null {
  const what = 'origins such as https://ops.example.com:8443, in small letters, without a path'
  const takes = `--allowed-origins takes ${what}, and without a port that is the scheme's own`
  return listedIn(text, isOrigin, takes)
}

/** @throws UsageError */
function proxiesOf({ 'trusted-proxies': text }: Values): readonly string[] | null {
  return listedIn(text, isAddressRange, '--trusted-proxies takes addresses such as 10.0.0.7 or 10.0.0.0/8')
}

interface Opening {
  readonly values: Values
  readonly settings: Settings
  readonly port: number
  readonly callers: Callers
  readonly metrics: PrometheusPlugin | null
}

async function open(
  scheduler: Scheduler,
  { values, settings: { store, serve: config = {} }, port, callers, metrics }: Opening,
): Promise<Pick<Serving, 'server' | 'health'> & { readonly greeting: string }> {
  // The store is reached before the address is printed.
  await scheduler.getJobGroupNames()
  const tokenHashFile = values['token-hash-file'] ?? config.tokenHashFile ?? null
  const isReadOnly = values['read-only'] ?? config.readOnly ?? false
  const listening = {
    port,
    host: values.host ?? config.host ?? '127.0.0.1',
    tokenHashFile,
    sessionSecret: config.sessionSecret ?? null,
    isReadOnly,
    ...callers,
    ...(metrics !== null && { metrics }),
  }
  const { server, health, url } = await whereOrUsage(() => serve(scheduler, listening), port)
  const hint = server.newToken === null ? ` (with the token of ${tokenHashFile ?? ''})` : ''
  const what = `${scheduler.schedulerName} on ${store?.place ?? ''}`
  return { server, health, greeting: visible(`Serving ${what}:\n\n  ${url}${hint}\n\n`) }
}

/** Fires no more, waits for what runs, and closes the store; jobs that go on are interrupted when the time is up. */
async function drain(scheduler: Scheduler, drainMs: number, { stdout }: CliHost): Promise<void> {
  if (scheduler.isStarted) await scheduler.standby()
  const running = scheduler.getCurrentlyExecutingJobs().length
  if (running > 0) {
    const wait = `waiting up to ${formatDuration(drainMs)} for ${count(running, 'running job')}`
    stdout.write(`Stopping: ${wait}; a second signal ends at once.\n`)
  }
  await scheduler[Symbol.asyncDispose]()
}

/** @throws UsageError for a port, a host or a file of the token that cannot be used */
async function whereOrUsage(open: () => Promise<Serving>, port: number): Promise<Serving> {
  try {
    return await open()
  } catch (error) {
    if (error instanceof InvalidArgumentError && error.field === 'hashFile') {
      throw new UsageError(`--token-hash-file: ${error.message}`, { cause: error })
    }
    if (!(error instanceof Error && 'syscall' in error)) throw error
    // A name that has no address, an address that is not this machine's, a port for root alone.
    if (!isPortTaken(error)) throw new UsageError(`Cannot listen there: ${error.message}.`, { cause: error })
    throw new UsageError(`Port ${port} is taken: name another one with --port, or 0 for any.`, {
      cause: error,
    })
  }
}
