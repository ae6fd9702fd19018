import { parseArgs } from 'node:util'
import { meantName } from '../core/options.ts'
import { textOf } from '../core/thrown-value.ts'
import type { CliHost } from './host.ts'

/** The command line is wrong or names something that does not exist: exit code 2. */
export class UsageError extends Error {}

/** An option of a command, for the parser and for the help, so that the two agree. */
export type OptionSpec = StringOption | BooleanOption

export interface StringOption {
  readonly type: 'string'
  /** The name of the value in the help; FILE and STORE are completed with names of files. */
  readonly value: string
  readonly help: string
  /** What the value can be, where that is a short list: for completion. */
  readonly choices?: readonly string[]
}

export interface BooleanOption {
  readonly type: 'boolean'
  readonly help: string
}

export interface CommandSpec {
  readonly name: string
  /** The arguments in the help, such as `FILE`; empty when there are options only. */
  readonly argument: string
  /** What the first argument can be, where that is a short list: for completion. */
  readonly choices?: readonly string[]
  readonly summary: string
  readonly options: Readonly<Record<string, OptionSpec>>
  /** Paragraphs that the help has after the options. */
  readonly notes: readonly string[]
}

export interface Command {
  readonly spec: CommandSpec
  /** Resolves with the exit code. */
  run(args: readonly string[], host: CliHost): Promise<number>
}

export type OptionValues<Options extends CommandSpec['options']> = {
  readonly [Name in keyof Options]?: Options[Name]['type'] extends 'boolean' ? boolean : string
}

/**
 * Reads the command line of a command that takes one argument, or none.
 *
 * @throws UsageError for unknown options, missing values and a missing or a second argument
 */
export function parseCommandLine<Spec extends CommandSpec>(
  spec: Spec,
  args: readonly string[],
): { argument: string; values: OptionValues<Spec['options']> } {
  const { values, positionals } = parseArguments(spec, args)
  const [argument, ...more] = spec.argument === '' ? ['', ...positionals] : positionals
  if (spec.argument === '' && more.length > 0) {
    throw new UsageError(`'${spec.name}' takes options only, got '${more.join(' ')}'.`)
  }
  if (argument === undefined) {
    throw new UsageError(`'${spec.name}' needs ${spec.argument}.`)
  }
  if (more.length > 0) {
    const hint = spec.argument.startsWith("'") ? ' Put quotes round the expression.' : ''
    throw new UsageError(
      `'${spec.name}' takes one ${spec.argument}, got ${positionals.length} arguments.${hint}`,
    )
  }
  return { argument, values }
}

/**
 * Reads the command line of a command that takes any number of arguments.
 *
 * @throws UsageError for unknown options and missing values
 */
export function parseArguments<Spec extends CommandSpec>(
  spec: Spec,
  args: readonly string[],
): { positionals: readonly string[]; values: OptionValues<Spec['options']> } {
  const { values, positionals } = parseStrictly(spec, args)
  return { positionals, values: values as OptionValues<Spec['options']> }
}

function parseStrictly(spec: CommandSpec, args: readonly string[]): ReturnType<typeof parseArgs> {
  try {
    const options = Object.fromEntries(
      Object.entries(spec.options).map(([name, { type }]) => [name, { type }]),
    )
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(parseProblem(spec, error), { cause: error })
  }
}

function parseProblem(spec: CommandSpec, error: unknown): string {
  const message = textOf(error)
  const unknown = /^Unknown option '(--?)([^']*)'/.exec(message)
  if (unknown === null) return message
  const [, dashes = '', name = ''] = unknown
  const nearest = meantName(name, Object.keys(spec.options))
  const hint = nearest === null ? '' : ` Did you mean '--${nearest}'?`
  return `Unknown option '${dashes}${name}'.${hint}`
}

/** As wide as a terminal ordinarily is. */
export const helpColumns = 80

/** The help of a command, for a terminal of ordinary width. */
export function helpOf(spec: CommandSpec): string {
  const rows = Object.entries(spec.options).map(([name, option]) => ({
    left: option.type === 'boolean' ? `  --${name}` : `  --${name} ${option.value}`,
    help: option.help,
  }))
  const width = Math.max(0, ...rows.map(({ left }) => left.length)) + 2
  const options = rows.map(({ left, help }) => {
    const lines = wrap(help, helpColumns - width)
    return lines.map((line, index) => (index === 0 ? left : '').padEnd(width) + line).join('\n')
  })
  const notes = spec.notes.map((paragraph) => `${wrap(paragraph, helpColumns).join('\n')}\n`)
  const words = ['quartz-ts', spec.name, spec.argument, options.length === 0 ? '' : '[options]']
  const usage = `Usage: ${words.filter(Boolean).join(' ')}\n`
  const listed = options.length === 0 ? [] : [`Options:\n${options.join('\n')}\n`]
  return [usage, `${spec.summary}.\n`, ...listed, ...notes].join('\n')
}

/** A text as lines of at most so many characters, broken at blanks. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}
