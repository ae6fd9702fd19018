import { type ArgumentCheck, checkOneOf, checkOptions, checkString } from '../../core/arguments.ts'
import { withoutMark } from '../../core/byte-order-mark.ts'
import { InvalidArgumentError, SchedulerError } from '../../core/errors.ts'
import { linesOf } from '../../core/text-lines.ts'
import { TimeZone } from '../../time/zone.ts'
import { CronExpression } from './cron-expression.ts'
import { type CronDst, cronDsts } from './dst-policy.ts'
import { rebootMacro } from './macros.ts'

/** Options of {@link parseCrontab}. */
export interface CrontabOptions {
  /** IANA zone of the entries before any `CRON_TZ` line. Default: the zone of this process. */
  readonly timeZone?: string | undefined
  /** What happens where the wall clock jumps. Default `vixie`. */
  readonly dst?: CronDst | undefined
  /** `present` for /etc/crontab and /etc/cron.d, where the user stands before the command. Default `absent`. */
  readonly userColumn?: 'absent' | 'present' | undefined
  /** `optional` also takes entries with a leading field for seconds. Default `never`. */
  readonly seconds?: 'never' | 'optional' | undefined
}

/** One scheduled command of a crontab. */
export interface CrontabEntry {
  /** Line number in the file, from 1. */
  readonly line: number
  /** The line as it stands in the file. */
  readonly text: string
  /** When it runs; `@reboot` is no time but "when the daemon starts". */
  readonly schedule: CronExpression | '@reboot'
  /** Null in a user's crontab. */
  readonly user: string | null
  readonly command: string
  /**
   * The command's standard input: the text after the first `%`, in which further `%` are line ends. It ends with one.
   * Null for none.
   */
  readonly input: string | null
  /** The variables that were set above this line. */
  readonly environment: Readonly<Record<string, string>>
}

/** A line that is no entry, no variable and no comment. */
export interface CrontabProblem {
  readonly line: number
  readonly text: string
  /** `CronExpressionError` for a bad schedule (its position counts from the schedule's beginning). */
  readonly error: SchedulerError
}

/** What {@link parseCrontab} found; a file is good when `errors` is empty. */
export interface Crontab {
  readonly entries: readonly CrontabEntry[]
  readonly errors: readonly CrontabProblem[]
  /** The variables at the end of the file. */
  readonly environment: Readonly<Record<string, string>>
}

/** The zone of the entries that follow; `name` is undefined for that of this process. */
type EntryZone =
  | { readonly kind: 'known'; readonly name: string | undefined }
  | { readonly kind: 'unknown'; readonly line: number }

/**
 * cron-parser's own file reader takes no text, keeps no line numbers and knows neither users nor `%`; only its parser
 * of expressions is used.
 */
class CrontabReader {
  readonly #options: CrontabOptions
  readonly #entries: CrontabEntry[] = []
  readonly #errors: CrontabProblem[] = []
  #environment: Readonly<Record<string, string>> = {}
  #zone: EntryZone

  constructor(options: CrontabOptions) {
    this.#options = options
    this.#zone = { kind: 'known', name: options.timeZone }
  }

  read(text: string): Crontab {
    linesOf(withoutMark(text)).forEach((line, index) => {
      this.#readLine(index + 1, line)
    })
    return { entries: this.#entries, errors: this.#errors, environment: this.#environment }
  }

  #readLine(line: number, text: string): void {
    const content = text.trim()
    if (content === '' || content.startsWith('#')) return
    try {
      const variable = readVariable(content)
      if (variable === null) this.#entries.push(this.#readEntry(line, text, content))
      else this.#setVariable(line, variable.name, variable.value)
    } catch (error) {
      if (!(error instanceof SchedulerError)) throw error
      this.#errors.push({ line, text, error })
    }
  }

