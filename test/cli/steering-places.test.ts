import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { hookServer } from '../support/hook-server.ts'
import { filledScheduler, serverFixture, tokens } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { runNow as run, temporaryFile } from './fake-host.ts'

describe('a place', () => {
  test.each([
    [['jobs'], /Say where the jobs are: --store with .*; or --server/],
    [['jobs', '--store', 'a', '--server', 'http://b'], /--store and --server: give one of them/],
    [['jobs', '--store', '/no/such/file.db'], /There is no file '\/no\/such\/file.db'. 'quartz-ts migrate/],
    [['jobs', '--store', 'mysql://u:secret@db/app'], /'mysql' is neither/],
    [['jobs', '--store', 'a.db', '--token', 'x'], /go with --server/],
    [['jobs', '--server', 'ftp://x'], /--server takes an address/],
    [['jobs', '--server', 'http://u:secret@x'], /without a user/],
    [['jobs', '--server', 'http://x', '--token-file', '/no/such'], /--token-file: ENOENT/],
    [['jobs', '--server', 'http://x', '--token', 'a', '--token-file', 'b'], /give one of them/],
    [['jobs', 'a', 'b', '--store', 'x'], /'jobs' takes one KEY, got 2 arguments/],
    [['jobs', '/a', '--server', 'http://x'], /A key is GROUP\/NAME, got '\/a'/],
    [['jobs', '--take', '0', '--server', 'http://127.0.0.1:1'], /--take takes a whole number/],
    [['jobs', '--group-match', 'contains', '--store', 'x'], /--group-match goes with --group/],
    [['triggers', '--state', 'NORML', '--store', 'x'], /--state takes one of NORMAL, .*, got 'NORML'/],
    [['pause', '--store', 'x'], /'pause' needs one of job, trigger/],
    [['pause', 'jb', '--store', 'x'], /pause takes one of job, .*, got 'jb'/],
    [['pause', 'job', '--store', 'x'], /'pause job' needs KEY/],
    [['pause', 'all', 'x', '--store', 'x'], /too many arguments. Filters are options/],
    [['run', 'job', 'a/b', '--data', '[1]', '--store', 'x'], /--data takes a JSON object/],
    [['run', 'jobs', '--data', '{}', '--store', 'x'], /--data is for one job/],
    [['interrupt', 'job', '--store', 'x'], /'interrupt' needs 'job KEY' or 'execution ID'/],
    [['import', '/no/such', '--store', 'x'], /Cannot read '\/no\/such'/],
    [['history', '--running', 'job:a', '--store', 'x'], /--running takes no filter/],
  ])('%j is a usage error', async (args, message) => {
    const { code, err, out } = await run(args)
    expect(err).toMatch(message)
    expect(code).toBe(2)
    expect(out + err).not.toContain('secret')
  })

  test('that is a database without the tables is left as it is', async () => {
    const file = join(temporaryFolder(), 'other.db')
    const database = new Database(file)
    database.exec('CREATE TABLE other (id INTEGER)')
    expect(await run(['jobs', '--store', file])).toMatchObject({ code: 1, err: /quartz-ts migrate/ })
    expect(database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()).toEqual({ count: 1 })
    database.close()
  })

  test('that is an empty file is no store, and is left as it is', async () => {
    const file = temporaryFile('empty.db', '')
    expect(await run(['jobs', '--store', file])).toMatchObject({ code: 2, out: '' })
    expect(statSync(file).size).toBe(0)
  })

  test('that breaks off in the middle of its answer is away', async () => {
    await using server = await hookServer((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      response.write('{"items":[', () => {
        response.destroy()
      })
    })
    const broken = await run(['jobs', '--server', server.url])
    expect(broken).toMatchObject({ code: 5, err: /^quartz-ts: The answer of the server broke off: .+\.\n$/ })
  })

  test('that does not take the entry of the audit says so, and does what was asked for', async () => {
    const file = join(temporaryFolder(), 'jobs.db')
    const scheduler = await filledScheduler({ jobStore: sqliteJobStore({ filename: file }) })
    onTestFinished(() => scheduler.shutdown())
    const database = new Database(file)
    database.exec(
      `CREATE TRIGGER refused BEFORE INSERT ON qrtz_audit BEGIN SELECT RAISE(ABORT, 'no entries'); END`,
    )
    database.close()
    const { code, err } = await run(['pause', 'trigger', 'mail/hourly', '--store', `sqlite:${file}`])
    expect(code).toBe(0)
    expect(err).toMatch(/^quartz-ts: The job store could not write down .*contradict this change/)
  })

  test('that is away is told from one that refuses', async () => {
    const fixture = await serverFixture({ readOnly: true })
    onTestFinished(() => fixture[Symbol.asyncDispose]())
    const server = ['--server', fixture.address]
    expect(await run(['jobs', '--server', 'http://127.0.0.1:1'])).toMatchObject({
      code: 5,
      err: /cannot be reached/,
    })
    expect(await run(['jobs', ...server])).toMatchObject({
      code: 4,
      err: /--token-file, or set QUARTZ_TS_TOKEN/,
    })
    const refused = await run(['pause', 'all', '--yes', ...server], { QUARTZ_TS_TOKEN: tokens.admin })
    expect(refused).toMatchObject({ code: 4, err: /read-only/ })
    const elsewhere = await run(['jobs', '--server', `${fixture.address}/elsewhere`])
    expect(elsewhere).toMatchObject({ code: 1, err: /its path is wrong/ })
    const other = await run(['jobs', ...server, '--scheduler', 'Other'], { QUARTZ_TS_TOKEN: tokens.admin })
    expect(other).toMatchObject({ code: 3, err: /no scheduler of that name/ })
  })
})

describe('a token', () => {
  test('comes from a file; one that others can read is named', async () => {
    const fixture = await serverFixture()
    onTestFinished(() => fixture[Symbol.asyncDispose]())
    const file = temporaryFile('token', `${tokens.viewer}\n`)
    const { code, err } = await run(['jobs', '--server', fixture.address, '--token-file', file])
    expect([code, err]).toEqual([0, expect.stringMatching(/others can read the token .*chmod 600/)])
    const given = await run(['jobs', '--server', fixture.address, '--token', tokens.viewer])
    expect(given).toMatchObject({ code: 0, err: /other users of this machine can see --token/ })
    const hash = temporaryFile('hash', 'a'.repeat(64))
    const unknown = await run(['jobs', '--server', fixture.address, '--token', 'mistyped'])
    expect(unknown.err).toMatch(
      /is not known here: a token may be mistyped.* a file that holds the right token/s,
    )
    const wrong = await run(['jobs', '--server', fixture.address, '--token-file', hash])
    expect(wrong).toMatchObject({ code: 2, err: /holds the hash that 'serve --token-hash-file' keeps/ })
  })

  test('that goes over the network unencrypted is named, and never printed', async () => {
    const { err } = await run(['jobs', '--server', 'http://quartz.invalid:1', '--token', 'hush-hush'])
    expect(err).toMatch(/the token goes to quartz.invalid:1 unencrypted/)
    expect(err).not.toContain('hush')
  })
})
