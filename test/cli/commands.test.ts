import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { packageVersion } from '../../src/core/version.ts'
import { projectRoot } from '../support/source-files.ts'
import { run, temporaryFile } from './fake-host.ts'

/** The clock of these tests stands at 2026-01-01T00:00:00Z, a Thursday. */
const inZone = (expression: string, ...options: readonly string[]): ReturnType<typeof run> =>
  run(['next', expression, '--zone', 'Europe/Paris', ...options])

describe('quartz-ts', () => {
  test('prints its version', async () => {
    expect(await run(['--version'])).toEqual({ code: 0, out: `${packageVersion}\n`, err: '' })
  })

  test('lists its commands with --help', async () => {
    const { code, out } = await run(['--help'])
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}crontab FILE/m)
    expect(out).toMatch(/^ {2}next 'CRON'/m)
    expect(out).toMatch(/^ {2}validate FILE/m)
  })

  test('has the same exit codes in its help and in the guide as it ends with', async () => {
    const { out } = await run(['--help'])
    const inHelp = [...out.slice(out.indexOf('Exit codes:')).matchAll(/\b\d+\b/g)].map(Number)
    expect(inHelp).toEqual(Object.values(exitCodes))
    const guide = readFileSync(join(projectRoot, 'docs/guide/command-line.md'), 'utf8')
    const table = guide.slice(guide.indexOf('| code | meaning |'))
    expect([...table.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))).toEqual(inHelp)
  })

  test.each(['crontab', 'next', 'validate'])(
    '%s --help shows every option, and so does help',
    async (name) => {
      const { code, out } = await run([name, '--help'])
      expect(code).toBe(0)
      expect(out).toMatch(new RegExp(`^Usage: quartz-ts ${name} `))
      expect(out).toContain('--zone ZONE')
      expect(await run(['help', name])).toEqual({ code, out, err: '' })
    },
  )

  test('has no line in any help that is wider than 80 characters', async () => {
    const names = commands.map(({ spec }) => [spec.name])
    const texts = await Promise.all([[], ...names].map((args) => run([...args, '--help'])))
    expect(names.length).toBeGreaterThan(15)
    expect(texts.flatMap(({ out }) => out.split('\n')).filter((line) => line.length > 80)).toEqual([])
  })

  test.each([
    [[], /^Usage/],
    [['nxt'], /Unknown command 'nxt'. Did you mean 'next'\?/],
    [['--verbose'], /Unknown option '--verbose'/],
    [['next', '* * * * *', '--cuont', '3'], /Unknown option '--cuont'. Did you mean '--count'\?/],
    [['next', '* * * * *', '--count'], /--count/],
    [['next'], /'next' needs 'CRON'/],
    [['next', '*', '*', '*', '*', '*'], /takes one 'CRON', got 5 arguments. Put quotes round the expression/],
    [['next', '* * * * *', '--count', '0'], /--count takes a whole number from 1 to 10000, got '0'/],
    [['next', '* * * * *', '--zone', 'Europe/Pariss'], /--zone: .*Did you mean 'Europe\/Paris'\?/],
    [['next', '* * * * *', '--time-zone', 'UTC'], /Unknown option '--time-zone'. Did you mean '--zone'\?/],
    [['next', '* * * * *', '--dialect', 'java'], /--dialect takes one of quartz, unix, spring, got 'java'/],
    [['validate', 'x', '--dialect', 'spring', '--seconds'], /--user-column and --seconds are for crontabs/],
    [['next', '* * * * *', '--dst', 'java'], /--dst takes 'vixie' or 'quartz', got 'java'/],
    [['next', '* * * * *', '--from', 'tomorrow'], /--from takes an instant/],
    [['next', '* * * * *', '--from', '2026-02-30'], /--from: there is no day 2026-02-30, got '2026-02-30'/],
    [['history', '--to', '2026-04-31T00:00:00+02:00'], /--to: there is no day 2026-04-31/],
    [['pause', 'job', 'a/b', '--until', '0s'], /--until must be later than now, got '0s'/],
    [['pause', 'all', '--until', '1999-01-01'], /--until must be later than now, got '1999-01-01'/],
    [['pause', 'job', 'a/b', '--until', '2027-02-29'], /--until: there is no day 2027-02-29/],
    [['jobs', 'a/b', '--search', 'x'], /--search is for the list, and 'jobs a\/b' shows one/],
    [['jobs', 'a/b', '--all'], /--all is for the list/],
    [['triggers', 'a/b', '--take', '5'], /--take is for the list/],
    [['triggers', 'a/b', '--state', 'ERROR'], /--state is for the list/],
    [['triggers', '--count', '3'], /--count goes with a KEY: 'triggers KEY --count'/],
    [['status', 'a/b', '--failing'], /--failing is for the list, and 'status a\/b' shows one/],
    [['status', '--group', 'a'], /--group goes with a KEY/],
    [
      ['serve', '--store', 'a.db', '--allowed-hosts', 'ops.example.com,http://ops.example.com:8080'],
      /--allowed-hosts takes names such as ops\.example\.com, .* got 'http:\/\/ops\.example\.com:8080'/,
    ],
    [
      ['serve', '--store', 'a.db', '--trusted-proxies', '10.0.0.0/8,proxy'],
      /--trusted-proxies takes addresses such as 10\.0\.0\.7 or 10\.0\.0\.0\/8, got 'proxy'/,
    ],
    [
      ['serve', '--store', 'a.db', '--allowed-origins', 'https://ops.example.com:8443,ops.example.com'],
      /--allowed-origins takes origins such as https:\/\/ops\.example\.com:8443, .* got 'ops\.example\.com'/,
    ],
    [
      ['serve', '--store', 'a.db', '--allowed-origins', 'https://ops.example.com:443'],
      /--allowed-origins takes origins .* got 'https:\/\/ops\.example\.com:443'/,
    ],
    [['serve', '--store', 'a.db', '--allowed-hosts', ''], /--allowed-hosts takes names .* got ''/],
    [['validate'], /'validate' needs FILE/],
    [['validate', 'no such file'], /Cannot read the crontab 'no such file': ENOENT/],
    [['validate', 'x', '--user-column', 'maybe'], /--user-column takes auto, yes or no, got 'maybe'/],
    [['crontab', 'x', '--job-timeout', '30d'], /--job-timeout takes at most 24d, got '30d'\. Use 'none'/],
    [
      ['serve', '--store', 'a.db', '--start', '--drain', '30d'],
      /^quartz-ts: --drain takes at most 24 d .*'30d'/,
    ],
    [['serve', '--store', 'a.db', '--not-ready', '61m'], /--not-ready takes at most 1 h, got '61m'/],
    [['crontab', 'x', '--drain', '30d'], /--drain takes at most 24 d /],
    [['nodes', 'drain', 'a', '--wait', '30d'], /--wait takes at most 24 d /],
    [['jobs', '--server', 'http://localhost', '--timeout', '0s'], /--timeout takes at least 1 ms, got '0s'/],
    [['jobs', '--store', 'a.db', '--timeout', 'soon'], /--timeout takes a duration/],
    [['crontab', 'x', '--for', '20'], /--for takes a duration .* Did you mean '20s'\?/],
    [['crontab', 'x', '--threads', '0'], /--threads takes a whole number from 1 to 1000/],
  ])('%j is a usage error: exit code 2 and words on stderr alone', async (args, message) => {
    const { code, err, out } = await run(args)
    expect(code).toBe(2)
    expect(err).toMatch(message)
    expect(out).toBe('')
  })
})

