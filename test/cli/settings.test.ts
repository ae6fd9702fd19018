import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadSettings } from '../../src/cli/config/load-settings.ts'
import { defineConfig } from '../../src/cli/config/quartz-config.ts'
import { readQuartzProperties } from '../../src/cli/config/quartz-properties.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { systemClock } from '../../src/time/clock.ts'
import { filledScheduler, serverFixture, tokens } from '../support/server-fixture.ts'
import { projectRoot } from '../support/source-files.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { FakeHost, run as runCommand, temporaryFile } from './fake-host.ts'

const run = (...args: readonly string[]): ReturnType<typeof runCommand> =>
  runCommand(args, { clock: systemClock, environment: { QUARTZ_TS_TOKEN: tokens.admin } })

const config = (text: string): string => temporaryFile('quartz-ts.config.mjs', `export default ${text}\n`)

async function jobsFile(): Promise<string> {
  const file = join(temporaryFolder(), 'jobs.db')
  const scheduler = await filledScheduler({ jobStore: sqliteJobStore({ filename: file }) })
  await scheduler.shutdown()
  return file
}

describe('a file of settings', () => {
  test('names the store, for commands that look and steer', async () => {
    const settings = config(`{ jobStore: 'sqlite:${await jobsFile()}' }`)
    expect((await run('jobs', '--config', settings)).out).toContain('reports/daily')
  })

  test('names a server, before the store; --store goes before both', async () => {
    const fixture = await serverFixture()
    onTestFinished(() => fixture[Symbol.asyncDispose]())
    const settings = config(`{ jobStore: 'sqlite:/no/such/file', server: '${fixture.address}' }`)
    expect((await run('jobs', '--config', settings)).out).toContain('reports/daily')
    const missing = await run('jobs', '--config', settings, '--store', '/no/such/other')
    expect(missing.err).toContain(`There is no file '/no/such/other'`)
  })

  test.each([
    ['{ stroe: 1 }', /Did you mean 'store'/],
    ['{ jobStore: 1 }', /'jobStore' must be 'sqlite:FILE'/],
    ['{ serve: { port: 70000 } }', /port/],
    ['{ drainMs: -1 }', /drainMs/],
    ['{ get jobStore() { throw new Error("not today") } }', /'jobStore' cannot be read: not today/],
    ['{ serve: { get port() { throw new Error("not today") } } }', /'port' cannot be read: not today/],
    ['1', /must have a default export: export default defineConfig/],
    ['(() => { throw new Error("not today") })()', /cannot be loaded: not today/],
  ])('%s is refused, naming what is wrong', async (text, message) => {
    expect(await run('jobs', '--config', config(text))).toMatchObject({ code: 2, err: message })
  })

  test('that has too short a secret is refused without printing it', async () => {
    const { code, err } = await run('jobs', '--config', config(`{ serve: { sessionSecret: 'hunter2' } }`))
    expect([code, err]).toEqual([2, expect.stringMatching(/'sessionSecret' must be text of 32 characters/)])
    expect(err).not.toContain('hunter2')
  })

  test('that is not there, or of no kind that Node.js reads, is named', async () => {
    expect(await run('jobs', '--config', '/no/such.mjs')).toMatchObject({ code: 2, err: /there is no file/ })
    expect(await run('jobs', '--config', '/no/such.properties')).toMatchObject({ code: 2, err: /ENOENT/ })
  })

  test('in TypeScript is read where Node.js strips types, and else says what to do', async () => {
    const file = temporaryFile(
      'quartz-ts.config.ts',
      `export default { jobStore: 'sqlite:/no/such' satisfies string }\n`,
    )
    const { code, err } = await run('jobs', '--config', file)
    expect(code).toBe(2)
    expect(err).toMatch(
      'typescript' in process.features && process.features.typescript !== false
        ? /There is no file '\/no\/such'/
        : /Node.js v[\d.]+ cannot read: use Node.js 22.18 or later, or write it as JavaScript .* '.mjs'/,
    )
  })

  test('defineConfig checks and freezes', () => {
    expect(Object.isFrozen(defineConfig({ jobStore: 'jobs.db' }))).toBe(true)
    expect(() => defineConfig({ prot: 1 } as object)).toThrow(/prot/)
  })
})

