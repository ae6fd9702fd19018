import { expect, test } from 'vitest'
import { LooksBack } from '../../src/server/looks.ts'
import { ManualClock } from '../../src/testing.ts'
import { filledScheduler } from '../support/server-fixture.ts'

test('whoever asks for many lengths of time makes those that others ask for be looked at no more often', async () => {
  const scheduler = await filledScheduler()
  const looked: number[] = []
  const looks = new LooksBack(
    new ManualClock(),
    async (_scheduler, fromMs, toMs) => {
      looked.push(toMs - fromMs)
    },
    2000,
  )
  for (let minutes = 1; minutes <= 1440; minutes++) {
    await looks.of(scheduler, minutes)
    await looks.of(scheduler, 60_000)
  }
  expect(looked.filter((lengthMs) => lengthMs === 60_000)).toHaveLength(1)
  await scheduler.shutdown()
})
