import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { requireSupportedNode, runtimeOf } from '../../src/core/runtime.ts'
import { driverAdvice, driverProblemOf } from '../../src/jobstore/sqlite/sqlite-driver.ts'
import { projectRoot } from '../support/source-files.ts'

const check = (node: string) => (): void => {
  requireSupportedNode({ node })
}

describe('requireSupportedNode', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0', '100.0.0'])('takes %s', (version) => {
    expect(check(version)).not.toThrow()
  })

  it.each(['18.20.8', '20.18.3', '16.0.0', '9.11.2', ''])('refuses %j, saying what is needed', (version) => {
    expect(check(version)).toThrow(
      expect.objectContaining({
        code: 'ERR_NODE_TOO_OLD',
        message: `Node.js 20.19 or later is needed, and this is ${version}. Update Node.js.`,
      }),
    )
  })

  it('asks for what the package asks for', () => {
    const { engines } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
      readonly engines: { readonly node: string }
    }
    expect(engines.node).toBe('>=20.19')
  })
})

describe('the advice about better-sqlite3', () => {
  it.each([
    [
      { node: '20.20.2' },
      'Node.js',
      /22\.16 on has 'node:sqlite'.* npm install better-sqlite3$/,
      /22\.16 on has 'node:sqlite'.* npm rebuild better-sqlite3$/,
    ],
    [{ node: '24.3.0', bun: '1.3.0' }, 'Bun', /Bun cannot load.*Node\.js.*PostgreSQL/, /Bun cannot load/],
    [{ node: '24.2.0', deno: '2.9.6' }, 'Deno', /Deno cannot load.*Node\.js.*PostgreSQL/, /Deno cannot load/],
  ] as const)('is that of the runtime of %j', (versions, runtime, missing, unbuilt) => {
    expect(runtimeOf(versions)).toBe(runtime)
    expect(driverAdvice('missing', runtime)).toMatch(missing)
    expect(driverAdvice('unbuilt', runtime)).toMatch(unbuilt)
  })

  const notFound = (name: string): Error =>
    Object.assign(new Error(`Cannot find package '${name}' imported from /app/main.js`), {
      code: 'ERR_MODULE_NOT_FOUND',
    })

  it.each([
    [notFound('better-sqlite3'), /^is not installed/],
    [notFound('bindings'), /^could not be loaded: Cannot find package 'bindings'.*external: better-sqlite3/],
    [
      new Error('Dynamic require of "fs" is not supported'),
      /^could not be loaded: Dynamic require of "fs" is not supported\. If this is a bundle.*external/,
    ],
    [new ReferenceError('__filename is not defined'), /^could not be loaded: __filename is not defined\. If/],
    [
      new Error('Could not locate the bindings file. Tried:\n → /app/build/better_sqlite3.node'),
      /^was not built for this Node\.js\. If this is a bundle.* npm rebuild better-sqlite3$/,
    ],
  ])('goes by the error: %s', (error, advice) => {
    expect(driverAdvice(driverProblemOf(error), 'Node.js')).toMatch(advice)
  })
})