const clustered = `
org.quartz.scheduler.instanceName = Billing
org.quartz.scheduler.instanceId = AUTO
org.quartz.scheduler.skipUpdateCheck = true
org.quartz.scheduler.jobFactory.class = com.example.Factory
org.quartz.threadPool.class = org.quartz.simpl.SimpleThreadPool
org.quartz.threadPool.threadCount = 7
org.quartz.threadPool.threadPriority = 5
org.quartz.jobStore.class = org.quartz.impl.jdbcjobstore.JobStoreTX
org.quartz.jobStore.driverDelegateClass = org.quartz.impl.jdbcjobstore.PostgreSQLDelegate
org.quartz.jobStore.useProperties = true
org.quartz.jobStore.misfireThreshold = 30000
org.quartz.jobStore.tablePrefix = jobs.QRTZ_
org.quartz.jobStore.isClustered = true
org.quartz.jobStore.dataSource = main
org.quartz.dataSource.main.driver = org.postgresql.Driver
org.quartz.dataSource.main.URL = jdbc:postgresql://db.example.com:5433/billing?ssl=true&loginTimeout=5
org.quartz.dataSource.main.user = $@my.user
org.quartz.dataSource.main.password = p@ss word
org.quartz.dataSource.main.maxConnections = 5
org.quartz.dataSource.main.validationQuery = select 1
org.quartz.plugin.history.class = org.quartz.plugins.history.LoggingJobHistoryPlugin
org.quartz.scheduler.instanceNam = Bling
my.user = quartz
orgquartz.threadPool.threadCount = 9
`

describe('quartz.properties', () => {
  test('says the name, the threads, the thresholds and the database', () => {
    const { settings, notes } = readQuartzProperties(clustered)
    expect(settings.schedulerName).toBe('Billing')
    expect(settings.scheduler).toMatchObject({ threadPool: { size: 7 }, misfireThresholdMs: 30_000 })
    expect(settings.store?.place).toBe('postgres://db.example.com:5433/billing?sslmode=require')
    expect(notes).toEqual([
      "org.quartz.dataSource.main.URL: the parameter 'loginTimeout' is one of the JDBC driver and is left out.",
      'org.quartz.scheduler.skipUpdateCheck has no meaning in Node.js.',
      'org.quartz.scheduler.jobFactory.class is not needed: jobs are named under scheduler.jobs.',
      "org.quartz.threadPool.threadPriority is of Java's threads and has no meaning in Node.js.",
      "org.quartz.dataSource.main.validationQuery is of Java's connection pools; the pool of pg is used.",
      "org.quartz.plugin.history.class is a class of Java's; write a plugin and name it under scheduler.plugins in " +
        'quartz-ts.config.ts.',
      'org.quartz.scheduler.instanceNam is not known and not used.',
      "orgquartz.threadPool.threadCount: not a key of Quartz, which all begin with 'org.quartz.'.",
    ])
  })

  test('without useProperties says what data stored here would do to the Java nodes', () => {
    const { notes } = readQuartzProperties(clustered.replace('useProperties = true', 'useProperties = false'))
    expect(notes).toContainEqual(
      expect.stringMatching(/^org\.quartz\.jobStore\.useProperties: not true, .* without data/),
    )
  })

  test('may have a byte order mark, which is no part of the first key', async () => {
    const file = temporaryFile('quartz.properties', `\uFEFF${clustered.trimStart()}`)
    const { stderr } = new FakeHost()
    const { schedulerName } = await loadSettings(file, stderr)
    expect([schedulerName, stderr.text]).toEqual(['Billing', expect.not.stringContaining('instanceName')])
  })

  test.each([
    ['', /jobs are kept in memory of the Java process; name a database with --store/],
    ['org.quartz.jobStore.dataSource = x\n', /dataSource.x.URL is missing/],
    [
      'org.quartz.jobStore.dataSource = x\norg.quartz.dataSource.x.URL = jdbc:mysql://u:secret@h/d\n',
      /dataSource.x.URL is no PostgreSQL database/,
    ],
    [
      'org.quartz.jobStore.dataSource = x\n' +
        'org.quartz.dataSource.x.URL = jdbc:postgresql://h1:5432,h2:5432/d?targetServerType=primary\n',
      /dataSource.x.URL has several hosts, and pg takes one; .*--store/,
    ],
  ])('%j names no database that there is a store for', async (text, note) => {
    const { settings, notes } = readQuartzProperties(text)
    expect(settings.store).toBeNull()
    expect(notes).toEqual([expect.stringMatching(note)])
    const { code, err } = await run('jobs', '--config', temporaryFile('quartz.properties', text))
    expect([code, err]).toEqual([2, expect.stringMatching(/Say where the jobs are/)])
    expect(err).not.toContain('secret')
  })

  test.each([
    ['org.quartz.threadPool.threadCount = many', /threadPool.threadCount must be a whole number, got 'many'/],
    [
      'org.quartz.jobStore.isClustered = si\norg.quartz.jobStore.dataSource = a',
      /must be true or false, got 'si'/,
    ],
    ['a = \\u12', /not a file of properties/],
    ['org.quartz.scheduler.idleWaitTime = 1', /--config: org.quartz.scheduler.idleWaitTime: .*from 1000 to/],
    ['org.quartz.threadPool.threadCount = 999999', /--config: org.quartz.threadPool.threadCount: /],
    [
      'org.quartz.jobStore.clusterCheckinInterval = 1\norg.quartz.jobStore.dataSource = x\n' +
        'org.quartz.dataSource.x.URL = jdbc:postgresql:billing\n',
      /--config: org.quartz.jobStore.clusterCheckinInterval: .*'checkInIntervalMs' must be/,
    ],
  ])('%j is refused', (text, message) => {
    expect(() => readQuartzProperties(text)).toThrow(message)
  })

  test('the user and the host of a JDBC URL may be left out', () => {
    const text = 'org.quartz.jobStore.dataSource = x\norg.quartz.dataSource.x.URL = jdbc:postgresql:billing\n'
    expect(readQuartzProperties(text).settings.store?.place).toBe('postgres://localhost/billing')
  })
})

