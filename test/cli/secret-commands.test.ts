import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readSecret } from '../../src/cli/terminal/read-secret.ts'
import { isPassword } from '../../src/server/auth/passwords.ts'
import { isHashOf } from '../../src/server/auth/tokens.ts'
import { run } from './fake-host.ts'

test('hash-password prints what a server takes for that password', async () => {
  const { code, out } = await run(['hash-password'], { secret: 'correct horse' })
  expect([code, await isPassword('correct horse', out.trim())]).toEqual([0, true])
  expect(await isPassword('battery staple', out.trim())).toBe(false)
  expect(await run(['hash-password'], { secret: 'short' })).toMatchObject({
    code: 2,
    err: /8 to 1000 characters/,
  })
})

test('new-token prints a token of its own with its SHA-256', async () => {
  const { out } = await run(['new-token'])
  const [, token = '', sha256 = ''] = /^token +(\S{43})\nsha256 +([0-9a-f]{64})\n$/.exec(out) ?? []
  expect(isHashOf(sha256, token)).toBe(true)
  expect((await run(['new-token'])).out).not.toBe(out)
  expect((await run(['new-token', '--help'])).out).toMatch(/^Usage: quartz-ts new-token\n/)
})

test('a password that is piped in is read to the end of its line', async () => {
  expect(await readSecret('? ', Readable.from(['correct ', 'horse\nmore\n']))).toBe('correct horse')
  expect(await readSecret('? ', Readable.from([]))).toBe('')
})
