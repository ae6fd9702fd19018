import { expect, it } from 'vitest'
import { flag, kindsOf, recorded, rigWith } from './alerts-rig.ts'

it('all is back to normal beside an alert that was sent before it was silenced', async () => {
  const [state, channel] = [flag(), recorded()]
  const { clock, alerts } = await rigWith([state.rule], [channel])
  state.found = ['a', 'b']
  await clock.advance(2000)
  const until = new Date(clock.now() + 60_000)
  const { id } = await alerts.silence({ subject: 'a', until, by: 'ann', reason: 'known' })
  await clock.advance(2000)
  // Nothing has ended yet.
  expect(kindsOf(channel)).toEqual(['raised a is bad', 'raised b is bad'])
  state.found = ['a']
  await clock.advance(5000)
  expect(kindsOf(channel).slice(2)).toEqual([
    'resolved Over: b is bad',
    'normal Everything is back to normal.',
  ])
  // Its receivers know of it, so its end is told as well, and once more that nothing is left.
  await alerts.endSilence(id)
  state.found = []
  await clock.advance(5000)
  expect(kindsOf(channel).slice(4)).toEqual([
    'resolved Over: a is bad',
    'normal Everything is back to normal.',
  ])
})
