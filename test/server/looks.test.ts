import { expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { BulkRuns } from '../../src/server/bulk/bulk-runs.ts'
import { Looks, LooksBack } from '../../src/server/looks.ts'
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

test('what a look saw while a bulk action ran is not kept beyond its end', async () => {
  const scheduler = await filledScheduler()
  const clock = new ManualClock()
  let done = 0
  const looks = new Looks(clock, async () => done, 60_000)
  const bulk = new BulkRuns(clock, silentLogger)
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const keys = ['a', 'b', 'c'].map((name) => ({ group: 'mail', name }))
  bulk.begin({
    ...({ scheduler: 's', action: 'pause', of: 'jobs', by: 'ann' } as const),
    listeners: scheduler.listenerManager,
    keys,
    carryOut: async () => {
      await looks.of(scheduler)
      done++
      return { changed: true }
    },
    onEnd: () => {
      looks.forget(scheduler)
      end()
    },
  })
  await clock.advance(1000)
  await ended
  expect(bulk.all()).toMatchObject([{ status: 'done', changed: 3 }])
  expect(await looks.of(scheduler)).toBe(3)
  await scheduler.shutdown()
})
