import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { addPlainJob, filledScheduler, serverFixture } from '../support/server-fixture.ts'

test('a job that failed and was deleted is not among those that fail', async () => {
  const served = await filledScheduler()
  await using fixture = await serverFixture({ served })
  const keys = [
    await addPlainJob(served, 'failing', 'gone', 'mail'),
    await addPlainJob(served, 'failing', 'here', 'mail'),
  ] as const
  await served.start()
  for (const key of keys) await served.triggerJob(key)
  await served.idle()
  const [gone] = keys
  await served.deleteJob(gone)
  const failing = await fixture.ask('GET /job-status?minConsecutiveFailures=1')
  expect(failing.json).toMatchObject({ items: [{ jobKey: { name: 'here' } }], next: null })
  const all = await fixture.ask('GET /job-status')
  expect(all.json).toMatchObject({ items: [{ jobKey: { name: 'gone' } }, { jobKey: { name: 'here' } }] })
})

test('a job whose firing is still tried again is not beyond its retries', async () => {
  const served = await filledScheduler()
  await using fixture = await serverFixture({ served })
  const beyond = (): Promise<unknown> =>
    fixture
      .ask('GET /job-status?minConsecutiveFailures=1&beyondRetries=true')
      .then(({ json }) =>
        (json as { items: { jobKey: { name: string } }[] }).items.map((each) => each.jobKey.name),
      )
  const addRetrying = async (name: string, attempts: number): Promise<void> => {
    const key = new JobKey(name, 'mail')
    const retry = {
      attempts,
      backoff: { type: 'fixed', initialMs: name === 'spent' ? 0 : 3_600_000 },
    } as const
    await served.addJob(
      JobBuilder.newJob('failing').withIdentity(key).withRetry(retry).storeDurably().build(),
    )
    await served.triggerJob(key)
  }
  await addRetrying('retrying', 2)
  await addRetrying('spent', 2)
  await served.triggerJob(await addPlainJob(served, 'failing', 'plain', 'mail'))
  const spent = served.events.next('jobWasExecuted', ({ context }) => context.attempt === 2)
  await served.start()
  await spent
  await served.idle()
  expect(await beyond()).toEqual(['plain', 'spent'])
  const all = await fixture.ask('GET /job-status?minConsecutiveFailures=1')
  expect(all.json).toMatchObject({ items: [{}, {}, {}] })
})
