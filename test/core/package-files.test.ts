import { describe, expect, test } from 'vitest'
import { needs, requirePackage } from '../../src/core/package-files.ts'

describe('what is said of a package that was not loaded', () => {
  const notFound = (message: string): Error => Object.assign(new Error(message), { code: 'MODULE_NOT_FOUND' })

  test.each([
    [
      notFound("Cannot find module 'pg'\nRequire stack:\n- /app/main.js"),
      'needs the package pg. Run: npm install pg',
    ],
    [
      notFound("Cannot find module 'pg-types'\nRequire stack:\n- /app/node_modules/pg/lib/index.js"),
      "needs the package pg, which could not be loaded: Cannot find module 'pg-types'. If this is a bundle, leave " +
        'the package out of it (external: pg).',
    ],
    [
      new TypeError('load is not a function.'),
      'needs the package pg, which could not be loaded: load is not a function. If this is a bundle, leave the ' +
        'package out of it (external: pg).',
    ],
    [
      'a text',
      'needs the package pg, which could not be loaded: a text. If this is a bundle, leave the package out of it ' +
        '(external: pg).',
    ],
  ])('goes by the error: %s', (error, said) => {
    expect(needs('pg', error)).toBe(said)
  })

  test('names all packages that belong together', () => {
    const error = notFound("Cannot find module 'hono'")
    expect(needs('hono', error, ['hono', 'zod'])).toBe('needs the package hono. Run: npm install hono zod')
  })

  test('is the message of the error, with the cause', () => {
    expect(() => requirePackage('no-such-package', 'This')).toThrow(
      expect.objectContaining({
        code: 'ERR_DRIVER_MISSING',
        message: 'This needs the package no-such-package. Run: npm install no-such-package',
        cause: expect.objectContaining({ code: 'MODULE_NOT_FOUND' }) as unknown,
      }),
    )
  })
})
