import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CronExpressionError } from '../../src/core/errors.ts'
import { dayMs, hourMs, secondMs } from '../../src/time/civil.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'
import type { CronOptions } from '../../src/triggers/cron/cron-reader.ts'
import { anyCron, dailyCron, daysCron, fixedTimesCron } from '../support/cron-arbitrary.ts'
import { CronOracle, quartzWall, readWall, type WallRow } from '../support/cron-oracle.ts'
import { transitionsOf } from '../support/transitions.ts'

const seed = 20_261_101
const zoneNames = [
  'America/New_York',
  'Europe/London',
  'Australia/Lord_Howe',
  'Africa/Cairo',
  'Asia/Beirut',
  'Pacific/Apia',
  'Africa/Casablanca',
  'America/Sao_Paulo',
  'Antarctica/Troll',
  'Asia/Kathmandu',
]

/** A zone and an instant, mostly within hours of one of the zone's transitions from 1990 to 2040. */
const places: fc.Arbitrary<{ zoneName: string; atMs: number }> = fc
  .record({
    zoneName: fc.constantFrom(...zoneNames),
    pick: fc.nat(),
    offMs: fc.integer({ min: -8 * hourMs, max: 8 * hourMs }),
    anywhere: fc.integer({ min: Date.UTC(1990, 0, 1), max: Date.UTC(2040, 0, 1) }),
  })
  .map(({ zoneName, pick, offMs, anywhere }) => {
    const transitions = transitionsOf(zoneName, 1990, 2040)
    const near = transitions[pick % (transitions.length * 2)]
    return { zoneName, atMs: near === undefined ? anywhere : near.atMs + offMs }
  })

/** The expression, or null when it can never fire; anything else that goes wrong fails the test. */
function parse(text: string, options: CronOptions): CronExpression | null {
  try {
    return CronExpression.parse(text, options)
  } catch (error) {
    if (error instanceof CronExpressionError && error.message.includes('can never fire')) return null
    throw error
  }
}

/** The fires in [fromMs, untilMs), walking forward and back, which must agree. */
function firesBetween(cron: CronExpression, fromMs: number, untilMs: number): number[] {
  const fires: number[] = []
  let nextMs = cron.nextTimeMs(fromMs - 1)
  while (nextMs !== null && nextMs < untilMs) {
    fires.push(nextMs)
    nextMs = cron.nextTimeMs(nextMs)
  }
  const back: number[] = []
  let previousMs = cron.previousTimeMs(untilMs)
  while (previousMs !== null && previousMs >= fromMs) {
    back.push(previousMs)
    previousMs = cron.previousTimeMs(previousMs)
  }
  expect(back.reverse()).toEqual(fires)
  return fires
}

/** 20 hours of wall, second by second; the middle 10 are compared, so that an overlap shows what it repeats. */
function secondsRound(
  zoneName: string,
  atMs: number,
): { wall: readonly WallRow[]; fromMs: number; untilMs: number } {
  const middleMs = Math.floor(atMs / secondMs) * secondMs
  const wall = readWall(zoneName, middleMs - 30 * hourMs, middleMs + 5 * hourMs, secondMs)
  return { wall, fromMs: middleMs - 5 * hourMs, untilMs: middleMs + 5 * hourMs }
}

