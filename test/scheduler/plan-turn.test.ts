import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AcquiredTrigger } from '../../src/jobstore/job-store.ts'
import { planTurn, type TurnState } from '../../src/scheduler/plan-turn.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'

const now = Date.UTC(2026, 0, 1)

function heldAt(...offsetsMs: readonly number[]): readonly AcquiredTrigger[] {
  return offsetsMs.map((offset, index) => ({
    fireInstanceId: `f${index}`,
    trigger: TriggerBuilder.newTrigger()
      .withIdentity(`t${index}`)
      .startAt(new Date(now + offset))
      .build()
      .computeFirstFireTime(null),
  }))
}

const idle: TurnState = {
  halted: false,
  paused: false,
  held: [],
  claimsUnknown: false,
  signal: null,
  nowMs: now,
  elapsedMs: 1000,
  retryAtMs: 0,
  idleUntilMs: 0,
  lookAtMs: Number.POSITIVE_INFINITY,
  mayAdd: false,
  idleWaitMs: 30_000,
  switchThresholdMs: 7,
  heldSinceMs: now,
  aside: { claims: [], retryAtMs: Number.POSITIVE_INFINITY, maxCount: 1 },
  misfireThresholdMs: 60_000,
}

describe('planTurn', () => {
  it('asks the store when nothing is held and nothing stands against it', () => {
    expect(planTurn(idle)).toEqual({ kind: 'acquire' })
  })

  it('sleeps out the idle wait after an empty answer, and asks at once when signalled', () => {
    const state = { ...idle, idleUntilMs: 26_000 }
    expect(planTurn(state)).toEqual({ kind: 'sleep', delayMs: 25_000 })
    expect(planTurn({ ...state, signal: { candidateMs: null } })).toEqual({ kind: 'acquire' })
    expect(planTurn({ ...state, signal: { candidateMs: now + 1 } })).toEqual({ kind: 'acquire' })
  })

  it('lets a failing store rest also when signalled', () => {
    const state = { ...idle, retryAtMs: 1020, signal: { candidateMs: null } }
    expect(planTurn(state)).toEqual({ kind: 'sleep', delayMs: 20 })
  })

  it('waits for the first held trigger, never longer than the idle wait', () => {
    expect(planTurn({ ...idle, held: heldAt(500) })).toEqual({ kind: 'sleep', delayMs: 500 })
    expect(planTurn({ ...idle, held: heldAt(90_000) })).toEqual({ kind: 'sleep', delayMs: 30_000 })
  })

  it('asks for what comes before the first held trigger when the store said so', () => {
    const held = heldAt(500)
    expect(planTurn({ ...idle, held, lookAtMs: 1040 })).toEqual({ kind: 'sleep', delayMs: 40 })
    expect(planTurn({ ...idle, held, lookAtMs: 1000 })).toEqual({ kind: 'acquire' })
    expect(planTurn({ ...idle, held, lookAtMs: 1600 })).toEqual({ kind: 'sleep', delayMs: 500 })
    expect(planTurn({ ...idle, held: heldAt(0), lookAtMs: 1000 }).kind).toBe('fire')
    expect(planTurn({ ...idle, held, lookAtMs: 1000, retryAtMs: 1030 })).toEqual({
      kind: 'sleep',
      delayMs: 30,
    })
  })

  it('gives back what it holds and looks again when an answer was lost, once the store has rested', () => {
    const state = { ...idle, claimsUnknown: true }
    const held = heldAt(500)
    expect(planTurn({ ...state, held })).toEqual({ kind: 'release' })
    expect(planTurn({ ...state, held, retryAtMs: 1030 })).toEqual({ kind: 'sleep', delayMs: 30 })
    expect(planTurn({ ...state, held, retryAtMs: 1600 })).toEqual({ kind: 'sleep', delayMs: 500 })
    expect(planTurn({ ...state, held: heldAt(0, 500) }).kind).toBe('fire')
    expect(planTurn({ ...state, held: heldAt(6), lookAtMs: 1000 })).toEqual({ kind: 'sleep', delayMs: 6 })
  })

  it('fires what is due and keeps the rest of the batch for its own time', () => {
    const held = heldAt(-5, 0, 1, 40)
    expect(planTurn({ ...idle, held })).toEqual({
      kind: 'fire',
      due: held.slice(0, 2),
      rest: held.slice(2),
    })
  })

  it.each([
    ['an earlier candidate', { candidateMs: now + 10 }, 50, 'release'],
    ['an unknown candidate', { candidateMs: null }, 50, 'release'],
    ['a candidate at the same time', { candidateMs: now + 50 }, 50, 'sleep'],
    ['a later candidate', { candidateMs: now + 60 }, 50, 'sleep'],
    ['an earlier candidate with less than the threshold to wait', { candidateMs: now + 1 }, 6, 'sleep'],
    ['an earlier candidate with just the threshold to wait', { candidateMs: now + 1 }, 7, 'release'],
  ])('with %s it decides by whether the claim is overtaken', (_, signal, offset, kind) => {
    expect(planTurn({ ...idle, held: heldAt(offset), signal }).kind).toBe(kind)
  })

  it.each([
    ['became so late while it was held', -5000, now - 5001, 'smart', 'release'],
    ['was so late when it was asked for', -5000, now, 'smart', 'fire'],
    ['is just not so late', -4999, now - 60_000, 'smart', 'fire'],
    ['ignores misfires', -5000, now - 60_000, 'ignore', 'fire'],
  ] as const)('of a claim past the misfire threshold that %s it decides rightly', (...row) => {
    const [, offset, heldSinceMs, instruction, kind] = row
    const schedule = SimpleScheduleBuilder.simpleSchedule().withMisfireInstruction(instruction)
    const held = heldAt(offset, 10).map((acquired) => ({
      ...acquired,
      trigger: acquired.trigger.getTriggerBuilder().withSchedule(schedule).build().computeFirstFireTime(null),
    }))
    expect(planTurn({ ...idle, held, heldSinceMs, misfireThresholdMs: 5000 }).kind).toBe(kind)
  })

  describe('of claims that are set aside', () => {
    const claims = heldAt(-20, -10, 500).map((acquired) => ({ acquired, sinceMs: now - 100 }))
    const [first, second, future] = claims
    const aside = { claims, retryAtMs: 1000, maxCount: 2 }

    it.each([
      ['slots for all of the due ones', {}, [first, second], [future]],
      ['a slot for one of them', { aside: { ...aside, maxCount: 1 } }, [first], [future, second]],
      ['no slot', { aside: { ...aside, maxCount: 0 } }, [], [future, first, second]],
      ['a standby', { paused: true }, [], claims],
      ['some that have become too late', { misfireThresholdMs: 15 }, [second], [first, future]],
    ] as const)('with %s, it fires what may fire and gives back the rest', (_, partial, fire, giveBack) => {
      const decision = planTurn({ ...idle, aside, ...partial })
      expect(decision.kind).toBe('retry')
      if (decision.kind !== 'retry') return
      expect(decision.fire).toEqual(fire)
      expect(new Set(decision.giveBack)).toEqual(new Set(giveBack))
    })

    it.each([
      ['the time of the next try', { aside: { ...aside, retryAtMs: 1020 } }, 20],
      ['a store that rests', { retryAtMs: 1030 }, 30],
      ['a store that rests, in standby', { paused: true, retryAtMs: 1040 }, 40],
      ['the time of the next try, in standby', { paused: true, aside: { ...aside, retryAtMs: 1050 } }, 50],
    ] as const)('waits for %s', (_, partial, delayMs) => {
      const state = { ...idle, idleUntilMs: 26_000, aside, ...partial }
      expect(planTurn(state)).toEqual({ kind: 'sleep', delayMs })
    })
  })

  it('looks for something earlier before it gives claims back, where it may add to them', () => {
    const state = { ...idle, held: heldAt(5000), mayAdd: true }
    const earlier = { candidateMs: now + 10 }
    expect(planTurn({ ...state, signal: earlier })).toEqual({ kind: 'acquire' })
    expect(planTurn({ ...state, signal: { candidateMs: null } })).toEqual({ kind: 'release' })
    expect(planTurn({ ...state, signal: earlier, claimsUnknown: true })).toEqual({ kind: 'release' })
  })

  it('releases its claims before it ends or stands by', () => {
    const held = heldAt(-1)
    expect(planTurn({ ...idle, held, halted: true })).toEqual({ kind: 'release' })
    expect(planTurn({ ...idle, halted: true, paused: true })).toEqual({ kind: 'end' })
    expect(planTurn({ ...idle, held, paused: true })).toEqual({ kind: 'release' })
    expect(planTurn({ ...idle, paused: true })).toEqual({ kind: 'standby' })
  })

  it('in any state never fires early, never sleeps past the bound, and never fires while halted or paused', () => {
    const states = fc.record({
      halted: fc.boolean(),
      paused: fc.boolean(),
      held: fc
        .array(fc.integer({ min: -1000, max: 100_000 }), { maxLength: 4 })
        .map((offsets) => heldAt(...offsets.sort((a, b) => a - b))),
      claimsUnknown: fc.boolean(),
      lookAtMs: fc.option(fc.integer({ min: 0, max: 100_000 }), { nil: Number.POSITIVE_INFINITY }),
      signal: fc.option(
        fc.record({ candidateMs: fc.option(fc.integer({ min: now - 1000, max: now + 100_000 })) }),
      ),
      elapsedMs: fc.integer({ min: 0, max: 100_000 }),
      retryAtMs: fc.integer({ min: 0, max: 100_000 }),
      idleUntilMs: fc.integer({ min: 0, max: 100_000 }),
      idleWaitMs: fc.integer({ min: 1000, max: 60_000 }),
      switchThresholdMs: fc.constantFrom(7, 70),
    })
    fc.assert(
      fc.property(states, (partial) => {
        const state: TurnState = { ...idle, ...partial }
        const decision = planTurn(state)
        if (decision.kind === 'fire') {
          expect(state.halted || state.paused).toBe(false)
          for (const { trigger } of decision.due) expect(trigger.nextFireTimeMs).toBeLessThanOrEqual(now)
          for (const { trigger } of decision.rest) expect(trigger.nextFireTimeMs).toBeGreaterThan(now)
          expect([...decision.due, ...decision.rest]).toEqual(state.held)
        }
        if (decision.kind === 'sleep') {
          expect(decision.delayMs).toBeGreaterThan(0)
          expect(decision.delayMs).toBeLessThanOrEqual(state.idleWaitMs)
        }
        if (decision.kind === 'end' || decision.kind === 'standby') expect(state.held).toEqual([])
        if (decision.kind === 'acquire') {
          expect(state.claimsUnknown).toBe(false)
          if (state.held.length > 0) expect(state.lookAtMs).toBeLessThanOrEqual(state.elapsedMs)
        }
        const [first] = state.held
        const untilFirstMs = (first?.trigger.nextFireTimeMs ?? Number.POSITIVE_INFINITY) - now
        const mayAsk = !state.paused && state.elapsedMs >= state.retryAtMs
        if (state.claimsUnknown && mayAsk && untilFirstMs >= state.switchThresholdMs) {
          expect(decision.kind).toBe('release')
        }
      }),
      { seed: 20_261_101 },
    )
  })
})
