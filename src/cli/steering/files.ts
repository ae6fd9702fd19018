import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, textOf } from '../../core/thrown-value.ts'
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

/**
 * A file that was there holds what it held until all is written: a full disk does not take the export of yesterday.
 * Also one that others could read is for this user alone before anything is in it.
 */
function writePrivately(file: string, text: string): void {
  const old = statSync(file, { throwIfNoEntry: false })
  const mayReplace = old?.isFile() === true && !isOpenElsewhere(file, old)
  if (!mayReplace || !replaceFile(file, old, text)) writeInPlace(file, text)
}

/** `/dev/stdout` and its like: what reads the file by its descriptor would not see one that takes its place. */
function isOpenElsewhere(file: string, { dev, ino }: Stats): boolean {
  if (/^\/(dev\/fd|proc)(\/|$)/.test(realpathSync(dirname(file)))) return true
  return [1, 2].some((descriptor) => {
    try {
      const own = fstatSync(descriptor)
      return own.dev === dev && own.ino === ino
    } catch {
      return false
    }
  })
}

/** The folder takes no other file, the file is mounted by itself, or its owner cannot be kept. */
const inPlaceOnly: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'EBUSY',
  'EXDEV',
  'ENAMETOOLONG',
])

/** Puts a new file in the place of the old one, as a whole; false when the old one has to be written itself. */
function replaceFile(link: string, { uid, gid }: Stats, text: string): boolean {
  // What this user may not write is not replaced either.
  closeSync(openSync(link, 'r+'))
  const file = realpathSync(link)
  const unnamed = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const descriptor = openSync(unnamed, 'wx', 0o600)
    try {
      fchownSync(descriptor, uid, gid)
      // Its bytes are on the disk before its name is: after a crash there is the one file or the other.
      writeFileSync(descriptor, text, { flush: true })
    } finally {
      closeSync(descriptor)
    }
    renameSync(unnamed, file)
    return true
  } catch (error) {
    if (inPlaceOnly.has(codeOf(error) ?? '')) return false
    throw error
  } finally {
    rmSync(unnamed, { force: true })
  }
}

function writeInPlace(file: string, text: string): void {
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
