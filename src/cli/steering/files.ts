import { closeSync, fchmodSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { textOf } from '../../core/thrown-value.ts'
import type { StringOption } from '../command.ts'
import { UsageError } from '../command.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { visible } from '../terminal/text.ts'

export const outOption: StringOption = {
  type: 'string',
  value: 'FILE',
  help: 'Write to this file, for this user alone (default: standard output)',
}

/** Writes an answer as JSON to a file, or prints it. @throws CommandFailure */
export function writeJson(value: object, file: string | undefined, { stdout, stderr }: CliHost): void {
  const text = `${JSON.stringify(value, null, 2)}\n`
  if (file === undefined) {
    stdout.write(text)
    return
  }
  try {
    writePrivately(file, text)
  } catch (error) {
    throw new CommandFailure(exitCodes.failed, `--out: ${textOf(error)}`, { cause: error })
  }
  stderr.write(visible(`Written to ${file}.\n`))
}

/** Also a file that was there, and that others could read, is for this user alone before anything is in it. */
function writePrivately(file: string, text: string): void {
  const descriptor = openSync(file, 'w', 0o600)
  try {
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, 0o600)
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}

/** The JSON object in a file; `-` is the standard input. @throws UsageError */
export function readJson(file: string): object {
  try {
    // 0 is the standard input.
    const value: unknown = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'))
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    throw new UsageError(`Cannot read '${file}': ${textOf(error)}`, { cause: error })
  }
  throw new UsageError(`'${file}' holds no JSON object.`)
}
