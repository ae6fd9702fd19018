import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { InvalidArgumentError } from '../../core/errors.ts'
import { codeOf, textOf } from '../../core/thrown-value.ts'

/** What file systems answer that have no links, such as exFAT. */
const noLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

export const tokenHashPattern: RegExp = /^[0-9a-f]{64}$/

export function tokenHashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/**
 * 256 random bits cannot be guessed, so a fast hash keeps them. The first sign is no hyphen: after `--token` the
 * command line would take the token for an option.
 */
export function newToken(): string {
  const token = randomBytes(32).toString('base64url')
  return token.startsWith('-') ? newToken() : token
}

export function isHashOf(hash: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(tokenHashOf(token), 'hex'))
}

/**
 * The hash in a token file. Where there is no such file, makes a token and keeps its hash there, readable by this user
 * alone: the token itself is answered once and is nowhere else. Of several processes that start together one makes it,
 * and the others take it.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for a file that holds anything else, or cannot be read or made
 */
export function readOrMakeToken(file: string): { readonly hash: string; readonly token: string | null } {
  const token = newToken()
  try {
    const kept = readIfThere(file)
    if (kept === null && makeFile(file, `${tokenHashOf(token)}\n`)) return { hash: tokenHashOf(token), token }
    const hash = (kept ?? readFileSync(file, 'utf8')).trim()
    if (tokenHashPattern.test(hash)) return { hash, token: null }
    throw new Error(
      hash === ''
        ? 'it is empty. Delete it, and the next start makes a token'
        : 'it holds something else than the SHA-256 of a token',
    )
  } catch (error) {
    throw cannot(file, error)
  }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/**
 * Under its name there is the whole file or none, also for a process that looks in between; without links, as on exFAT,
 * it may be empty for an instant. False when another process was faster.
 */
function makeFile(file: string, text: string): boolean {
  const unnamed = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeFileSync(unnamed, text, { flag: 'wx', mode: 0o600 })
    try {
      linkSync(unnamed, file)
    } catch (error) {
      if (!noLinks.has(codeOf(error) ?? '')) throw error
      writeInPlace(file, text)
    }
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(unnamed, { force: true })
  }
}

/** Of a disk that is full no part stays, which the next start would take for the file of another process. */
function writeInPlace(file: string, text: string): void {
  const descriptor = openSync(file, 'wx', 0o600)
  try {
    writeFileSync(descriptor, text)
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}

function cannot(file: string, cause: unknown): InvalidArgumentError {
  return new InvalidArgumentError(
    'hashFile',
    `createServer: the token file '${file}' cannot be used: ${textOf(cause)}.`,
    'ERR_INVALID_OPTION',
    { cause },
  )
}
