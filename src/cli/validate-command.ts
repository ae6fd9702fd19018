import { CronExpressionError } from '../core/errors.ts'
import { linesOf } from '../core/text-lines.ts'
import { visible } from '../core/visible-text.ts'
import type { CronDialect } from '../triggers/cron/cron-dialect.ts'
import { CronExpression } from '../triggers/cron/cron-expression.ts'
import { type Command, type OptionValues, parseCommandLine, UsageError } from './command.ts'
import {
  type CrontabLineProblem,
  describeFormat,
  describeProblem,
  describeProblemCount,
  readCrontabFile,
  readText,
} from './crontab/crontab-file.ts'
import { crontabFormatOptions, requireCrontabFormat } from './crontab/crontab-format-options.ts'
import { exitCodes } from './exit-codes.ts'
import type { CliHost } from './host.ts'
import { dialectOption, requireDialect, requireDst, requireZone } from './shared-options.ts'
import { count } from './terminal/text.ts'

const spec = {
  name: 'validate',
  argument: 'FILE',
  summary: 'Reports every bad line of a crontab with its number',
  options: {
    dialect: dialectOption,
    ...crontabFormatOptions,
    json: { type: 'boolean', help: 'Print it as JSON' },
  },
  notes: [
    "With --dialect quartz or spring the file has one expression a line and nothing else; lines that begin with '#' " +
      'are comments. Without it, or with --dialect unix, it is a crontab.',
    'Exit code 1 when a line is bad.',
  ],
} as const

type Values = OptionValues<typeof spec.options>

/** `quartz-ts validate`: exit code 1 when a line is bad. */
export const validateCommand: Command = {
  spec,
  async run(args, host) {
    const { argument: path, values } = parseCommandLine(spec, args)
    const dialect = requireDialect(values.dialect) ?? 'unix'
    if (dialect !== 'unix') return validateExpressions(path, dialect, values, host)
    const file = readCrontabFile(path, requireCrontabFormat(values, host))
    if (values.json === true) return printJson(path, file.entries.length, file.problems, host)
    for (const problem of file.problems) host.stdout.write(describeProblem(path, problem))
    if (file.problems.length > 0) {
      host.stdout.write(`${visible(path)}: ${describeProblemCount(file)} (${describeFormat(file)})\n`)
      return exitCodes.failed
    }
    host.stdout.write(
      `${count(file.entries.length, 'entry', 'entries')}, all valid (${describeFormat(file)})\n`,
    )
    return exitCodes.ok
  },
}

function validateExpressions(path: string, dialect: CronDialect, values: Values, host: CliHost): number {
  if ((values['user-column'] ?? values.seconds) !== undefined) {
    throw new UsageError('--user-column and --seconds are for crontabs.')
  }
  const options = { dialect, timeZone: requireZone(values.zone).name, dst: requireDst(values.dst) }
  const lines = linesOf(readText(path, 'file'))
    .map((text, index) => ({ line: index + 1, text }))
    .filter(({ text }) => text.trim() !== '' && !text.trimStart().startsWith('#'))
  const problems = lines.flatMap(({ line, text }): CrontabLineProblem[] => {
    const error = problemOf(text.trim(), options)
    return error === null ? [] : [{ line, text, error }]
  })
  if (values.json === true) return printJson(path, lines.length - problems.length, problems, host)
  for (const problem of problems) host.stdout.write(describeProblem(path, problem))
  const good = count(lines.length - problems.length, 'good expression')
  const verdict = problems.length === 0 ? 'all valid' : count(problems.length, 'bad line')
  host.stdout.write(`${visible(path)}: ${good}, ${verdict} (${dialect} dialect)\n`)
  return problems.length === 0 ? exitCodes.ok : exitCodes.failed
}

function problemOf(
  expression: string,
  options: Parameters<typeof CronExpression.parse>[1],
): CronExpressionError | null {
  try {
    CronExpression.parse(expression, options)
    return null
  } catch (error) {
    if (error instanceof CronExpressionError) return error
    throw error
  }
}

/** What is good and what is wrong, for programs. */
function printJson(
  path: string,
  good: number,
  problems: readonly CrontabLineProblem[],
  { stdout }: CliHost,
): number {
  const found = problems.map(({ line, text, error }) => ({
    line,
    text,
    code: error.code,
    message: error.message,
    ...(error instanceof CronExpressionError && { position: error.position }),
  }))
  stdout.write(`${JSON.stringify({ path, good, problems: found }, null, 2)}\n`)
  return problems.length === 0 ? exitCodes.ok : exitCodes.failed
}
