import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../../src/triggers/calendars/calendar-json.ts'
import { triggerFromJSON, triggerToJSON } from '../../src/triggers/families/trigger-json.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { calendarDefinitions, instants, propertySeed, triggers } from '../support/trigger-arbitraries.ts'
import { fireInstants } from '../support/trigger-text.ts'

const seed = propertySeed
const fractions = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })

/** A trigger that has fired a few times, if it can. */
const firedTriggers = fc.tuple(triggers, fc.integer({ min: 0, max: 3 })).map(([trigger, times]) => {
  let fired = trigger.computeFirstFireTime(null)
  for (let time = 0; time < times; time++) fired = fired.triggered(null)
  return fired
})

describe(`the schedule of any trigger (seed ${seed})`, () => {
  it('has its next time strictly later, within start and end', () => {
    fc.assert(
      fc.property(triggers, instants, (trigger, after) => {
        const next = trigger.fireTimeAfterMs(after)
        if (next === null) return
        expect(next).toBeGreaterThan(after)
        expect(next).toBeGreaterThanOrEqual(trigger.startTimeMs)
        expect(next).toBeLessThanOrEqual(trigger.endTimeMs ?? next)
      }),
      { seed, numRuns: 2000 },
    )
  })

  it('leaves nothing out: every instant before the next time has the same next time', () => {
    fc.assert(
      fc.property(triggers, fractions, fractions, (trigger, early, late) => {
        const first = trigger.firstFireTimeMs()
        if (first === null) return
        expect(trigger.fireTimeAfterMs(first - 1)).toBe(first)
        const after = first + Math.floor(early * 1e10)
        const next = trigger.fireTimeAfterMs(after)
        if (next === null) return
        expect(trigger.fireTimeAfterMs(next - 1)).toBe(next)
        expect(trigger.fireTimeAfterMs(after + Math.floor(late * (next - after)))).toBe(next)
      }),
      { seed, numRuns: 2000 },
    )
  })

  it('ends with its final time', () => {
    fc.assert(
      fc.property(triggers, (trigger) => {
        const final = trigger.finalFireTimeMs()
        if (final === null) return
        expect(trigger.fireTimeAfterMs(final - 1, 0)).toBe(final)
        const isCounted = 'repeatCount' in trigger && trigger.repeatCount !== -1
        if (!isCounted || trigger.type === 'simple') expect(trigger.fireTimeAfterMs(final)).toBeNull()
        const all = fireInstants(trigger, 200)
        if (all.length < 200) expect(all.at(-1)).toBe(final)
      }),
      { seed, numRuns: 2000 },
    )
  })
})

describe(`a trigger with a calendar (seed ${seed})`, () => {
  it('fires at the times of its schedule that the calendar includes, and at no other', () => {
    fc.assert(
      fc.property(triggers, calendarDefinitions, (trigger, definition) => {
        const isCounted = 'repeatCount' in trigger && trigger.repeatCount !== -1
        if (isCounted && trigger.type === 'dailyTimeInterval') return
        const calendar = calendarFromJSON(definition)
        const plain = fireInstants(trigger, 60)
        const expected = plain.filter((instant) => calendar.isTimeIncluded(instant))
        expect(fireInstants(trigger, expected.length, calendar)).toEqual(expected)
      }),
      { seed, numRuns: 1000 },
    )
  })

  it('never fires, at once, when the calendar leaves out everything', () => {
    const nothing = calendarFromJSON({ type: 'weekly', timeZone: 'UTC', excludedDays: [1, 2, 3, 4, 5, 6, 7] })
    fc.assert(
      fc.property(triggers, (trigger) => {
        expect(trigger.computeFirstFireTime(nothing).nextFireTimeMs).toBeNull()
      }),
      { seed, numRuns: 500 },
    )
  })

  it('ends its search also where a calendar has a hole at every second that the trigger misses', () => {
    const holes: Calendar = {
      type: 'holes',
      description: null,
      baseCalendar: null,
      isTimeIncluded: (timeMs) => timeMs % 1000 !== 0,
      nextIncludedTime: (timeMs) => timeMs + 1,
      toJSON: () => ({ type: 'holes' }),
    }
    fc.assert(
      fc.property(triggers, (trigger) => {
        const onSeconds = trigger.getTriggerBuilder().startAt(new Date(0)).endAt(null).build()
        const next = onSeconds.computeFirstFireTime(holes).nextFireTimeMs
        if (next !== null) expect(next % 1000).not.toBe(0)
      }),
      { seed, numRuns: 50 },
    )
  })
})

