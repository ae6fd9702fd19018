import { dirname, resolve } from 'node:path'
import { CronExpressionError, InvalidArgumentError, type SchedulerError } from '../../core/errors.ts'
import { nearestName } from '../../core/options.ts'
import { linesOf } from '../../core/text-lines.ts'
import { textOf } from '../../core/thrown-value.ts'
import { visible } from '../../core/visible-text.ts'
import { type Crontab, type CrontabEntry, parseCrontab } from '../../triggers/cron/crontab.ts'
import type { CronDst } from '../../triggers/cron/dst-policy.ts'
import { UsageError } from '../command.ts'
import { count, pointAt } from '../terminal/text.ts'
import { readTextFile } from '../text-file.ts'

export interface CrontabFileOptions {
  readonly zoneName: string
  readonly dst: CronDst
  readonly userColumn: 'auto' | 'yes' | 'no'
  /** Lines may have a field for seconds, whether or not the file says so. */
  readonly seconds: boolean
  /** Names that make a word after the schedule look like a user. */
  readonly knownUsers: readonly string[]
}

/** A crontab with the format in which it was read. */
export interface CrontabFile {
  readonly path: string
  readonly entries: readonly CrontabEntry[]
  /** Every bad line, in order. */
  readonly problems: readonly CrontabLineProblem[]
  readonly format: { readonly userColumn: boolean; readonly seconds: boolean }
  /** The file asks for the two jobs that show worker threads. */
  readonly demoJobs: boolean
  /** The variables at the end of the file. */
  readonly environment: Readonly<Record<string, string>>
}

export interface CrontabLineProblem {
  readonly line: number
  readonly text: string
  readonly error: SchedulerError
}

/**
 * What a comment `# quartz-ts: ...` may say, in whatever capitals: passed over, it would let commands run at other
 * times. It is a comment so that other programs can read the file.
 */
const directives = ['seconds', 'user-column', 'demo-jobs'] as const
type Directive = (typeof directives)[number]

/** @throws UsageError when the file cannot be read */
export function readCrontabFile(path: string, options: CrontabFileOptions): CrontabFile {
  return parseCrontabFile(path, readText(path, 'crontab'), options)
}

/** {@link readCrontabFile} for a given text. */
function parseCrontabFile(path: string, text: string, options: CrontabFileOptions): CrontabFile {
  const { found, problems } = readDirectives(text)
  const seconds = options.seconds || found.has('seconds')
  const parse = (userColumn: boolean): Crontab =>
    parseCrontab(text, {
      timeZone: options.zoneName,
      dst: options.dst,
      seconds: seconds ? 'optional' : 'never',
      userColumn: userColumn ? 'present' : 'absent',
    })
  const userColumn =
    options.userColumn === 'auto'
      ? found.has('user-column') ||
        isSystemPath(path) ||
        looksLikeSystemFormat(parse(true), options.knownUsers)
      : options.userColumn === 'yes'
  const crontab = parse(userColumn)
  return {
    path,
    entries: crontab.entries,
    problems: [...crontab.errors, ...problems].sort((a, b) => a.line - b.line),
    format: { userColumn, seconds },
    demoJobs: found.has('demo-jobs'),
    environment: crontab.environment,
  }
}

/** How the file was read: `system format with a user column`. */
export function describeFormat({ format }: CrontabFile): string {
  const columns = format.userColumn
    ? 'system format, with a user column'
    : 'user format, without a user column'
  return format.seconds ? `${columns}; seconds allowed` : columns
}

/** One problem as a compiler would show it: place, what is wrong and the remedy, the line, a caret. */
export function describeProblem(path: string, { line, text, error }: CrontabLineProblem): string {
  const shown = text.length > 300 ? '' : `\n${markProblem(text, error)}`
  return visible(`${path}:${line}: ${error.message}${shown}\n`)
}

/** `3 bad lines of 12` */
export function describeProblemCount({ entries, problems }: CrontabFile): string {
  return `${count(problems.length, 'bad line')}, ${count(entries.length, 'good entry', 'good entries')}`
}

function markProblem(text: string, error: SchedulerError): string {
  if (!(error instanceof CronExpressionError)) return `  ${text}`
  const scheduleStart = text.length - text.trimStart().length
  return pointAt(text, scheduleStart + error.position)
}

/** @throws UsageError when the file cannot be read */
export function readText(path: string, what: 'crontab' | 'file'): string {
  try {
    return readTextFile(path)
  } catch (error) {
    throw new UsageError(`Cannot read the ${what} '${path}': ${textOf(error)}`, { cause: error })
  }
}

function readDirectives(text: string): { found: ReadonlySet<Directive>; problems: CrontabLineProblem[] } {
  const found = new Set<Directive>()
  const problems: CrontabLineProblem[] = []
  linesOf(text).forEach((line, index) => {
    const words = /^\s*#\s*quartz-ts:(.*)$/i.exec(line)?.[1]?.split(/[\s,]+/) ?? []
    for (const word of words) {
      const directive = directives.find((name) => name === word.toLowerCase())
      if (directive !== undefined) found.add(directive)
      else if (word !== '') problems.push({ line: index + 1, text: line, error: unknownDirective(word) })
    }
  })
  return { found, problems }
}

function unknownDirective(word: string): SchedulerError {
  const nearest = nearestName(word, directives)
  const remedy = nearest === null ? `Known: ${directives.join(', ')}.` : `Did you mean '${nearest}'?`
  return new InvalidArgumentError(
    'directive',
    `Invalid crontab line: '${word}' is nothing that '# quartz-ts:' can say. ${remedy}`,
    'ERR_INVALID_CRONTAB',
  )
}

function isSystemPath(path: string): boolean {
  const absolute = resolve(path)
  return absolute === '/etc/crontab' || dirname(absolute) === '/etc/cron.d'
}

/**
 * Whether the word after every schedule is a user of this machine. Some users are called like programs (`mail`,
 * `sync`), so one of them must be root.
 */
function looksLikeSystemFormat({ entries }: Crontab, knownUsers: readonly string[]): boolean {
  const users = new Set(entries.map(({ user }) => user))
  return users.has('root') && [...users].every((user) => user === 'root' || knownUsers.includes(user ?? ''))
}
