import {
  checkMethods,
  checkName,
  checkObject,
  checkOptions,
  checkThat,
  checkUntil,
  checkWhole,
  listOf,
} from '../core/arguments.ts'
import { InvalidArgumentError, SchedulerError } from '../core/errors.ts'
import { withoutSecrets } from '../core/secrets.ts'
import { textOf } from '../core/thrown-value.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { PluginContext, SchedulerPlugin } from '../scheduler/scheduler-plugin.ts'
import { settledWithin } from '../time/settled-within.ts'
import { AlertBook, type StoredAlert } from './alert-book.ts'
import { AlertSender, publicAlert } from './alert-sender.ts'
import type { ActiveAlert, AlertChannel, AlertRule, AlertSilence } from './alert-types.ts'
import { AlertWatch } from './alert-watch.ts'
import { ChannelQueue } from './channel-queue.ts'

/** Options of `alertsPlugin`. */
export interface AlertsPluginOptions {
  /** What is looked for: 1 to 100 rules of different names. */
  readonly rules: readonly AlertRule[]
  /** Where alerts go: 1 to 20 channels of different names. */
  readonly channels: readonly AlertChannel[]
  /** How often the rules are checked. Milliseconds, 1,000 to 3,600,000, default 30,000. */
  readonly checkMs?: number
  /** How long one attempt of a channel may take. Milliseconds, 100 to 300,000, default 10,000. */
  readonly timeoutMs?: number
  /**
   * How often a notice is tried before it is given up; the pauses grow from one second to a minute. 1 to 50, default 8.
   */
  readonly attempts?: number
  /**
   * How long the job store may fail before each node says so by itself. Milliseconds, 1,000 to 3,600,000, default
   * 60,000.
   */
  readonly storeAwayMs?: number
}

/** Options of `silence` of the alerts. */
export interface SilenceOptions {
  /** The name of a rule. Default: all rules. */
  readonly rule?: string
  /** What the alerts are about. Default: everything. */
  readonly subject?: string
  /** When it ends by itself; in the future, within a year. */
  readonly until: Date
  /** Who silences: 1 to 200 characters. */
  readonly by: string
  /** Why: 1 to 1,000 characters. */
  readonly reason: string
}

/** What became of a test of a channel. */
export interface ChannelTest {
  readonly channel: string
  /** Null when it worked. */
  readonly error: string | null
}

/**
 * The alerts of a scheduler. Its methods reject with a SchedulerError: ERR_SCHEDULER_STATE before a scheduler has the
 * plugin, ERR_SCHEDULER_SHUTDOWN after that one has shut down or could not be made.
 */
export interface AlertsPlugin extends SchedulerPlugin {
  /** Of the scheduler that has the plugin; null before, and after it has shut down. */
  readonly schedulerName: string | null
  readonly rules: readonly AlertRule[]
  /** The names of the channels. */
  readonly channels: readonly string[]
  /** The alerts that are not over, of the whole cluster. */
  active(): Promise<readonly ActiveAlert[]>
  silences(): Promise<readonly AlertSilence[]>
  /**
   * Sends no alerts for a while; they are raised all the same, and sent when the silence ends before they do.
   *
   * @throws InvalidArgumentError when an option is missing or wrong
   * @throws SchedulerError ERR_NOT_ALLOWED when there are 100 silences
   */
  silence(options: SilenceOptions): Promise<AlertSilence>
  /** False when there is none of that id. */
  endSilence(id: string): Promise<boolean>
  /** Sends a notice over every channel, or over one, and says what became of it. */
  test(channel?: string): Promise<readonly ChannelTest[]>
}

const what = 'alertsPlugin'
const silencesMax = 100
const yearMs = 31_536_000_000
const shutdownMs = 2000

/**
 * Raises alerts, and sends each once for the whole cluster. It must have the same rules and channels on all nodes.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is missing, unknown or wrong
 */
