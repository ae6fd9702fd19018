import { describe, expect, it } from 'vitest'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import { type CrontabEntry, parseCrontab } from '../../src/triggers/cron/crontab.ts'

const utc = { timeZone: 'UTC' }

function scheduleText(entry: CrontabEntry | undefined): string {
  return entry === undefined ? 'none' : String(entry.schedule)
}

describe('a user crontab', () => {
  const text = [
    '# minute hour day month weekday',
    '',
    'SHELL=/bin/sh',
    'PATH = /usr/bin:/bin',
    `GREETING="hello = world"`,
    "EMPTY=''",
    '   # indented comment',
    '*/5 * * * *\techo five   spaces  kept',
    '@daily /usr/local/bin/backup --all',
    '@reboot start-me',
    'MAILTO=ops@example.com',
    '0 9-17 * jan-mar mon-fri   mail -s hi% first line%second \\% line',
    '30 2 * * * VAR=1 run',
  ].join('\n')
  const crontab = parseCrontab(text, utc)

  it('has its entries with line number, schedule and command', () => {
    expect(crontab.errors).toEqual([])
    expect(crontab.entries.map((entry) => [entry.line, scheduleText(entry), entry.command])).toEqual([
      [8, '*/5 * * * *', 'echo five   spaces  kept'],
      [9, '@daily', '/usr/local/bin/backup --all'],
      [10, '@reboot', 'start-me'],
      [12, '0 9-17 * JAN-MAR MON-FRI', 'mail -s hi'],
      [13, '30 2 * * *', 'VAR=1 run'],
    ])
    expect(crontab.entries.every((entry) => entry.user === null)).toBe(true)
  })

  it('gives a command the variables that were set above it', () => {
    const [first] = crontab.entries
    expect(first?.environment).toEqual({
      SHELL: '/bin/sh',
      PATH: '/usr/bin:/bin',
      GREETING: 'hello = world',
      EMPTY: '',
    })
    expect(crontab.entries.at(-1)?.environment['MAILTO']).toBe('ops@example.com')
    expect(crontab.environment['MAILTO']).toBe('ops@example.com')
  })

  it('cuts a command at its first percent sign and makes the rest its input', () => {
    expect(crontab.entries.map((entry) => entry.input)).toEqual([
      null,
      null,
      null,
      ' first line\nsecond % line\n',
      null,
    ])
    const [escaped] = parseCrontab('* * * * * date +\\%F', utc).entries
    expect(escaped).toMatchObject({ command: 'date +%F', input: null })
  })

  it.each([
    // A line end is added only where the last line has none.
    ['cat%a', 'cat', 'a\n'],
    ['cat%a%', 'cat', 'a\n'],
    ['cat%a%%', 'cat', 'a\n\n'],
    ['cat%%', 'cat', '\n'],
    // In the command, a backslash that another one escapes does not escape the sign.
    ['echo \\\\%a', 'echo \\\\', 'a\n'],
    ['echo \\\\\\%a', 'echo \\\\%a', null],
    ['echo \\\\\\\\%a', 'echo \\\\\\\\', 'a\n'],
    // In the input it does: there cron looks at one backslash only.
    ['cat%a\\\\%b', 'cat', 'a\\%b\n'],
    // Backslashes before anything else stay.
    ['printf \\n\\', 'printf \\n\\', null],
    ['cat%\\n\\', 'cat', '\\n\\\n'],
  ])('reads backslashes and percent signs as cron does: %j', (line, command, input) => {
    const { entries, errors } = parseCrontab(`* * * * * ${line}`, utc)
    expect(errors).toEqual([])
    expect(entries[0]).toMatchObject({ command, input })
  })

  it('has schedules that can be asked', () => {
    const [first] = crontab.entries
    expect(first?.schedule).toBeInstanceOf(CronExpression)
    if (first === undefined || first.schedule === '@reboot') return
    expect(first.schedule.getTimeAfter(new Date(0))?.toISOString()).toBe('1970-01-01T00:05:00.000Z')
    expect(first.schedule.timeZone).toBe('UTC')
  })
})

describe('a system crontab', () => {
  it('has the user before the command', () => {
    const text = '17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly\n@daily nobody true\n'
    const crontab = parseCrontab(text, { ...utc, userColumn: 'present' })
    expect(crontab.errors).toEqual([])
    expect(crontab.entries.map(({ user, command }) => [user, command])).toEqual([
      ['root', 'cd / && run-parts --report /etc/cron.hourly'],
      ['nobody', 'true'],
    ])
  })

  it('misses a user or a command', () => {
    const crontab = parseCrontab('* * * * *\n* * * * * root\n', { ...utc, userColumn: 'present' })
    expect(crontab.errors.map(({ line, error }) => [line, error.code, error.message])).toEqual([
      [1, 'ERR_INVALID_CRONTAB', expect.stringContaining('the user is missing')],
      [2, 'ERR_INVALID_CRONTAB', expect.stringContaining('the command is missing')],
    ])
  })
})

