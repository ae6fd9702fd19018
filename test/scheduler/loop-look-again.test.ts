import { expect, onTestFinished, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { SchedulerOptions } from '../../src/scheduler/create-scheduler.ts'
import { type SchedulerFixture, schedulerFixture } from '../support/scheduler-fixture.ts'

/**
 * A started scheduler that has claimed `later`, due in six seconds, and whose store always says to look again. Another
 * session has `due`, which is due now, until `free`, of which nobody tells the loop.
 */
async function claimedFixture(
  options: SchedulerOptions = {},
  prepare: (fixture: SchedulerFixture) => Promise<unknown> = async () => {},
) {
  const fixture = await schedulerFixture(options)
  const { clock, job, once, scheduler, store } = fixture
  onTestFinished(() => scheduler.shutdown())
  store.acquireAndFire = async (request) => ({
    fired: [],
    acquired: await store.acquireNextTriggers(request),
    lookAgainAtMs: clock.now(),
  })
  await scheduler.scheduleJob(job('due'), once('due'))
  const claims = await store.acquireNextTriggers({
    noLaterThanMs: clock.now(),
    maxCount: 1,
    timeWindowMs: 0,
  })
  await prepare(fixture)
  await scheduler.scheduleJob(job('later'), once('later', 6000))
  await scheduler.start()
  await clock.advance(100)
  return { ...fixture, free: () => store.releaseAcquiredTriggers(claims) }
}

test('a loop whose question failed while it holds a claim asks again soon', async () => {
  const fixture = await claimedFixture()
  const { clock, free, ran, store } = fixture
  store.failOn({ operation: 'acquireNextTriggers', when: 'after' })
  await free()
  await clock.advance(2000)
  expect(ran, 'what was claimed and not answered').toEqual(['due'])
  await clock.advance(4000)
  expect(ran).toEqual(['due', 'later'])
})

test('a loop that was to ask again while no thread was free asks soon after one is', async () => {
  let end = (): void => {}
  const long = defineJob('long', () => {
    return new Promise<void>((resolve) => {
      end = resolve
    })
  })
  const options = { threadPool: { size: 2 }, jobs: [long] }
  const fixture = await claimedFixture(options, ({ scheduler, once }) =>
    scheduler.scheduleJob(JobBuilder.newJob('long').withIdentity('long').build(), once('long')),
  )
  onTestFinished(() => {
    end()
  })
  const { clock, free, ran, store } = fixture
  await clock.advance(1000)
  await free()
  const asked = store.callsOf('acquireNextTriggers')
  await clock.advance(2000)
  expect(store.callsOf('acquireNextTriggers'), 'no thread is free').toBe(asked)
  end()
  await clock.advance(300)
  expect(ran).toEqual(['due'])
})

test('a loop whose look has fired something while it holds a claim looks at once whether there is more', async () => {
  const { clock, job, once, ran, scheduler, store } = await schedulerFixture()
  onTestFinished(() => scheduler.shutdown())
  store.acquireAndFire = async (request) => {
    const due = { noLaterThanMs: Math.min(clock.now(), request.noLaterThanMs), maxCount: 1, timeWindowMs: 0 }
    const results = await store.triggersFired(await store.acquireNextTriggers(due))
    const fired = results.flatMap((result) => (result.kind === 'fired' ? [result.bundle] : []))
    if (fired.length > 0) return { fired, acquired: [] }
    const acquired = await store.acquireNextTriggers(request)
    return { fired, acquired, lookAgainAtMs: clock.now() + 1000 }
  }
  for (const name of ['one', 'two']) await scheduler.scheduleJob(job(name), once(name))
  const claims = await store.acquireNextTriggers({
    noLaterThanMs: clock.now(),
    maxCount: 2,
    timeWindowMs: 0,
  })
  await scheduler.scheduleJob(job('later'), once('later', 6000))
  await scheduler.start()
  await clock.advance(100)
  await store.releaseAcquiredTriggers(claims)
  await clock.advance(1000)
  expect(ran).toEqual(['one', 'two'])
})
