import { visible } from '../../core/visible-text.ts'
import { timerDelayMaxMs } from '../../time/clock.ts'
import { type Command, type OptionValues, parseCommandLine, UsageError } from '../command.ts'
import { findSettings, loadSettings } from '../config/load-settings.ts'
import type { Settings } from '../config/settings.ts'
import { parseDuration } from '../duration.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { requireWhole } from '../shared-options.ts'
import { storePlaces } from '../stores.ts'
import { describeProblem, describeProblemCount, readCrontabFile } from './crontab-file.ts'
import { crontabFormatOptions, requireCrontabFormat } from './crontab-format-options.ts'
import { CrontabRun, type CrontabRunOptions } from './crontab-run.ts'

const threadsMax = 1000

/** Where jobs are kept, in the current directory. */
const defaultStore = 'quartz-ts.db'

const spec = {
  name: 'crontab',
  argument: 'FILE',
  summary: 'Runs the jobs of a crontab and shows what they do',
  options: {
    for: {
      type: 'string',
      value: 'DURATION',
      help: 'End after this long, as in 20s or 1h30m (default: at Ctrl-C)',
    },
    'job-timeout': {
      type: 'string',
      value: 'DURATION',
      help: `End commands that take longer, with SIGTERM and 5 s later SIGKILL (default 1h; 'none': no limit)`,
    },
    drain: {
      type: 'string',
      value: 'DURATION',
      help: 'How long running jobs may go on at the end (default 10s)',
    },
    threads: {
      type: 'string',
      value: 'N',
      help: `How many jobs run at one time, 1 to ${threadsMax} (default 10)`,
    },
    store: {
      type: 'string',
      value: 'STORE',
      help: `Where jobs are kept: ${storePlaces}, or 'memory' (default ${defaultStore})`,
    },
    config: {
      type: 'string',
      value: 'FILE',
      help: 'Settings, for the store, the port and --drain (default: quartz-ts.config.ts, where it is here)',
    },
    serve: {
      type: 'string',
      value: 'PORT',
      help: 'Serve the HTTP API on this port of this machine; on a free one when it is taken',
    },
    ...crontabFormatOptions,
    plain: {
      type: 'boolean',
      help: 'Print a line per execution, no table (always so when not on a terminal)',
    },
    'no-color': {
      type: 'boolean',
      help: 'No colours (also when NO_COLOR is set, and when not on a terminal)',
    },
    'fail-on-error': { type: 'boolean', help: 'Exit code 1 when any job failed' },
  },
  notes: [
    "Each command runs as 'SHELL -c COMMAND' (SHELL of the file, else /bin/sh) in this directory and as this user, " +
      'with the environment of this process and the variables of the file above its line. Text after a % is its ' +
      'standard input. @reboot lines run once, at the start. The zone of a line is the CRON_TZ of the file above it, ' +
      'else --zone; TZ is for the commands only.',
    "Comments that begin with '# quartz-ts:' say more about the file: 'seconds' allows a leading field for seconds, " +
      "'user-column' says that users stand before the commands, 'demo-jobs' adds two jobs that run in worker threads.",
    'The store keeps what is due and what has run, even when this process is killed. Lines that are still there ' +
      'go on where they were: what was due while nothing ran runs late, or not at all when that is longer ago than a ' +
      'minute. Lines that are gone are deleted. Jobs are kept in memory where both the ' +
      'package better-sqlite3 and node:sqlite (Node.js 22.16) are missing.',
    'Ctrl-C waits for running jobs, prints a summary and ends with exit code 0; a second one ends at once with ' +
      `${exitCodes.atOnce}.`,
  ],
} as const

/** `quartz-ts crontab`: a crontab with a live table. */
export const crontabCommand: Command = {
  spec,
  async run(args, host) {
    const { argument: path, values } = parseCommandLine(spec, args)
    const format = requireCrontabFormat(values, host)
    const settings = await settingsOf(values, host)
    const options = runOptions(values, settings, format.zoneName, host)
    const file = readCrontabFile(path, format)
    if (file.problems.length > 0) {
      for (const problem of file.problems) host.stderr.write(describeProblem(path, problem))
      host.stderr.write(`${visible(path)}: ${describeProblemCount(file)}; nothing was started\n`)
      return 1
    }
    const { endedAtOnce, failures } = await new CrontabRun(file, options, host).run()
    if (endedAtOnce) return exitCodes.atOnce
    return failures > 0 && values['fail-on-error'] === true ? 1 : 0
  },
}

function givenStore(place: string): CrontabRunOptions['store'] {
  if (place.trim() === '') throw new UsageError(`--store takes ${storePlaces}, or 'memory'.`)
  return { place, isGiven: true }
}

function requireTimeout(text: string): number | null {
  if (text === 'none') return null
  const timeoutMs = parseDuration('--job-timeout', text, { max: Infinity })
  if (timeoutMs <= timerDelayMaxMs) return Math.max(1, timeoutMs)
  throw new UsageError(`--job-timeout takes at most 24d, got '${text}'. Use 'none' for no limit.`)
}

type Values = OptionValues<typeof spec.options>

/** A store on the command line needs no file of settings, so none is looked for. */
function settingsOf({ config, store }: Values, { stderr }: CliHost): Promise<Settings> {
  if (config !== undefined) return loadSettings(config, stderr)
  return store === undefined ? findSettings(stderr) : Promise.resolve({ store: null })
}

function storeOf({ store }: Values, settings: Settings): CrontabRunOptions['store'] {
  if (store !== undefined) return givenStore(store)
  return settings.store === null ? { place: defaultStore, isGiven: false } : { setting: settings.store }
}

function portOf({ serve }: Values, settings: Settings): number | null {
  if (serve === undefined) return settings.serve?.port ?? null
  return requireWhole('--serve', serve, { min: 0, max: 65_535 })
}

function runOptions(
  values: Values,
  settings: Settings,
  zoneName: string,
  { environment, stdout }: CliHost,
): CrontabRunOptions {
  const isLive = stdout.isTerminal && values.plain !== true && environment['TERM'] !== 'dumb'
  const hasColors = stdout.isTerminal && values['no-color'] !== true && !environment['NO_COLOR']
  return {
    zoneName,
    forMs: values.for === undefined ? null : parseDuration('--for', values.for, { max: Infinity }),
    timeoutMs: requireTimeout(values['job-timeout'] ?? '1h'),
    drainMs:
      values.drain === undefined ? (settings.drainMs ?? 10_000) : parseDuration('--drain', values.drain),
    store: storeOf(values, settings),
    servePort: portOf(values, settings),
    threads: requireWhole('--threads', values.threads ?? '10', { min: 1, max: threadsMax }),
    view: isLive ? 'live' : 'lines',
    colors: hasColors ? 'ansi' : 'none',
  }
}
