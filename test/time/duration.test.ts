import { describe, expect, test } from 'vitest'
import { durationMsOf } from '../../src/time/duration.ts'

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['5s', 5000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['0s', 0],
    ['PT5S', 5000],
    ['PT0.25S', 250],
    ['pt1h30m', 5_400_000],
    ['P1DT2H', 93_600_000],
    ['P2W', 1_209_600_000],
  ])('%s are %i ms', (text, ms) => {
    expect(durationMsOf(text)).toBe(ms)
  })

  test.each([
    '',
    '5',
    's',
    '5 s',
    '5s ',
    '5x',
    '-5s',
    'P',
    'PT',
    'P1DT',
    'P1M',
    'P1Y',
    'PT1D',
    'PT-5S',
    '1h5',
  ])("'%s' is none", (text) => {
    expect(durationMsOf(text)).toBeNull()
  })
})