describe('next', () => {
  test('explains a Unix expression and prints local and UTC times', async () => {
    const { code, out } = await inZone('*/30 9-17 * * MON-FRI', '--count', '2')
    expect(code).toBe(0)
    expect(out.split('\n')).toEqual([
      'expression  */30 9-17 * * MON-FRI',
      'dialect     Unix (5 fields)',
      'in words    Every 30 minutes, between 09:00 and 17:59, Monday through Friday',
      'time zone   Europe/Paris, daylight saving as in Vixie cron',
      '',
      '1  Thu 2026-01-01 09:00:00 +01:00   2026-01-01T08:00:00Z   in 8 h',
      '2  Thu 2026-01-01 09:30:00 +01:00   2026-01-01T08:30:00Z   in 8 h 30 m',
      '',
    ])
  })

  test('has the same as JSON', async () => {
    const { code, out } = await inZone('0 0 12 1 1 ? 2027', '--count', '2', '--json')
    expect([code, JSON.parse(out)]).toEqual([
      0,
      {
        expression: '0 0 12 1 1 ? 2027',
        dialect: 'quartz',
        words: expect.stringMatching(/^At 12:00/) as string,
        timeZone: 'Europe/Paris',
        dst: 'vixie',
        fires: [
          {
            atMs: Date.UTC(2027, 0, 1, 11),
            utc: '2027-01-01T11:00:00Z',
            local: 'Fri 2027-01-01 12:00:00 +01:00',
          },
        ],
      },
    ])
  })

  test.each([
    ['0 0 12 ? * 6#3', [], 'Quartz (6 fields)', 'Fri 2026-01-16 12:00:00'],
    ['0 0 12 1 1 ? 2027', [], 'Quartz (7 fields)', 'Fri 2027-01-01 12:00:00'],
    ['@daily', [], 'Unix (a macro)', 'Fri 2026-01-02 00:00:00'],
    ['0 12 * * 0', [], 'Unix (5 fields)', 'Sun 2026-01-04 12:00:00'],
    ['*/10 * * * * *', ['--dialect', 'unix'], 'Unix (6 fields)', 'Thu 2026-01-01 01:00:10'],
    ['0 0 0 13 * FRI', ['--dialect', 'spring'], 'Spring (6 fields)', 'Fri 2026-02-13 00:00:00'],
    ['0 0 9 * * MON#1', ['--dialect', 'spring'], 'Spring (6 fields)', 'Mon 2026-01-05 09:00:00'],
  ])('%s %j is read as %s', async (expression, options, dialect, first) => {
    const { out } = await inZone(expression, ...options)
    expect(out).toContain(`dialect     ${dialect}\n`)
    expect(out).toContain(`1  ${first}`)
  })

  test('starts after the instant of --from', async () => {
    const { out } = await inZone('0 12 * * *', '--from', '2028-02-28T12:00:00+01:00', '--count', '1')
    expect(out).toContain('1  Tue 2028-02-29 12:00:00 +01:00')
  })

  test.each([
    ['vixie', ['Sun 2026-03-29 03:00:00 +02:00', 'Mon 2026-03-30 02:30:00 +02:00']],
    ['quartz', ['Mon 2026-03-30 02:30:00 +02:00', 'Tue 2026-03-31 02:30:00 +02:00']],
  ])('a time in a gap is treated as --dst %s says', async (dst, times) => {
    const { out } = await inZone('30 2 * * *', '--dst', dst, '--from', '2026-03-28T12:00:00Z')
    expect(times.map((time) => out.includes(time))).toEqual([true, true])
  })

  test('says when an expression ends', async () => {
    const { code, out } = await inZone('0 0 12 1 1 ? 2027')
    expect(code).toBe(0)
    expect(out).toMatch(/^1 .*2027.*\nAfter that it does not fire any more\.\n$/m)
  })

  test('numbers are aligned', async () => {
    const { out } = await inZone('* * * * *', '--count', '10')
    expect(out).toMatch(/^ 9 {2}Thu.*\n10 {2}Thu/m)
  })

  test('points at what is wrong, with the remedy and the dialect: exit code 1', async () => {
    const { code, err, out } = await run(['next', '0 0 12 * * *'])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    const lines = err.trimEnd().split('\n')
    expect(lines[0]).toMatch(
      /^quartz-ts: Invalid cron expression '0 0 12 \* \* \*': neither day field is '\?'/,
    )
    expect(lines.slice(1)).toEqual([
      '  0 0 12 * * *',
      '             ^',
      "Put '?' in exactly one day field: '0 0 12 * * ?'.",
      'It was read as Quartz (6 fields).',
    ])
  })

  test('does not print a hostile expression back', async () => {
    const { code, err } = await run(['next', '*'.repeat(100_000)])
    expect(code).toBe(1)
    expect(err.length).toBeLessThan(1000)
  })
})

