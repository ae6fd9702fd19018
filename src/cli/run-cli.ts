import { SchedulerError } from '../core/errors.ts'
import { nearestName } from '../core/options.ts'
import { requireSupportedNode } from '../core/runtime.ts'
import { withoutSecrets } from '../core/secrets.ts'
import { codeOf } from '../core/thrown-value.ts'
import { packageVersion } from '../core/version.ts'
import { visible } from '../core/visible-text.ts'
import { type Command, helpColumns, helpOf, UsageError, wrap } from './command.ts'
import { commands } from './commands.ts'
import { CommandFailure, exitCodeMeanings, exitCodes } from './exit-codes.ts'
import type { CliHost } from './host.ts'

/** Runs the command that the arguments name and resolves with the exit code of the process. */
export async function runCli(args: readonly string[], host: CliHost): Promise<number> {
  const [name = '', ...rest] = args
  try {
    requireSupportedNode()
    if (name === '--version' || name === '-v') {
      host.stdout.write(`${packageVersion}\n`)
      return exitCodes.ok
    }
    if (name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
      host.stdout.write(overview())
      return exitCodes.ok
    }
    if (name === '') {
      host.stderr.write(overview())
      return exitCodes.usage
    }
    const command = findCommand(name === 'help' ? (rest[0] ?? '') : name)
    if (name === 'help' || rest.includes('--help') || rest.includes('-h')) {
      host.stdout.write(helpOf(command.spec))
      return exitCodes.ok
    }
    return await command.run(rest, host)
  } catch (error) {
    return explain(error, args, host)
  }
}

/** An error of the library is printed as its message; any other error with its stack. */
function explain(error: unknown, args: readonly string[], host: CliHost): number {
  if (error instanceof UsageError) {
    const [name = ''] = args
    const known = commands.some(({ spec }) => spec.name === name)
    host.stderr.write(`quartz-ts: ${readable(error, args)}\n`)
    host.stderr.write(`Try 'quartz-ts ${known ? `${name} ` : ''}--help'.\n`)
    return exitCodes.usage
  }
  if (error instanceof CommandFailure) {
    host.stderr.write(`quartz-ts: ${readable(error, args)}\n`)
    return error.exitCode
  }
  if (!SchedulerError.is(error)) throw error
  host.stderr.write(`quartz-ts: ${readable(error, args)}\n`)
  // The command line names another file than a store.
  if (codeOf(error.cause) === 'SQLITE_NOTADB') return exitCodes.usage
  return error.code === 'ERR_DATABASE_UNAVAILABLE' ? exitCodes.unreachable : exitCodes.failed
}

/** A message as it may be printed, whatever arguments it repeats: they may hold passwords and escape sequences. */
function readable({ message }: Error, args: readonly string[]): string {
  const given = args.flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1)])
  return visible(given.reduce((text, arg) => text.replaceAll(arg, () => withoutSecrets(arg)), message))
}

function findCommand(name: string): Command {
  const found = commands.find(({ spec }) => spec.name === name)
  if (found !== undefined) return found
  const kind = name.startsWith('-') ? 'option' : 'command'
  const nearest = nearestName(
    name,
    commands.map(({ spec }) => spec.name),
  )
  const hint = nearest === null ? '' : ` Did you mean '${nearest}'?`
  throw new UsageError(`Unknown ${kind} '${name}'.${hint}`)
}

function overview(): string {
  const rows = commands.map(({ spec }) => ({ left: `${spec.name} ${spec.argument}`, summary: spec.summary }))
  const width = Math.max(...rows.map(({ left }) => left.length))
  const lines = rows.map(({ left, summary }) => `  ${left.padEnd(width)}  ${summary}`)
  return [
    'Usage: quartz-ts COMMAND ... [options]',
    '',
    'Commands:',
    ...lines,
    '',
    'Options:',
    '  --help     This text; after a command, the help of that command',
    '  --version  The version of quartz-ts',
    '',
    ...wrap(exitCodesInWords(), helpColumns),
    '',
  ].join('\n')
}

function exitCodesInWords(): string {
  const names = Object.keys(exitCodes) as (keyof typeof exitCodes)[]
  return `Exit codes: ${names.map((name) => `${exitCodes[name]} ${exitCodeMeanings[name]}`).join(', ')}.`
}