export function alertsPlugin(options: AlertsPluginOptions): AlertsPlugin {
  checkObject(what, 'options', options)
  checkOptions(what, options, {
    rules: listOf(checkThat('an alert rule', isRule)),
    channels: listOf(checkMethods('an alert channel', ['send'])),
    checkMs: checkWhole(1000, 3_600_000),
    timeoutMs: checkWhole(100, 300_000),
    attempts: checkWhole(1, 50),
    storeAwayMs: checkWhole(1000, 3_600_000),
  })
  requireNamed('rules', options.rules, 100)
  requireNamed('channels', options.channels, 20)
  return new Alerts({
    rules: [...options.rules],
    channels: [...options.channels],
    checkMs: options.checkMs ?? 30_000,
    timeoutMs: options.timeoutMs ?? 10_000,
    attempts: options.attempts ?? 8,
    storeAwayMs: options.storeAwayMs ?? 60_000,
  })
}

function isRule(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return ['check', 'watch'].some((method) => typeof Reflect.get(value, method) === 'function')
}

function requireNamed(
  field: 'rules' | 'channels',
  given: readonly { readonly name: string }[] | undefined,
  max: number,
): void {
  if (given === undefined || given.length === 0 || given.length > max) {
    const detail = `${what}: '${field}' must have 1 to ${max} entries.`
    throw new InvalidArgumentError(field, detail, 'ERR_INVALID_OPTION')
  }
  const names = new Set<string>()
  for (const { name } of given) {
    checkName(what, `${field}.name`, name, 'ERR_INVALID_OPTION')
    if (names.has(name)) {
      throw new InvalidArgumentError(
        field,
        `${what}: two of '${field}' are called '${name}'.`,
        'ERR_INVALID_OPTION',
      )
    }
    names.add(name)
  }
}

interface Open {
  readonly schedulerName: string
  readonly scheduler: Scheduler
  readonly context: PluginContext
  readonly book: AlertBook
  readonly queues: readonly ChannelQueue[]
  readonly sender: AlertSender
  readonly watch: AlertWatch
}

class Alerts implements AlertsPlugin {
  readonly name = 'alerts'
  readonly #options: Required<AlertsPluginOptions>
  #open: Open | null = null
  /** The name of the scheduler that had the plugin; null before, and while one has it. */
  #endedName: string | null = null

  constructor(options: Required<AlertsPluginOptions>) {
    this.#options = options
  }

  get schedulerName(): string | null {
    return this.#open?.schedulerName ?? null
  }
  get rules(): readonly AlertRule[] {
    return this.#options.rules
  }
  get channels(): readonly string[] {
    return this.#options.channels.map(({ name }) => name)
  }