test.each([
  [['migrate', 'postgres://u:secret@db/app']],
  [['postgres://u:secret@db/app']],
  [['crontab', 'postgres://u:secret@db/app', '--store', 'memory']],
  [['migrate', '--store', '/no/such/folder/jobs.db?password=secret']],
  [['migrate', '--store=mysql://u:secret@db/app']],
  [['migrate', '--store=/no/such/folder/host=db password=secret']],
  [['migrate', '--store', 'postgres://u:secret@127.0.0.1:1/app?password=secret']],
  [['migrate', '--store', 'postgres://u:secret@127.0.0.1:nonsense/app?password=secret']],
])('%j prints no password', async (args) => {
  const { code, err, out } = await run(args)
  expect(code).toBeGreaterThan(0)
  expect(err).toMatch(/^quartz-ts: ./)
  expect(out + err).not.toContain('secret')
})

describe('validate', () => {
  const validate = (text: string, ...options: readonly string[]): ReturnType<typeof run> =>
    run(['validate', temporaryFile('crontab', text), ...options])

  test('counts the entries of a good file and says how it was read', async () => {
    const text = 'SHELL=/bin/sh\n# a comment\n\n*/5 * * * * date\n@daily df -h\n'
    expect(await validate(text)).toEqual({
      code: 0,
      out: '2 entries, all valid (user format, without a user column)\n',
      err: '',
    })
  })

  test('has its findings as JSON', async () => {
    const { code, out } = await validate('61 * * * * echo one\n* * * * * date\n', '--json')
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      { good: 1, problems: [{ line: 1, code: 'ERR_INVALID_CRON_EXPRESSION', position: 0 }] },
    ])
    const expressions = await validate('0 0 12 * * ?\n', '--dialect', 'quartz', '--json')
    expect([expressions.code, JSON.parse(expressions.out)]).toMatchObject([0, { good: 1, problems: [] }])
  })

  test('a byte order mark is no part of the first line', async () => {
    const { out } = await validate('\uFEFF61 0 12 * * ?\n', '--dialect', 'quartz', '--json')
    expect(JSON.parse(out)).toMatchObject({ problems: [{ line: 1, text: '61 0 12 * * ?' }] })
  })

  test('reports every bad line with its number, a caret and a count: exit code 1', async () => {
    const text = [
      '61 * * * * echo one',
      '* * * * * echo good',
      '\t*/5 * * foo * echo two',
      '* * * * *',
      'CRON_TZ=Mars/Olympus',
      '@dayly echo three',
      '# quartz-ts: secounds',
      '*/5 * * * * * date',
    ].join('\n')
    const { code, out } = await validate(text)
    expect(code).toBe(1)
    const problems = [...out.matchAll(/:(\d+): (.*)/g)]
    expect(problems.map(([, line]) => Number(line))).toEqual([1, 3, 4, 5, 6, 7, 8])
    expect(problems.map(([, , words]) => words)).toEqual([
      expect.stringMatching(/minute/),
      expect.stringMatching(/month/),
      expect.stringMatching(/command is missing/),
      expect.stringMatching(/Unknown time zone 'Mars\/Olympus'/),
      expect.stringMatching(/macro/),
      expect.stringMatching(/Did you mean 'seconds'\?/),
      expect.stringMatching(/its time zone is that of line 5, which is unknown/),
    ])
    expect(out).toContain('  \t*/5 * * foo * echo two\n  \t        ^\n')
    expect(out).toMatch(/: 7 bad lines, 1 good entry \(user format, without a user column\)\n$/)
  })

  test('shows escape sequences and what turns the direction of writing as signs, with the caret in place', async () => {
    const { out } = await validate('* * * \u001b]0;title\u0007\u001b[2J\u202e\u009b31m * date\r\r\n')
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    expect(out).toContain('\n  * * * ␛]0;title␇␛[2J\ufffd\ufffd31m * date␍\n        ^\n')
  })

  test('says the same of a file whose name has escape sequences', async () => {
    const { out } = await run(['validate', temporaryFile('\u001b[31mcrontab', 'bad\n')])
    expect(out).toMatch(/␛\[31mcrontab:1: (.*\n)+.*␛\[31mcrontab: 1 bad line/)
    const { err } = await run(['validate', 'no \u001b[31msuch file'])
    expect(err).toMatch(/^quartz-ts: Cannot read the crontab 'no ␛\[31msuch file'/)
  })

  test.each([
    ['every line names a user, one of them root', '* * * * * root date\n* * * * * www-data ls\n', 'system'],
    ['no line names root', '* * * * * mail -s hello\n', 'user'],
    ['a line names nobody', '* * * * * root date\n* * * * * nobody-knows ls\n', 'user'],
    ['a comment says so', '# quartz-ts: user-column\n* * * * * deploy ls\n', 'system'],
  ])('takes a file for %3$s format when %1$s', async (_when, text, format) => {
    const { out } = await validate(text)
    expect(out).toContain(`(${format} format`)
  })

  test.each([
    ['yes', 'system'],
    ['no', 'user'],
  ])('--user-column %s decides', async (userColumn, format) => {
    const { out } = await validate('* * * * * root date\n', '--user-column', userColumn)
    expect(out).toContain(`(${format} format`)
  })

  test('a field for seconds is refused until the file or --seconds allows it', async () => {
    const line = '*/5 * * * * 99 date\n'
    const sixFields = '*/5 * * * * 1-5 date\n'
    expect((await validate(`# quartz-ts: seconds\n${sixFields}`)).out).toContain('seconds allowed')
    expect((await validate(sixFields, '--seconds')).out).toContain('seconds allowed')
    expect((await validate(line)).out).not.toContain('seconds')
  })

  test('--dialect spring and quartz read an expression a line', async () => {
    const text = '# of the reports\n0 0 7 * * MON-FRI\n\n0 0 7 ? * MON-FRI\n@daily\n0 0 * * *\n'
    const spring = await validate(text, '--dialect', 'spring')
    expect(spring.code).toBe(1)
    expect([...spring.out.matchAll(/:(\d+): /g)].map(([, line]) => line)).toEqual(['6'])
    expect(spring.out).toMatch(/: 3 good expressions, 1 bad line \(spring dialect\)\n$/)
    const quartz = await validate(text, '--dialect', 'quartz')
    expect([...quartz.out.matchAll(/:(\d+): /g)].map(([, line]) => line)).toEqual(['2', '5', '6'])
    const good = await validate('0 0 7 ? * MON-FRI\n', '--dialect', 'quartz')
    expect(good).toMatchObject({
      code: 0,
      out: expect.stringMatching(/1 good expression, all valid/) as string,
    })
  })

  test('the example of this project is valid', async () => {
    const { code, out } = await run(['validate', 'examples/crontab'], { knownUsers: [] })
    expect(code).toBe(0)
    expect(out).toMatch(/^\d\d entries, all valid \(system format, with a user column; seconds allowed\)\n$/)
  })
})
