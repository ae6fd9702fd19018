import { expect, onTestFinished, test } from 'vitest'
import { createScheduler, defineJob, ramJobStore } from '../../src/index.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import { ManualClock } from '../../src/testing.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'

/** A store after whose second failure the loop waits for long. */
class PatientStore extends FaultyJobStore {
  context: JobStoreContext | null = null

  override initialize(context: JobStoreContext): Promise<void> {
    this.context = context
    return super.initialize(context)
  }

  override acquireRetryDelayMs(): number {
    return 600_000
  }
}

/** A started scheduler whose next searches fail so many times, and a job that is due in a second. */
async function scheduledOn(store: FaultyJobStore, failures: number) {
  const clock = new ManualClock()
  let runs = 0
  const work = defineJob('work', () => {
    runs++
  })
  const scheduler = await createScheduler({ clock, jobStore: store, jobs: [work], logger: false })
  onTestFinished(() => scheduler.shutdown())
  await scheduler.start()
  for (const operation of ['acquireNextTriggers', 'acquireAndFire'] as const) {
    store.failOn({ operation, times: failures })
  }
  await scheduler.schedule(work, { key: 'work', in: '1s' })
  return { scheduler, clock, runs: () => runs }
}

test('a check-in that succeeds again ends the wait of the loop for a store that failed', async () => {
  const store = new PatientStore(ramJobStore())
  const { scheduler, clock, runs } = await scheduledOn(store, Number.POSITIVE_INFINITY)
  await clock.advance(60_000)
  store.heal()
  await clock.advance(60_000)
  expect(runs()).toBe(0)
  store.context?.signaler.checkInRestored(3)
  await scheduler.idle()
  expect(runs()).toBe(1)
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no idea')
    },
  ],
  ['answers no number', () => Number.NaN],
])('the loop goes on after failures of a store whose acquireRetryDelayMs %s', async (_, delayMs) => {
  const store = new FaultyJobStore(ramJobStore())
  store.acquireRetryDelayMs = delayMs
  const { scheduler, clock, runs } = await scheduledOn(store, 3)
  await clock.advance(60_000)
  await scheduler.idle()
  expect(runs()).toBe(1)
})
