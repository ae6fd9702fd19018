import fc from 'fast-check'
import { IANAZone } from 'luxon'
import { describe, expect, it } from 'vitest'
import { InvalidArgumentError } from '../../src/core/errors.ts'
import { dayMs, hourMs, localMsFromCivil, minuteMs } from '../../src/time/civil.ts'
import { TimeZone } from '../../src/time/zone.ts'
import { ZoneNames } from '../../src/time/zone-names.ts'
import { allZoneNames } from '../support/transitions.ts'

const seed = 20_260_308

describe('TimeZone.of', () => {
  it('gives the same object for the same name', () => {
    expect(TimeZone.of('Europe/Paris')).toBe(TimeZone.of('Europe/Paris'))
    expect(TimeZone.of('Europe/Paris').name).toBe('Europe/Paris')
    expect(JSON.stringify({ zone: TimeZone.of('UTC') })).toBe('{"zone":"UTC"}')
  })

  it.each([
    ['Europe/Pari', "Did you mean 'Europe/Paris'?"],
    ['paris', "Did you mean 'Europe/Paris'?"],
    ['New York', "Did you mean 'America/New_York'?"],
    ['Mars/Olympus_Mons', 'Use an IANA name'],
    ['', 'Use an IANA name'],
    ['+05:00', 'Use an IANA name'],
    ['x'.repeat(100_000), 'Use an IANA name'],
  ])('refuses the unknown zone %.20s with a remedy', (name, remedy) => {
    expect.assertions(3)
    try {
      TimeZone.of(name)
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidArgumentError)
      expect(error).toMatchObject({ code: 'ERR_UNKNOWN_TIME_ZONE', field: 'timeZone' })
      expect((error as Error).message).toContain(remedy)
    }
  })

  it('tells known names from unknown ones', () => {
    expect(TimeZone.isKnown('Asia/Tokyo')).toBe(true)
    expect(TimeZone.isKnown('Asia/Tokio')).toBe(false)
  })
})

describe('ZoneNames', () => {
  it('makes each zone once, however its name is spelled', () => {
    const made: string[] = []
    const names = new ZoneNames((name) => made.push(name))
    for (const name of ['europe/paris', 'EUROPE/paris', 'Europe/Paris', 'europe/PARIS']) names.of(name)
    expect(made).toEqual(['Europe/Paris'])
  })
})

/** Links and other names that Intl does not list, as the zone data spell them. */
const unlistedNames = [
  ...['US/Eastern', 'US/East-Indiana', 'Asia/Calcutta', 'Asia/Kolkata', 'Asia/Ho_Chi_Minh', 'Europe/Kyiv'],
  ...['America/Argentina/ComodRivadavia', 'America/North_Dakota/New_Salem', 'America/Knox_IN'],
  ...[
    'Australia/ACT',
    'Australia/LHI',
    'Australia/NSW',
    'Australia/North',
    'Brazil/DeNoronha',
    'Brazil/West',
  ],
  ...['Chile/EasterIsland', 'Mexico/BajaNorte', 'Mexico/BajaSur', 'Canada/Newfoundland'],
  ...['UTC', 'GMT', 'UCT', 'GMT0', 'GMT+0', 'GMT-0', 'Zulu', 'Universal', 'Greenwich'],
  ...['Etc/UTC', 'Etc/GMT', 'Etc/UCT', 'Etc/GMT0', 'Etc/GMT+0', 'Etc/GMT-14', 'Etc/Greenwich', 'Etc/Zulu'],
  ...['EST5EDT', 'CST6CDT', 'EST', 'MST', 'HST', 'CET', 'EET', 'MET', 'WET', 'PRC', 'ROC', 'ROK', 'PST'],
  ...['GB', 'GB-Eire', 'NZ', 'NZ-CHAT', 'W-SU', 'Cuba', 'Eire', 'Hongkong', 'Iceland', 'Navajo', 'Turkey'],
]