describe.each([
  ['daily expressions of any form', dailyCron],
  ['expressions that name times of day', fixedTimesCron],
])(`for %s, second by second (seed ${seed})`, { timeout: 180_000 }, (_, expressions) => {
  const manyPicks = fc.array(fc.nat(), { minLength: 20, maxLength: 20 })

  it('the vixie policy fires exactly when the oracle does, forward and back, from every kind of instant', () => {
    fc.assert(
      fc.property(expressions, places, manyPicks, (text, { zoneName, atMs }, starts) => {
        const cron = parse(text, { timeZone: zoneName })
        if (cron === null) return
        const { wall, fromMs, untilMs } = secondsRound(zoneName, atMs)
        const fires = new CronOracle(text).vixieFires(wall, secondMs).filter((fireMs) => fireMs >= fromMs)
        const expected = fires.filter((fireMs) => fireMs < untilMs)
        expect(firesBetween(cron, fromMs, untilMs)).toEqual(expected)
        for (const start of starts) {
          const startMs = fromMs + (start % (untilMs - fromMs))
          const later = expected.find((fireMs) => fireMs > startMs)
          const earlier = expected.findLast((fireMs) => fireMs < startMs)
          if (later !== undefined) expect(cron.nextTimeMs(startMs)).toBe(later)
          else expect(cron.nextTimeMs(startMs) ?? untilMs).toBeGreaterThanOrEqual(untilMs)
          if (earlier !== undefined) expect(cron.previousTimeMs(startMs)).toBe(earlier)
          else expect(cron.previousTimeMs(startMs) ?? 0).toBeLessThan(fromMs)
        }
      }),
      { seed, numRuns: 40 },
    )
  })

  it('the quartz policy answers what the oracle answers, from every kind of instant', () => {
    fc.assert(
      fc.property(expressions, places, manyPicks, (text, place, starts) => {
        const cron = parse(text, { timeZone: place.zoneName, dst: 'quartz' })
        if (cron === null) return
        const { wall, untilMs } = secondsRound(place.zoneName, place.atMs)
        const oracle = new CronOracle(text)
        const shown = quartzWall(wall)
        const fires = oracle.quartzFires(shown)
        const compared = wall.filter((row) => row.atMs < untilMs - 4 * hourMs)
        for (const start of starts) {
          const after = compared[start % compared.length]
          if (after === undefined) continue
          const expected = oracle.quartzNext(shown, after)
          const found = cron.nextTimeMs(after.atMs)
          if (expected === null) expect(found === null || found >= untilMs - 4 * hourMs).toBe(true)
          else expect(found).toBe(expected)
          const before = fires.findLast((fireMs) => fireMs < after.atMs)
          if (before !== undefined) expect(cron.previousTimeMs(after.atMs)).toBe(before)
        }
      }),
      { seed, numRuns: 40 },
    )
  })
})

describe(`the days of an expression (seed ${seed})`, () => {
  it('are those that the oracle finds by looking at every day of three years', () => {
    fc.assert(
      fc.property(daysCron, fc.integer({ min: 1990, max: 2120 }), (text, fromYear) => {
        const cron = parse(text, { timeZone: 'UTC' })
        const fromMs = Date.UTC(fromYear, 0, 1, 12)
        const noons = readWall('UTC', fromMs, Date.UTC(fromYear + 3, 0, 1), dayMs)
        const oracle = new CronOracle(text)
        const expected = noons.filter((row) => oracle.matches(row)).map((row) => row.atMs)
        const found = cron === null ? [] : firesBetween(cron, fromMs, Date.UTC(fromYear + 3, 0, 1))
        expect(found).toEqual(expected)
      }),
      { seed, numRuns: 300 },
    )
  })
})