describe(`a trigger that moves along (seed ${seed})`, () => {
  it('stays as it was: every operation gives a new one', () => {
    fc.assert(
      fc.property(firedTriggers, instants, (trigger, now) => {
        const before = JSON.stringify(triggerToJSON(trigger))
        trigger.triggered(null)
        trigger.updateAfterMisfire(null, now)
        trigger.updateWithNewCalendar(null, now, 5000)
        trigger.withJobKey(new JobKey('other'))
        expect(JSON.stringify(triggerToJSON(trigger))).toBe(before)
      }),
      { seed },
    )
  })

  it('remembers what it fired and counts it', () => {
    fc.assert(
      fc.property(firedTriggers, (trigger) => {
        const after = trigger.triggered(null)
        expect(after.previousFireTimeMs).toBe(trigger.nextFireTimeMs)
        expect(after.timesTriggered).toBe(trigger.timesTriggered + 1)
        expect(after.mayFireAgain()).toBe(after.nextFireTimeMs !== null)
      }),
      { seed, numRuns: 500 },
    )
  })

  it('obeys its misfire instruction', () => {
    fc.assert(
      fc.property(firedTriggers, fc.integer({ min: 1, max: 1e9 }), (trigger, late) => {
        if (trigger.nextFireTimeMs === null) return
        const now = trigger.nextFireTimeMs + late
        const after = trigger.updateAfterMisfire(null, now)
        if (trigger.misfireInstruction === 'ignore') expect(after).toEqual(trigger)
        else if (after.nextFireTimeMs === now) expect(after.misfiredFireTimeMs).toBe(trigger.nextFireTimeMs)
        else expect(after.misfiredFireTimeMs).toBeNull()
        if (trigger.misfireInstruction === 'doNothing') {
          expect(after.nextFireTimeMs).toBe(trigger.fireTimeAfterMs(now))
        }
        if (trigger.misfireInstruction === 'fireOnceNow') {
          const hasEnded = trigger.endTimeMs !== null && now > trigger.endTimeMs
          const isFinished = hasEnded && trigger.type === 'dailyTimeInterval'
          expect(after.nextFireTimeMs).toBe(isFinished ? null : now)
        }
        expect(after.previousFireTimeMs).toBe(trigger.previousFireTimeMs)
        expect(after.triggered(null).misfiredFireTimeMs).toBeNull()
      }),
      { seed, numRuns: 1000 },
    )
  })
})

describe(`a trigger is remade without loss (seed ${seed})`, () => {
  const expectSame = (actual: Trigger, expected: Trigger): void => {
    expect(actual).toEqual(expected)
    expect(triggerToJSON(actual)).toEqual(triggerToJSON(expected))
    expect(actual.constructor).toBe(expected.constructor)
  }

  it('by its builder, with a fresh fire state', () => {
    fc.assert(
      fc.property(triggers, (trigger) => {
        expectSame(trigger.getTriggerBuilder().build(), trigger)
        expectSame(trigger.computeFirstFireTime(null).getTriggerBuilder().build(), trigger)
        const { key, jobKey, description, calendarName, jobDataMap, priority } = trigger
        const { startTimeMs, endTimeMs } = trigger
        const fields = {
          key,
          jobKey,
          description,
          calendarName,
          jobDataMap,
          priority,
          startTimeMs,
          endTimeMs,
        }
        expectSame(trigger.getScheduleBuilder().build(fields), trigger)
      }),
      { seed, numRuns: 500 },
    )
  })

  it('by its JSON, with its fire state', () => {
    fc.assert(
      fc.property(firedTriggers, (trigger) => {
        expectSame(triggerFromJSON(JSON.parse(JSON.stringify(triggerToJSON(trigger)))), trigger)
      }),
      { seed, numRuns: 500 },
    )
  })
})
