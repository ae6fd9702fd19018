import fs, { readdirSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newToken, readOrMakeToken, tokenHashOf } from '../../src/server/auth/tokens.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const thrown = (code: string): Error => Object.assign(new Error(code), { code })

/** A file system as exFAT is, whose disk may be full when the second file is written. */
function withoutLinks({ isFull }: { readonly isFull: boolean }): void {
  const { linkSync, writeFileSync: real } = fs
  let written = 0
  fs.linkSync = () => {
    throw thrown('EPERM')
  }
  fs.writeFileSync = (file, data, options) => {
    if (!isFull || ++written === 1) {
      real(file, data, options)
      return
    }
    real(file, (data as string).slice(0, 3), options)
    throw thrown('ENOSPC')
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    Object.assign(fs, { linkSync, writeFileSync: real })
    syncBuiltinESMExports()
  })
}

test('the file of a token is whole also where the file system has no links', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'token')
  withoutLinks({ isFull: false })
  const { token } = readOrMakeToken(file)
  expect(readFileSync(file, 'utf8')).toBe(`${tokenHashOf(token ?? '')}\n`)
  expect(readdirSync(folder)).toEqual(['token'])
  expect(readOrMakeToken(file)).toEqual({ hash: tokenHashOf(token ?? ''), token: null })
})

test('no part of the file of a token stays where the disk is full', () => {
  const folder = temporaryFolder()
  withoutLinks({ isFull: true })
  expect(() => readOrMakeToken(join(folder, 'token'))).toThrow(/ENOSPC/)
  expect(readdirSync(folder)).toEqual([])
})

test('no token begins with the sign of an option', () => {
  const tokens = Array.from({ length: 5000 }, newToken)
  expect(tokens.filter((token) => token.startsWith('-'))).toEqual([])
  expect(new Set(tokens).size).toBe(5000)
})
