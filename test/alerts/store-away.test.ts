import { expect, it } from 'vitest'
import type { JobStoreNotes } from '../../src/jobs/job-store-notes.ts'
import { flag, kindsOf, recorded, rigWith } from './alerts-rig.ts'

/** A node whose store answers as the test says. */
async function rig(options: object) {
  const [state, channel] = [flag(), recorded()]
  const made = await rigWith([state.rule], [channel], options)
  const notes: JobStoreNotes = made.store.notes ?? expect.fail('the store keeps no notes')
  const list = notes.list.bind(notes)
  return {
    ...made,
    channel,
    state,
    answer: (how: 'rightly' | 'never' | 'with an error') => {
      notes.list = {
        rightly: list,
        never: () => new Promise<never>(() => {}),
        'with an error': () => Promise.reject(new Error('away')),
      }[how]
    },
  }
}

it('a store that hangs is told a little after the time that it may fail, and for how long it has', async () => {
  const { answer, channel, clock, startMs } = await rig({ checkMs: 30_000, storeAwayMs: 60_000 })
  answer('never')
  const sinceMs = startMs + 30_000
  await clock.advance(sinceMs - clock.now() + 64_999)
  expect(kindsOf(channel)).toEqual([])
  await clock.advance(1)
  expect(kindsOf(channel)).toEqual([
    'raised The job store has failed for 65000 ms: The job store does not answer.',
  ])
  expect(channel.notices[0]?.alert).toMatchObject({ rule: 'store-unavailable', sinceMs })
  // Once.
  await clock.advance(120_000)
  answer('rightly')
  await clock.advance(120_000)
  expect(kindsOf(channel).slice(1)).toEqual(['resolved Over: the job store answers again.'])
})

it('a store that fails is told when it is time, however seldom the rules are checked', async () => {
  const { answer, channel, clock, startMs } = await rig({ checkMs: 3_600_000, storeAwayMs: 60_000 })
  answer('with an error')
  await clock.advance(startMs + 3_600_000 + 59_999 - clock.now())
  expect(kindsOf(channel)).toEqual([])
  await clock.advance(1)
  expect(kindsOf(channel)).toEqual(['raised The job store has failed for 60000 ms: away'])
})

it('a clock that is set changes neither', async () => {
  const { answer, channel, clock, startMs } = await rig({ checkMs: 1000, storeAwayMs: 60_000 })
  answer('with an error')
  await clock.advance(startMs + 1000 - clock.now())
  clock.jump(-3_600_000)
  await clock.advance(60_000)
  expect(kindsOf(channel)).toEqual(['raised The job store has failed for 60000 ms: away'])
})

it('a store that answers again in time is not told', async () => {
  const { answer, channel, clock, scheduler, state } = await rig({ checkMs: 30_000, storeAwayMs: 60_000 })
  answer('never')
  // It is known, and not asked again so far.
  await clock.advance(62_000)
  answer('rightly')
  state.found = ['a']
  await clock.advance(120_000)
  expect(kindsOf(channel)).toEqual(['raised a is bad'])
  await scheduler.shutdown()
  expect(clock.timerCount).toBe(0)
})

it('a time that is no whole number of milliseconds is told as one', async () => {
  const { answer, channel, clock } = await rig({ checkMs: 1000, storeAwayMs: 60_000 })
  const elapsedMs = clock.elapsedMs.bind(clock)
  clock.elapsedMs = () => elapsedMs() * 1.000_001
  answer('with an error')
  await clock.advance(120_000)
  expect(kindsOf(channel)).toEqual(['raised The job store has failed for 60000 ms: away'])
})
