import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { checkString } from '../../core/arguments.ts'
import { InvalidArgumentError } from '../../core/errors.ts'

/** 32 MiB and some 80 ms for each guess. */
const cost = { N: 32_768, r: 8, p: 1, maxmem: 67_108_864 } as const
const hashBytes = 32
const passwordMax = 1000

/**
 * The hash of a password as `users` of a server take it: scrypt with a salt of its own.
 *
 * @throws InvalidArgumentError for a password of less than 8 or more than 1000 characters
 */
export async function hashPassword(password: string): Promise<string> {
  checkString('hashPassword', 'password', password)
  if (password.length < 8 || password.length > passwordMax) {
    throw new InvalidArgumentError('password', `hashPassword: a password has 8 to ${passwordMax} characters.`)
  }
  const salt = randomBytes(16)
  const hash = await derive(password, salt)
  return `scrypt:${salt.toString('base64url')}:${hash.toString('base64url')}`
}

const hashPattern = /^scrypt:([\w-]{22}):([\w-]{43})$/

export function isPasswordHash(text: unknown): text is string {
  return typeof text === 'string' && hashPattern.test(text)
}

/** A hash that no password has: a look-up of an unknown user takes as long as that of a known one. */
export const hashOfNothing: string = `scrypt:${'A'.repeat(22)}:${'A'.repeat(43)}`

export async function isPassword(password: string, passwordHash: string): Promise<boolean> {
  const [, salt = '', hash = ''] = hashPattern.exec(passwordHash) ?? []
  const expected = Buffer.from(hash, 'base64url')
  const found = await derive(password.slice(0, passwordMax), Buffer.from(salt, 'base64url'))
  return expected.length === found.length && timingSafeEqual(expected, found)
}

function derive(password: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, hashBytes, cost, (error, hash) => {
      if (error === null) resolve(hash)
      else reject(error)
    })
  })
}
