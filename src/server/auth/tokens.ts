import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { InvalidArgumentError } from '../../core/errors.ts'
import { codeOf, textOf } from '../../core/thrown-value.ts'

export const tokenHashPattern: RegExp = /^[0-9a-f]{64}$/

export function tokenHashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** 256 random bits cannot be guessed, so a fast hash keeps them. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

export function isHashOf(hash: string, token: string): boolean {
  return timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(tokenHashOf(token), 'hex'))
}

/**
 * The hash in a token file. Where there is no such file, makes a token and keeps its hash there, readable by this user
 * alone: the token itself is answered once and is nowhere else.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for a file that holds anything else, or cannot be read or made
 */
export function readOrMakeToken(file: string): { readonly hash: string; readonly token: string | null } {
  const token = newToken()
  try {
    writeFileSync(file, `${tokenHashOf(token)}\n`, { flag: 'wx', mode: 0o600 })
    return { hash: tokenHashOf(token), token }
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw cannot(file, error)
  }
  const hash = readToken(file).trim()
  if (tokenHashPattern.test(hash)) return { hash, token: null }
  throw cannot(
    file,
    hash === ''
      ? 'it is empty. Delete it, and the next start makes a token'
      : 'it holds something else than the SHA-256 of a token',
  )
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw cannot(file, error)
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