describe('spellings of one zone', () => {
  it.each([...unlistedNames, ...allZoneNames()])('%s has the name that the zone data give it', (name) => {
    expect(TimeZone.of(name).name).toBe(name)
    expect(TimeZone.of(name.toLowerCase())).toBe(TimeZone.of(name))
    expect(TimeZone.of(name.toUpperCase())).toBe(TimeZone.of(name))
  })

  it('are of the letters that names have', () => {
    expect(TimeZone.isKnown('Europe/Kiev')).toBe(true)
    expect(TimeZone.isKnown('Europe/\u212Aiev')).toBe(false)
  })
})

describe('TimeZone.system', () => {
  it('follows the TZ variable of the process', () => {
    const before = process.env['TZ']
    try {
      process.env['TZ'] = 'Asia/Kolkata'
      expect(TimeZone.system().offsetMsAt(0)).toBe(5.5 * hourMs)
      process.env['TZ'] = 'America/Lima'
      expect(TimeZone.system().name).toBe('America/Lima')
    } finally {
      if (before === undefined) delete process.env['TZ']
      else process.env['TZ'] = before
    }
  })
})

describe('offsets', () => {
  const names = [
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Pacific/Apia',
    'UTC',
    'Africa/Monrovia',
  ]

  it.each(names)('of %s are what luxon says at random instants from 1900 to 2200', (name) => {
    const zone = TimeZone.of(name)
    const reference = IANAZone.create(name)
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2200, 0, 1) }), (epochMs) => {
        expect(zone.offsetMsAt(epochMs)).toBe(Math.round(reference.offset(epochMs) * minuteMs))
        expect(zone.toLocalMs(epochMs)).toBe(epochMs + zone.offsetMsAt(epochMs))
      }),
      { seed, numRuns: 500 },
    )
  })

  it('change at the very millisecond of a transition', () => {
    const zone = TimeZone.of('America/New_York')
    const atMs = Date.UTC(2026, 2, 8, 7)
    expect(zone.offsetMsAt(atMs - 1)).toBe(-5 * hourMs)
    expect(zone.offsetMsAt(atMs)).toBe(-4 * hourMs)
  })

  it('refuse instants that are no numbers', () => {
    expect(() => TimeZone.of('UTC').offsetMsAt(Number.NaN)).toThrow(InvalidArgumentError)
  })
})

describe('transitions', () => {
  it('of New York in 2026 are found forward and back', () => {
    const zone = TimeZone.of('America/New_York')
    const spring = {
      atMs: Date.UTC(2026, 2, 8, 7),
      offsetBeforeMs: -5 * hourMs,
      offsetAfterMs: -4 * hourMs,
    }
    const autumn = {
      atMs: Date.UTC(2026, 10, 1, 6),
      offsetBeforeMs: -4 * hourMs,
      offsetAfterMs: -5 * hourMs,
    }
    expect(zone.nextTransition(Date.UTC(2026, 0, 1))).toEqual(spring)
    expect(zone.nextTransition(spring.atMs - 1)).toEqual(spring)
    expect(zone.nextTransition(spring.atMs)).toEqual(autumn)
    expect(zone.previousTransition(autumn.atMs)).toEqual(spring)
    expect(zone.previousTransition(autumn.atMs + 1)).toEqual(autumn)
  })

  it('are none for a zone without them', () => {
    expect(TimeZone.of('UTC').nextTransition(0)).toBeNull()
    expect(TimeZone.of('Asia/Tokyo').nextTransition(Date.UTC(2000, 0, 1))).toBeNull()
    expect(TimeZone.of('UTC').previousTransition(0)).toBeNull()
  })

  it('are found when a zone changes twice within a few days', () => {
    // Egypt's summer time began on 7 May 2010, stopped for Ramadan on 11 August and ended on 30 September.
    const zone = TimeZone.of('Africa/Cairo')
    const found: string[] = []
    let next = zone.nextTransition(Date.UTC(2010, 0, 1))
    while (next !== null && next.atMs < Date.UTC(2011, 0, 1)) {
      found.push(new Date(next.atMs).toISOString())
      next = zone.nextTransition(next.atMs)
    }
    expect(found).toEqual([
      '2010-04-29T22:00:00.000Z',
      '2010-08-10T21:00:00.000Z',
      '2010-09-09T22:00:00.000Z',
      '2010-09-30T21:00:00.000Z',
    ])
  })
})

