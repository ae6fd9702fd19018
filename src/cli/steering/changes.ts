import type { ActionJson } from '../../server/wire/action.ts'
import type { BooleanOption, OptionValues } from '../command.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { lineOf } from '../terminal/text.ts'
import { jsonOption } from './pages.ts'

type ChangeOptions = Readonly<Record<'dry-run' | 'yes' | 'json', BooleanOption>>

/** What every command that changes something takes. */
export const changeOptions: ChangeOptions = {
  'dry-run': { type: 'boolean', help: 'Say what would happen, and do nothing' },
  yes: { type: 'boolean', help: 'Needed where more than one thing is changed' },
  json: jsonOption,
}

export type ChangeValues = OptionValues<ChangeOptions>

/** What an action did, in words: `paused` and `would be paused` of the same verb. */
export interface Words {
  /** As in `job reports/daily`. */
  readonly object: string
  /** As in `paused`. */
  readonly done: string
  /** Said where nothing had to be changed, as in `was paused already`. */
  readonly already: string
}

/** Prints the answer to an action: as JSON, or in a line of words. */
export function printAction(
  action: ActionJson,
  { object, done, already }: Words,
  { json }: ChangeValues,
  { stdout }: CliHost,
): void {
  if (json === true) {
    stdout.write(`${JSON.stringify(action, null, 2)}\n`)
    return
  }
  const { changed, dryRun, landed } = action
  const where = landed.scope === 'cluster' ? 'in the cluster' : `on ${landed.node}`
  const verb = dryRun ? `would be ${done}` : `${done} ${where}`
  stdout.write(lineOf(`${object}: ${changed ? verb : already}`))
}

/** Said below an answer, so that no one waits for a run in vain. `who`: as in `It waits`. */
export function sayPaused(who: string, remedy: string, { json }: ChangeValues, { stdout }: CliHost): void {
  if (json === true) return
  const why = 'the group of the job, the trigger group DEFAULT or everything is paused'
  stdout.write(lineOf(`${who}: ${why}. ${remedy}`))
}

/** Refuses a change of more than one thing that was not agreed to. @throws CommandFailure */
export function requireYes(what: string, { yes, 'dry-run': isDryRun }: ChangeValues): void {
  if (yes === true || isDryRun === true) return
  throw new CommandFailure(
    exitCodes.usage,
    `This changes ${what}. Nothing was done: add --yes, or look first with --dry-run.`,
  )
}

/**
 * What ends a command whose change the server has begun, where a look at it fails. That the server cannot be reached
 * would say that nothing was done, and a server that was started anew knows nothing of it.
 */
export function afterChange(error: unknown): unknown {
  if (!(error instanceof CommandFailure)) return error
  const { exitCode, message } = error
  const isLost = exitCode === exitCodes.unreachable || exitCode === exitCodes.notFound
  return isLost ? new CommandFailure(exitCodes.notKnown, message, { cause: error }) : error
}