  initialize(scheduler: Scheduler, context: PluginContext): void {
    if (this.#open !== null) {
      throw new SchedulerError(
        'ERR_PLUGIN_IN_USE',
        `This alertsPlugin belongs to scheduler '${this.#open.schedulerName}' already; make one for each scheduler.`,
      )
    }
    const { channels } = this.#options
    const book = new AlertBook(context.notes, context.clock)
    const queues = channels.map((channel) => new ChannelQueue({ ...this.#options, ...context, channel }))
    const sender = new AlertSender({ ...context, scheduler, book, queues })
    const watch = new AlertWatch({ ...this.#options, ...context, scheduler, book, sender })
    this.#open = { schedulerName: scheduler.schedulerName, scheduler, context, book, queues, sender, watch }
    this.#endedName = null
  }

  start(): void {
    this.#require().watch.start()
  }

  async shutdown(): Promise<void> {
    const { context, queues, schedulerName, sender, watch } = this.#require()
    await watch.stop()
    const finishing = Promise.all(queues.map((queue) => queue.finish())).then(() => sender.noted())
    await settledWithin(context.clock, shutdownMs, finishing)
    // What a channel holds is given back, so that another node need not wait until this one is taken for dead.
    const closing = Promise.all(queues.map((queue) => queue.close())).then(() => sender.noted())
    // No test is sent through a channel that closes.
    this.#endedName = schedulerName
    await settledWithin(context.clock, shutdownMs, closing)
    this.#open = null
  }

  async active(): Promise<readonly ActiveAlert[]> {
    return (await this.#require().book.alerts()).map(shown)
  }

  async silences(): Promise<readonly AlertSilence[]> {
    const { book, context } = this.#require()
    const nowMs = context.clock.now()
    return (await book.silences())
      .filter(({ untilMs }) => untilMs > nowMs)
      .map(({ id, rule, subject, untilMs, by, reason }) => ({ id, rule, subject, untilMs, by, reason }))
  }

  async silence(options: SilenceOptions): Promise<AlertSilence> {
    const { book, context } = this.#require()
    const nowMs = context.clock.now()
    checkSilence(options, nowMs)
    this.#requireRule(options.rule)
    if ((await this.silences()).length >= silencesMax) {
      throw new SchedulerError('ERR_NOT_ALLOWED', `There are ${silencesMax} silences; end one of them first.`)
    }
    const { rule = null, subject = null, until, by, reason } = options
    const silence = { id: context.ids.uniqueName(), rule, subject, untilMs: until.getTime(), by, reason }
    await book.addSilence(silence)
    return silence
  }

  /** A silence of a rule that was misspelt would be found when its alerts come. */
  #requireRule(rule: string | undefined): void {
    if (rule === undefined || this.rules.some(({ name }) => name === rule)) return
    const known = this.rules.map(({ name }) => `'${name}'`).join(', ')
    const { context, scheduler } = this.#require()
    const { jobStorePersistent } = scheduler.getMetaData()
    if (!jobStorePersistent) {
      const problem = `silence: there is no rule '${rule}'; there are ${known}.`
      throw new InvalidArgumentError('rule', problem, 'ERR_INVALID_OPTION')
    }
    // Another process may have rules of its own.
    context.logger.warn(
      { rule },
      `A silence names the rule '${rule}'; here are ${known}. It is of use only where another process has that rule.`,
    )
  }

  async endSilence(id: string): Promise<boolean> {
    const { book } = this.#require()
    const found = (await book.silences()).find((silence) => silence.id === id)
    return found !== undefined && book.endSilence(found)
  }

  async test(channel?: string): Promise<readonly ChannelTest[]> {
    const { queues, sender } = this.#require()
    const asked = queues.filter(({ name }) => channel === undefined || channel === name)
    if (asked.length === 0) {
      throw new InvalidArgumentError('channel', `There is no channel '${String(channel)}'.`)
    }
    return Promise.all(
      asked.map(async (queue) => {
        try {
          await queue.try(sender.notice('test', 'This is a test of the alerts.', null))
          return { channel: queue.name, error: null }
        } catch (error) {
          return { channel: queue.name, error: withoutSecrets(textOf(error)) }
        }
      }),
    )
  }

  #require(): Open {
    if (this.#endedName !== null)
      throw new SchedulerError('ERR_SCHEDULER_SHUTDOWN', hasShutDown(this.#endedName))
    if (this.#open !== null) return this.#open
    throw new SchedulerError(
      'ERR_SCHEDULER_STATE',
      'Alerts have no scheduler: give the plugin to createScheduler.',
    )
  }
}

function hasShutDown(schedulerName: string): string {
  return `The alerts belong to scheduler '${schedulerName}', which has been shut down: give the plugin to another one.`
}

function shown(alert: StoredAlert): ActiveAlert {
  const { isGivenUp = false } = alert
  return { ...publicAlert(alert), isSent: alert.isSent && !isGivenUp, isGivenUp }
}

function checkSilence(options: SilenceOptions, nowMs: number): void {
  const text = (max: number) =>
    checkThat(
      `1 to ${max} characters`,
      (value) => typeof value === 'string' && value !== '' && value.length <= max,
    )
  checkObject('silence', 'options', options)
  checkOptions('silence', options, {
    rule: text(500),
    subject: text(500),
    until: checkUntil,
    by: text(200),
    reason: text(1000),
  })
  for (const field of ['until', 'by', 'reason'] as const) {
    if ((options as Partial<SilenceOptions>)[field] === undefined) {
      throw new InvalidArgumentError(field, `silence: '${field}' is missing.`, 'ERR_INVALID_OPTION')
    }
  }
  const untilMs = options.until.getTime()
  if (untilMs > nowMs && untilMs <= nowMs + yearMs) return
  throw new InvalidArgumentError(
    'until',
    `silence: 'until' must be later than now and within a year, got ${options.until.toISOString()}.`,
    'ERR_INVALID_OPTION',
  )
}