  #setVariable(line: number, name: string, value: string): void {
    if (name === 'CRON_TZ') this.#setZone(line, value)
    this.#environment = { ...this.#environment, [name]: value }
  }

  #setZone(line: number, zone: string): void {
    // While the name is not a known zone, entries below have no zone, because the former one would be wrong.
    this.#zone = { kind: 'unknown', line }
    const name = zone === '' ? this.#options.timeZone : TimeZone.of(zone.replace(/^:/, '')).name
    this.#zone = { kind: 'known', name }
  }

  #readEntry(line: number, text: string, content: string): CrontabEntry {
    const { schedule, rest } = this.#readSchedule(content)
    const [user, afterUser] = this.#options.userColumn === 'present' ? cutWord(rest) : [null, rest]
    if (user === '') throw badLine('user', 'the user is missing after the schedule')
    const { command, input } = splitInput(afterUser)
    if (command === '') throw badLine('command', 'the command is missing')
    return { line, text, schedule, user, command, input, environment: this.#environment }
  }

  #readSchedule(content: string): { schedule: CronExpression | '@reboot'; rest: string } {
    const { seconds } = this.#options
    if (content.startsWith('@')) {
      const [macro, rest] = cutWord(content)
      const reboot = macro.toLowerCase() === rebootMacro
      return { schedule: reboot ? rebootMacro : this.#parse(macro), rest }
    }
    const withSeconds = seconds === 'optional' ? cutWords(content, 6) : null
    if (withSeconds !== null && CronExpression.isValid(withSeconds[0], { dialect: 'unix', seconds })) {
      return { schedule: this.#parse(withSeconds[0]), rest: withSeconds[1] }
    }
    const [five, rest] = cutWords(content, 5)
    return { schedule: this.#parse(five), rest }
  }

  #parse(expression: string): CronExpression {
    const { dst, seconds } = this.#options
    const zone = this.#zone
    const timeZone = zone.kind === 'known' ? zone.name : 'UTC'
    const schedule = CronExpression.parse(expression, { timeZone, dst, seconds, dialect: 'unix' })
    if (zone.kind === 'known') return schedule
    throw new InvalidArgumentError(
      'CRON_TZ',
      `Invalid crontab line: its time zone is that of line ${zone.line}, which is unknown. Correct line ${zone.line}.`,
      'ERR_INVALID_CRONTAB',
    )
  }
}

const crontabOptions: Readonly<Record<keyof CrontabOptions, ArgumentCheck>> = {
  timeZone: checkString,
  dst: checkOneOf(cronDsts),
  userColumn: checkOneOf(['absent', 'present']),
  seconds: checkOneOf(['never', 'optional']),
}

/**
 * Reads the text of a crontab: comments, variables (`NAME = value`, quotes allowed), entries of five fields or a macro.
 * `CRON_TZ` sets the zone of the entries below it; below an unknown zone each entry is a bad line, up to the next that
 * is known. `TZ` is a variable of the commands, as in cron. Every bad line is reported with its number, and the others
 * are still read.
 */
export function parseCrontab(text: string, options: CrontabOptions = {}): Crontab {
  checkString('parseCrontab', 'text', text)
  checkOptions('parseCrontab', options, crontabOptions)
  return new CrontabReader(options).read(text)
}

/** `NAME = value`; null when the line is something else. */
function readVariable(content: string): { name: string; value: string } | null {
  const equals = content.indexOf('=')
  if (equals <= 0) return null
  const name = unquote(content.slice(0, equals).trim())
  if (!/^[^\s"']+$/.test(name)) return null
  return { name, value: unquote(content.slice(equals + 1).trim()) }
}

function unquote(text: string): string {
  const quote = text[0]
  const quoted = (quote === '"' || quote === "'") && text.length > 1 && text.endsWith(quote)
  return quoted ? text.slice(1, -1) : text
}

/** The first word and what follows it without the blanks between. */
function cutWord(text: string): readonly [string, string] {
  return cutWords(text, 1)
}

function cutWords(text: string, count: number): readonly [string, string] {
  let index = 0
  for (let word = 0; word < count; word++) {
    while (isBlank(text[index])) index += 1
    while (index < text.length && !isBlank(text[index])) index += 1
  }
  return [text.slice(0, index), text.slice(index).trimStart()]
}

function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t'
}

/**
 * Cuts a command at its first `%` and turns the further ones into line ends; `\%` stands for the sign itself. As in
 * cron, a backslash before anything else stays, and the last line gets its end.
 */
function splitInput(text: string): { command: string; input: string | null } {
  const end = commandEnd(text)
  const command = text.slice(0, end).replaceAll('\\%', '%').trimEnd()
  const input = text.slice(end + 1).replace(/\\?%/g, (sign) => (sign === '%' ? '\n' : '%'))
  // As in cron, where nothing after the sign is no input.
  if (input === '') return { command, input: null }
  return { command, input: input.endsWith('\n') ? input : `${input}\n` }
}

/**
 * Where the first `%` stands that is not escaped. A backslash that another one escapes does not escape the sign; behind
 * the first `%` cron looks at one backslash only.
 */
function commandEnd(text: string): number {
  let index = 0
  while (index < text.length && text[index] !== '%') index += text[index] === '\\' ? 2 : 1
  return index
}

function badLine(field: string, found: string): InvalidArgumentError {
  return new InvalidArgumentError(
    field,
    `Invalid crontab line: ${found}. A line is 'minute hour day month weekday command'.`,
    'ERR_INVALID_CRONTAB',
  )
}
