import { describe, expect, test } from 'vitest'
import { Lateness } from '../../src/cli/crontab/lateness.ts'
import { formatDuration, formatShortDuration, parseDuration } from '../../src/cli/duration.ts'
import { formatLocal, formatOffset, formatShort } from '../../src/cli/local-time.ts'
import { formatKey } from '../../src/cli/steering/keys.ts'
import { Table, writePairs } from '../../src/cli/terminal/table.ts'
import { displayWidth, fit, oneLine, pointAt, truncate } from '../../src/cli/terminal/text.ts'
import { TimeZone } from '../../src/time/zone.ts'
import { FakeOutput } from './fake-host.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

describe('durations', () => {
  test.each([
    ['20s', 20 * second],
    ['500ms', 500],
    ['1m30s', 90 * second],
    ['1.5h', 1.5 * hour],
    ['2d', 2 * day],
    ['0s', 0],
  ])('%s is read as %d milliseconds', (text, durationMs) => {
    expect(parseDuration('--for', text)).toBe(durationMs)
  })

  test.each(['', '20', 's', '20 s', '-1s', '5x', '1s2', '20sec'])(
    '%j is refused, naming the option',
    (text) => {
      expect(() => parseDuration('--for', text)).toThrow('--for takes a duration such as 20s')
    },
  )

  test('a number without a unit brings the unit to mind', () => {
    expect(() => parseDuration('--for', '20')).toThrow("Did you mean '20s'?")
  })

  test.each([
    [0.4, '0 ms', '0 ms'],
    [999, '999 ms', '999 ms'],
    [2000, '2 s', '2.0 s'],
    [59_949, '59.9 s', '59.9 s'],
    [59_950, '1 m', '1.0 m'],
    [185 * second, '3 m 5 s', '3.1 m'],
    [3599.6 * second, '1 h', '1.0 h'],
    [47 * hour, '1 d 23 h', '47.0 h'],
    [400 * day, '400 d', '400.0 d'],
  ])('%d ms are shown as %s and, where room is short, %s', (durationMs, long, short) => {
    expect(formatDuration(durationMs)).toBe(long)
    expect(formatShortDuration(durationMs)).toBe(short)
  })
})

describe('local times', () => {
  const kathmandu = TimeZone.of('Asia/Kathmandu')
  const noon = Date.UTC(2026, 0, 2, 6, 15)

  test('have weekday, date, time and offset', () => {
    expect(formatLocal(kathmandu, noon)).toBe('Fri 2026-01-02 12:00:00 +05:45')
    expect(formatLocal(TimeZone.of('America/New_York'), noon)).toBe('Fri 2026-01-02 01:15:00 -05:00')
  })

  test('before 1970 have the right weekday', () => {
    expect(formatLocal(TimeZone.of('UTC'), Date.UTC(1969, 6, 20))).toBe('Sun 1969-07-20 00:00:00 +00:00')
  })

  test('show seconds of an offset only where a zone had them', () => {
    expect(formatOffset(-(4 * hour + 56 * minute + 2 * second))).toBe('-04:56:02')
  })

  test.each([
    [noon + hour, '13:00:00'],
    [noon + 12 * hour, 'Sat 00:00'],
    [noon + 6 * day, 'Thu 12:00'],
    [noon + 7 * day, '9 Jan 26'],
    [noon - day, '1 Jan 26'],
  ])('say no more than tells %d from the same day', (instantMs, text) => {
    expect(formatShort(kathmandu, instantMs, noon)).toBe(text)
  })
})

describe('texts for a terminal', () => {
  test('are as wide as their characters', () => {
    expect(['abc', 'héllo', 'e\u0301', '日本', '✅ ok', 'a\u200bb'].map(displayWidth)).toEqual([
      3, 5, 1, 4, 5, 2,
    ])
  })

  test('are cut with an ellipsis, never inside a wide character', () => {
    expect(truncate('abcdef', 6)).toBe('abcdef')
    expect(truncate('abcdefg', 6)).toBe('abcde…')
    expect(truncate('日本語', 4)).toBe('日…')
    expect(truncate('abc', 0)).toBe('')
  })

  test('are filled to a width on either side', () => {
    expect([fit('ab', 4), fit('ab', 4, 'right'), fit('日本語', 4)]).toEqual(['ab  ', '  ab', '日… '])
  })

  test('keep neither colours nor control characters of what a command printed', () => {
    expect(oneLine('\u001b[31mred\u001b[0m\ttab\u0007 \u001b]0;title\u0007end\r')).toBe('red tab end')
  })

  test('have signs for what turns the direction of writing, which take a cell each', () => {
    expect(oneLine('a\u202ecba\u2066\u200f 日本')).toBe('a\ufffdcba\ufffd\ufffd 日本')
    const stdout = new FakeOutput()
    const columns = [
      { title: 'A', of: ([first = '']: readonly string[]) => first },
      { title: 'B', of: ([, second = '']: readonly string[]) => second },
    ]
    new Table(columns, stdout).write([
      ['\u202e日本', 'x'],
      ['plain', 'y'],
    ])
    expect(stdout.lines.slice(1, 3)).toEqual(['\ufffd日本  x', 'plain  y'])
    writePairs([['description', 'it \u202ebroke']], stdout)
    expect(stdout.text).toContain('description  it \ufffdbroke\n')
  })

  test('keys are shown as they are, with signs for what controls the terminal', () => {
    expect(oneLine(formatKey({ group: 'x', name: 'a  b' }))).toBe('x/a  b')
    expect(oneLine(formatKey({ group: 'x', name: 'a\nb\tc\u001b[31m' }))).toBe('x/a\u240ab\u2409c\u241b[31m')
  })
})

test('a caret stands under its character, also after tabs', () => {
  expect(pointAt('\t*/5 x', 5)).toBe('  \t*/5 x\n  \t    ^')
})

describe('lateness', () => {
  const of = (...values: readonly number[]): Lateness => {
    const lateness = new Lateness()
    for (const value of values) lateness.add(value)
    return lateness
  }

  test('percentiles are the nearest rank', () => {
    const lateness = of(...Array.from({ length: 100 }, (_, index) => 100 - index))
    expect([0.5, 0.99, 1].map((share) => lateness.percentileMs(share))).toEqual([50, 99, 100])
    expect(of(7).percentileMs(0.5)).toBe(7)
  })

  test('of no firing is unknown', () => {
    expect(of().percentileMs(0.5)).toBeNull()
  })

  test('of several jobs is that of all their firings', () => {
    const merged = Lateness.merge([of(1, 1, 9), of(), of(5)])
    expect([0.5, 0.75, 1].map((share) => merged.percentileMs(share))).toEqual([1, 5, 9])
  })
})
