import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/server/create-server.ts'
import { auth, filledScheduler, serverFixture } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'

const get = (address: string, path: string): Promise<Response> =>
  fetch(`${address}${path}`, { headers: { accept: 'text/html' } })

test.each([
  [
    'is not there',
    (folder: string) => {
      rmSync(folder, { recursive: true })
    },
    /ENOENT/,
  ],
  ['is empty', () => undefined, /ENOENT/],
  [
    'has a folder of that name',
    (folder: string) => {
      mkdirSync(join(folder, 'index.html'))
    },
    /EISDIR/,
  ],
])('a folder for the page that %s is refused, and no token is made', async (_case, make, cause) => {
  const folder = join(temporaryFolder(), 'page')
  mkdirSync(folder)
  make(folder)
  const hashFile = join(temporaryFolder(), 'token')
  const scheduler = await filledScheduler()
  onTestFinished(() => scheduler.shutdown())
  const refused = createServer({ scheduler, auth: { kind: 'token', hashFile }, dashboard: folder })
  await expect(refused).rejects.toMatchObject({ code: 'ERR_INVALID_OPTION', field: 'dashboard' })
  await expect(refused).rejects.toThrow(`'dashboard' names the folder '${folder}', which has no index.html`)
  await expect(refused).rejects.toThrow(cause)
  expect(existsSync(hashFile)).toBe(false)
})

// The source has no page beside it, as a bundle that a bundler made of it.
test("a server without the package's own page warns of it once, and answers where the API is", async () => {
  const told: unknown[] = []
  const quiet = (): void => undefined
  const warn = (fields: object, message: string): unknown => told.push({ ...fields, message })
  const scheduler = await filledScheduler()
  const logger = { debug: quiet, info: quiet, warn, error: quiet }
  await using server = await createServer({ scheduler, auth, logger })
  onTestFinished(() => scheduler.shutdown())
  const address = await server.listen({ port: 0 })
  for (const path of ['/', '/jobs']) {
    const answer = await get(address, path)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('The server runs.')])
  }
  expect(told).toMatchObject([
    {
      path: expect.stringMatching(/dashboard$/) as string,
      err: { code: 'ENOENT' },
      message:
        "the page of the dashboard is not there: leave quartz-ts out of the bundle, or pass 'dashboard' a folder, " +
        'or false',
    },
  ])
})

test('a file that is there and cannot be read is an error, and one that cannot be there is none', async () => {
  const folder = temporaryFolder()
  const index = join(folder, 'index.html')
  writeFileSync(index, 'the page')
  await using fixture = await serverFixture({ dashboard: folder })
  // A link to itself, which no user can read.
  symlinkSync('loop.js', join(folder, 'loop.js'))
  expect((await get(fixture.address, '/loop.js')).status).toBe(500)
  for (const path of [`/${'x'.repeat(300)}`, '/index.html/x', '/a%00b']) {
    expect(await (await get(fixture.address, path)).text()).toBe('the page')
  }
  rmSync(index)
  mkdirSync(index)
  const answer = await get(fixture.address, '/jobs')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'application/problem+json'])
})