describe(`laws of next and previous (seed ${seed})`, () => {
  const cases = fc.tuple(anyCron, places, fc.constantFrom('vixie' as const, 'quartz' as const))

  it('the next time is later, matches the fields, and leads back to the fire before it', () => {
    fc.assert(
      fc.property(cases, ([text, { zoneName, atMs }, dst]) => {
        const cron = parse(text, { timeZone: zoneName, dst })
        const nextMs = cron?.nextTimeMs(atMs) ?? null
        if (cron === null || nextMs === null) return
        expect(nextMs).toBeGreaterThan(atMs)
        expect(nextMs % secondMs).toBe(0)
        const oracle = new CronOracle(text)
        const [row] = readWall(zoneName, nextMs, nextMs + secondMs, secondMs)
        // A fixed time in a gap fires where the gap ends.
        const shown = row !== undefined && oracle.matches(row)
        expect(shown || (oracle.fixed && dst === 'vixie')).toBe(true)
        const previousMs = cron.previousTimeMs(nextMs)
        if (previousMs === null) return
        expect(previousMs).toBeLessThan(nextMs)
        if (dst === 'vixie') expect(previousMs).toBeLessThanOrEqual(atMs)
        // Java leaves the first pass of an overlap out: what lies before the second pass may look past it.
        if (dst === 'vixie') expect(cron.nextTimeMs(previousMs)).toBe(nextMs)
        else expect(cron.nextTimeMs(previousMs)).toBeLessThanOrEqual(nextMs)
      }),
      { seed, numRuns: 3000 },
    )
  })

  it('the previous time of a time is earlier and leads forward to it', () => {
    fc.assert(
      fc.property(cases, ([text, { zoneName, atMs }, dst]) => {
        const cron = parse(text, { timeZone: zoneName, dst })
        const previousMs = cron?.previousTimeMs(atMs) ?? null
        if (cron === null || previousMs === null) return
        expect(previousMs).toBeLessThan(atMs)
        const nextMs = cron.nextTimeMs(previousMs)
        if (dst === 'vixie') expect(nextMs === null || nextMs >= atMs).toBe(true)
        expect(cron.isSatisfiedBy(new Date(previousMs)) || dst === 'quartz').toBe(true)
      }),
      { seed, numRuns: 3000 },
    )
  })

  it('the same instants are found as dates and as milliseconds, and fractions of a second do not matter', () => {
    fc.assert(
      fc.property(cases, ([text, { zoneName, atMs }, dst]) => {
        const cron = parse(text, { timeZone: zoneName, dst })
        if (cron === null) return
        expect(cron.getTimeAfter(new Date(atMs))?.getTime() ?? null).toBe(cron.nextTimeMs(atMs))
        expect(cron.getTimeBefore(new Date(atMs))?.getTime() ?? null).toBe(cron.previousTimeMs(atMs))
        const secondStartMs = Math.floor(atMs / secondMs) * secondMs
        expect(cron.nextTimeMs(secondStartMs + 999)).toBe(cron.nextTimeMs(secondStartMs))
        expect(cron.previousTimeMs(secondStartMs + 1)).toBe(cron.previousTimeMs(secondStartMs + 1000))
      }),
      { seed, numRuns: 1000 },
    )
  })
})

describe(`any expression of the grammar (seed ${seed})`, () => {
  it('is answered at once, however rarely it fires', () => {
    const tookMs: number[] = []
    fc.assert(
      fc.property(anyCron, places, (text, { atMs }) => {
        const startMs = performance.now()
        const cron = parse(text, { timeZone: 'UTC' })
        cron?.nextTimeMs(atMs)
        cron?.previousTimeMs(atMs)
        cron?.getNextInvalidTimeAfter(new Date(atMs))
        tookMs.push(performance.now() - startMs)
      }),
      { seed, numRuns: 5000 },
    )
    // The slowest few are the machine's own pauses; a search that hangs would not come back at all.
    expect(tookMs.sort((a, b) => a - b)[4950]).toBeLessThan(50)
  })

  it('reads back from its own text and JSON', () => {
    fc.assert(
      fc.property(anyCron, fc.constantFrom(...zoneNames), (text, timeZone) => {
        const cron = parse(text, { timeZone, dst: 'quartz' })
        if (cron === null) return
        const json = JSON.parse(JSON.stringify(cron)) as ReturnType<CronExpression['toJSON']>
        const again = CronExpression.parse(json.expression, json)
        expect(again.equals(cron)).toBe(true)
        expect(String(again)).toBe(text.toUpperCase())
        expect(again.summary()).toEqual(cron.summary())
      }),
      { seed, numRuns: 1000 },
    )
  })

  it('is described in words', () => {
    fc.assert(
      fc.property(anyCron, (text) => {
        const described = parse(text, { timeZone: 'UTC' })?.describe()
        if (described === undefined) return
        expect(described).toMatch(/^[^{}[\]*]{6,}$/)
        expect(described).not.toMatch(/undefined|null|NaN/)
      }),
      { seed, numRuns: 2000 },
    )
  })
})
