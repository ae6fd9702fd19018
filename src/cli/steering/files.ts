import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf, textOf } from '../../core/thrown-value.ts'
import { visible } from '../../core/visible-text.ts'
import type { StringOption } from '../command.ts'
import { UsageError } from '../command.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { readTextFile } from '../text-file.ts'

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
 * A file that was there holds what it held until all is written, and one that was not there is not there until then: a
 * full disk neither takes the export of yesterday nor leaves a part of that of today. Also a file that others could
 * read is for this user alone before anything is in it.
 */
function writePrivately(file: string, text: string): void {
  const old = statSync(file, { throwIfNoEntry: false })
  const mayReplace = old === undefined || (old.isFile() && !isOpenElsewhere(file, old))
  if (!mayReplace || !putFile(file, old, text)) writeInPlace(file, old, text)
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

/** The folder is missing or takes no other file, the file is mounted by itself, or its owner cannot be kept. */
const inPlaceOnly: ReadonlySet<string> = new Set([
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'EBUSY',
  'EXDEV',
  'ENAMETOOLONG',
])

/** Puts a new file in its place, as a whole; false when the file of this name has to be written itself. */
function putFile(link: string, old: Stats | undefined, text: string): boolean {
  // What this user may not write is not replaced either.
  if (old !== undefined) closeSync(openSync(link, 'r+'))
  const file = old === undefined ? behind(link) : realpathSync(link)
  const unnamed = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const descriptor = openSync(unnamed, 'wx', 0o600)
    try {
      fillFile(descriptor, old, text)
      renameSync(unnamed, file)
      return true
    } finally {
      rmSync(unnamed, { force: true })
    }
  } catch (error) {
    if (inPlaceOnly.has(codeOf(error) ?? '')) return false
    throw error
  }
}

function fillFile(descriptor: number, old: Stats | undefined, text: string): void {
  try {
    if (old === undefined) fchmodSync(descriptor, 0o600)
    else fchownSync(descriptor, old.uid, old.gid)
    // Its bytes are on the disk before its name is: after a crash there is the one file or the other.
    writeFileSync(descriptor, text, { flush: true })
  } finally {
    closeSync(descriptor)
  }
}

/** The file that a link names, which is not there yet. */
function behind(file: string): string {
  const link = lstatSync(file, { throwIfNoEntry: false })
  if (link?.isSymbolicLink() !== true) return file
  return behind(resolve(realpathSync(dirname(file)), readlinkSync(file)))
}

function writeInPlace(file: string, old: Stats | undefined, text: string): void {
  const descriptor = openSync(file, 'w', 0o600)
  try {
    if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, 0o600)
    writeFileSync(descriptor, text)
  } catch (error) {
    if (old === undefined) rmSync(behind(file), { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** The JSON object in a file; `-` is the standard input. @throws UsageError */
export function readJson(file: string): object {
  try {
    // 0 is the standard input.
    const value: unknown = JSON.parse(readTextFile(file === '-' ? 0 : file))
    if (typeof value === 'object' && value !== null) return value
  } catch (error) {
    throw new UsageError(`Cannot read '${file}': ${textOf(error)}`, { cause: error })
  }
  throw new UsageError(`'${file}' holds no JSON object.`)
}
