import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  civilFromDays,
  civilFromLocalMs,
  dayMs,
  daysFromCivil,
  daysInMonth,
  epochDayOf,
  floorMod,
  isLeapYear,
  localMsFromCivil,
  weekdayOf,
} from '../../src/time/civil.ts'

const seed = 20_260_301

describe('civil dates', () => {
  it('agree with Date.UTC for every day from 1600 to 2400', () => {
    const lastDay = Date.UTC(2400, 0, 1) / dayMs
    for (let day = Date.UTC(1600, 0, 1) / dayMs; day <= lastDay; day++) {
      const date = new Date(day * dayMs)
      const civil = civilFromDays(day)
      const same =
        civil.year === date.getUTCFullYear() &&
        civil.month === date.getUTCMonth() + 1 &&
        civil.day === date.getUTCDate() &&
        daysFromCivil(civil.year, civil.month, civil.day) === day &&
        weekdayOf(day) === date.getUTCDay() + 1
      if (!same) expect.fail(`day ${day} (${date.toISOString()}) became ${JSON.stringify(civil)}`)
    }
  })

  it('carry months and days over as Date.UTC does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1000, max: 3000 }),
        fc.integer({ min: -50, max: 50 }),
        fc.integer({ min: -1000, max: 1000 }),
        (year, month, day) => {
          expect(daysFromCivil(year, month, day)).toBe(Date.UTC(year, month - 1, day) / dayMs)
        },
      ),
      { seed },
    )
  })

  it('split a local number into the fields that UTC shows and put it together again', () => {
    fc.assert(
      fc.property(fc.integer({ min: -4e13, max: 4e13 }), (localMs) => {
        const civil = civilFromLocalMs(localMs)
        const { year, month, day, hour, minute, second, millisecond } = civil
        expect(new Date(localMs).toISOString()).toBe(
          new Date(Date.UTC(year, month - 1, day, hour, minute, second, millisecond)).toISOString(),
        )
        expect(localMsFromCivil(year, month, day, hour, minute, second, millisecond)).toBe(localMs)
        expect(epochDayOf(localMs)).toBe(daysFromCivil(year, month, day))
      }),
      { seed },
    )
  })

  it('know leap years and month lengths', () => {
    expect([1900, 2000, 2023, 2024, 2100].map(isLeapYear)).toEqual([false, true, false, true, false])
    expect(daysInMonth(2024, 2)).toBe(29)
    expect(daysInMonth(2025, 2)).toBe(28)
    expect(Array.from({ length: 12 }, (_, index) => daysInMonth(2025, index + 1))).toEqual([
      31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
    ])
  })

  it('take remainders that are never negative', () => {
    expect([floorMod(7, 7), floorMod(-1, 7), floorMod(-7, 7), floorMod(8, 7)]).toEqual([0, 6, 0, 1])
  })
})