describe('zones', () => {
  it('are set by CRON_TZ for the entries below, and not by TZ', () => {
    const text = [
      'TZ=Asia/Tokyo',
      '0 0 * * * a',
      'CRON_TZ=America/New_York',
      '0 0 * * * b',
      'TZ=Europe/Paris',
      '0 0 * * * c',
      'CRON_TZ=',
      '0 0 * * * d',
    ].join('\n')
    const crontab = parseCrontab(text, utc)
    expect(crontab.errors).toEqual([])
    const zones = crontab.entries.map(({ schedule }) => (schedule === '@reboot' ? '' : schedule.timeZone))
    expect(zones).toEqual(['UTC', 'America/New_York', 'America/New_York', 'UTC'])
    expect(crontab.entries.map(({ environment }) => environment['TZ'])).toEqual([
      'Asia/Tokyo',
      'Asia/Tokyo',
      'Europe/Paris',
      'Europe/Paris',
    ])
  })

  it('that nobody knows are reported where they are set, and with every entry that has them', () => {
    const text = [
      'CRON_TZ=Mars/Base',
      '0 0 * * * a',
      '@daily b',
      '@reboot c',
      'TZ=Europe/Paris',
      '0 0 * * * still Mars/Base',
      'CRON_TZ=Asia/Tokyo',
      '0 0 * * * d',
    ].join('\n')
    const { entries, environment, errors } = parseCrontab(text, utc)
    expect(errors.map(({ line, error }) => [line, error.code])).toEqual([
      [1, 'ERR_UNKNOWN_TIME_ZONE'],
      [2, 'ERR_INVALID_CRONTAB'],
      [3, 'ERR_INVALID_CRONTAB'],
      [6, 'ERR_INVALID_CRONTAB'],
    ])
    expect(errors[1]?.error).toMatchObject({
      field: 'CRON_TZ',
      message: expect.stringContaining('that of line 1, which is unknown') as string,
    })
    expect(entries.map(({ command }) => command)).toEqual(['c', 'd'])
    expect(environment).toEqual({ TZ: 'Europe/Paris', CRON_TZ: 'Asia/Tokyo' })
  })
})

describe('bad lines', () => {
  it('are all reported, each with its number, and none stops the reading', () => {
    const text = [
      '60 * * * * a',
      '* * * * * good',
      'not a line',
      '* * * *',
      '*/0 * * * * b',
      '@often c',
      '* * * * *',
      '0 0 30 2 * never',
      '* * * * * also good',
    ].join('\r\n')
    const crontab = parseCrontab(text, utc)
    expect(crontab.entries.map(({ line, command }) => [line, command])).toEqual([
      [2, 'good'],
      [9, 'also good'],
    ])
    expect(crontab.errors.map(({ line, text: found }) => [line, found])).toEqual([
      [1, '60 * * * * a'],
      [3, 'not a line'],
      [4, '* * * *'],
      [5, '*/0 * * * * b'],
      [6, '@often c'],
      [7, '* * * * *'],
      [8, '0 0 30 2 * never'],
    ])
    expect(crontab.errors.map(({ error }) => error.code)).toEqual([
      'ERR_INVALID_CRON_EXPRESSION',
      'ERR_INVALID_CRON_EXPRESSION',
      'ERR_INVALID_CRON_EXPRESSION',
      'ERR_INVALID_CRON_EXPRESSION',
      'ERR_INVALID_CRON_EXPRESSION',
      'ERR_INVALID_CRONTAB',
      'ERR_INVALID_CRON_EXPRESSION',
    ])
  })

  it('of any length are refused quickly', () => {
    const startMs = performance.now()
    const crontab = parseCrontab(
      `${'x'.repeat(1_000_000)}\n${'* '.repeat(100_000)}\n${'='.repeat(100_000)}`,
      utc,
    )
    expect(crontab.entries.length + crontab.errors.length).toBe(3)
    expect(performance.now() - startMs).toBeLessThan(5000)
  })
})

describe('seconds', () => {
  it('stand before the minute when they are allowed', () => {
    const text = '*/10 * * * * * tick\n* * * * * five\n0 0 12 * * MON noon\n0 5 * * 1 6 is a command'
    const crontab = parseCrontab(text, { ...utc, seconds: 'optional' })
    expect(crontab.errors).toEqual([])
    expect(crontab.entries.map((entry) => [scheduleText(entry), entry.command])).toEqual([
      ['*/10 * * * * *', 'tick'],
      ['* * * * *', 'five'],
      ['0 0 12 * * MON', 'noon'],
      ['0 5 * * 1 6', 'is a command'],
    ])
  })

  it('are part of the command when they are not', () => {
    const crontab = parseCrontab('*/10 * * * * * tick', utc)
    expect(crontab.entries.map((entry) => [scheduleText(entry), entry.command])).toEqual([
      ['*/10 * * * *', '* tick'],
    ])
  })
})

it('gives a command that ends with a percent sign no input', () => {
  const [entry] = parseCrontab('0 5 * * * cmd%').entries
  expect(entry).toMatchObject({ command: 'cmd', input: null })
})