describe('local times', () => {
  const newYork = TimeZone.of('America/New_York')

  it('have one instant on ordinary days', () => {
    expect(newYork.instantsOf(localMsFromCivil(2026, 1, 5, 12))).toEqual([Date.UTC(2026, 0, 5, 17)])
  })

  it('have no instant in a gap, and the first after it stands in', () => {
    const localMs = localMsFromCivil(2026, 3, 8, 2, 30)
    expect(newYork.instantsOf(localMs)).toEqual([])
    expect(newYork.firstInstantAtOrAfter(localMs)).toBe(Date.UTC(2026, 2, 8, 7))
    expect(newYork.lastInstantOf(localMs)).toBeNaN()
  })

  it('have two instants in an overlap', () => {
    const localMs = localMsFromCivil(2026, 11, 1, 1, 30)
    const both = [Date.UTC(2026, 10, 1, 5, 30), Date.UTC(2026, 10, 1, 6, 30)]
    expect(newYork.instantsOf(localMs)).toEqual(both)
    expect(newYork.firstInstantAtOrAfter(localMs)).toBe(both[0])
    expect(newYork.lastInstantOf(localMs)).toBe(both[1])
  })

  it('of a day that a zone left out map to the first instant after it', () => {
    const apia = TimeZone.of('Pacific/Apia')
    const noon = localMsFromCivil(2011, 12, 30, 12)
    expect(apia.instantsOf(noon)).toEqual([])
    expect(apia.firstInstantAtOrAfter(noon)).toBe(Date.UTC(2011, 11, 30, 10))
    expect(apia.toLocalMs(Date.UTC(2011, 11, 30, 10))).toBe(localMsFromCivil(2011, 12, 31))
  })

  it.each(['America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Apia', 'Asia/Kathmandu'])(
    'of %s lead back from every instant within a day of a transition, and nothing else does',
    (name) => {
      const zone = TimeZone.of(name)
      let transition = zone.nextTransition(Date.UTC(1980, 0, 1))
      for (let count = 0; transition !== null && count < 40; count++) {
        const from = transition.atMs - dayMs
        for (let epochMs = from; epochMs < from + 2 * dayMs; epochMs += 10 * minuteMs) {
          const localMs = zone.toLocalMs(epochMs)
          const instants = zone.instantsOf(localMs)
          expect(instants).toContain(epochMs)
          for (const instant of instants) expect(zone.toLocalMs(instant)).toBe(localMs)
          expect(zone.firstInstantAtOrAfter(localMs)).toBe(instants[0])
          expect(zone.lastInstantOf(localMs)).toBe(instants.at(-1))
        }
        transition = zone.nextTransition(transition.atMs)
      }
    },
  )
})

describe('segments', () => {
  it('mark both passes of an overlap', () => {
    const zone = TimeZone.of('America/New_York')
    const atMs = Date.UTC(2026, 10, 1, 6)
    const before = zone.segmentAt(atMs - 1)
    const after = zone.segmentAt(atMs)
    expect(before.untilMs).toBe(atMs)
    expect(before.repeatFromMs).toBe(atMs - hourMs)
    expect(after.fromMs).toBe(atMs)
    expect(after.repeatUntilMs).toBe(atMs + hourMs)
    expect(after.repeatFromMs).toBe(after.untilMs)
  })
})