describe('quartz-ts serve --start', () => {
  const nodeConfig = (file: string, more = ''): string =>
    temporaryFile(
      'quartz-ts.config.mjs',
      `import { defineJob } from '${pathToFileURL(join(projectRoot, 'src/jobs/define-job.ts')).href}'
const echo = defineJob('echo', () => 'done')
const stubborn = defineJob('stubborn', ({ signal }) => new Promise((resolve) => {
  console.error('begun')
  signal.addEventListener('abort', () => resolve('stopped'))
}))
const deaf = defineJob('deaf', () => new Promise(() => {}))
const scheduler = { jobs: [echo, stubborn, deaf], interruptGraceMs: 1, logger: false }
export default { jobStore: '${file}', serve: { port: 0 }, scheduler ${more}}
`,
    )

  test.each([
    { jobType: 'stubborn', code: 0 },
    // The process, which it would keep, ends without it.
    { jobType: 'deaf', code: 124 },
  ])('is a node until a signal; then it drains within its time: $jobType', async ({ jobType, code }) => {
    const file = await jobsFile()
    const host = new FakeHost({ clock: systemClock })
    const ended = runCli(['serve', '--start', '--drain', '50ms', '--config', nodeConfig(file)], host)
    const [, address = '', token = ''] =
      /(http:\S+?)\/#token=(\S+)/.exec(await host.stdout.until(/#token=\S+/)) ?? []
    const asked = { clock: systemClock, environment: { QUARTZ_TS_TOKEN: token } }
    const ask = (...args: readonly string[]): ReturnType<typeof runCommand> =>
      runCommand([...args, '--server', address], asked)
    const definitions = { jobs: [{ key: { group: 'mail', name: 'long' }, fields: { jobType } }] }
    const whole = {
      format: 'quartz-ts',
      version: 1,
      schedulerName: '',
      exportedMs: 0,
      calendars: [],
      triggers: [],
    }
    const added = temporaryFile('long.json', JSON.stringify({ ...whole, ...definitions }))
    expect((await ask('import', added)).out).toContain('+ job mail/long')
    expect((await ask('run', 'job', 'mail/long')).code).toBe(0)
    await expect
      .poll(async () => (await ask('history', '--running')).out, { timeout: 20_000 })
      .toContain('mail/long')
    host.send('SIGTERM')
    expect(await ended).toBe(code)
    expect(host.stdout.text).toMatch(
      /Stopping: waiting up to 50 ms for 1 running job; a second signal ends at once/,
    )
    expect(host.signalListeners).toBe(0)
  })

  test('needs jobs, and a store', async () => {
    const file = await jobsFile()
    expect(await run('serve', '--start', '--store', file)).toMatchObject({
      code: 2,
      err: /needs jobs: name them/,
    })
    expect(await run('serve', '--drain', '1s', '--store', file)).toMatchObject({
      code: 2,
      err: /goes with --start/,
    })
    expect(await run('serve', '--config', config('{}'))).toMatchObject({
      code: 2,
      err: /'serve' needs --store/,
    })
  })
})
