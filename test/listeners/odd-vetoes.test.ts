import { expect, it } from 'vitest'
import type { TriggerListener } from '../../src/index.ts'
import { detailOf, firing, jobOf, shellRig } from '../support/shell-rig.ts'

/** Fires once with listeners whose vetoes answer these values, in their order. */
async function fire(...answers: readonly unknown[]) {
  let runs = 0
  const job = jobOf(() => {
    runs++
  })
  const { clock, scheduler, errors, startMs } = await shellRig([job])
  for (const [index, answer] of answers.entries()) {
    const listener = { name: `listener ${index}`, vetoJobExecution: () => answer }
    scheduler.listenerManager.addTriggerListener(listener as TriggerListener)
  }
  await scheduler.scheduleJob(detailOf(job), firing(startMs))
  await clock.advance(10)
  await scheduler.shutdown()
  return { runs, errors: errors.map(({ code, message }) => ({ code, message })) }
}

const reported = (name: string, words: string) => ({
  code: 'ERR_LISTENER_FAILED',
  message: expect.stringContaining(`Listener '${name}' answered ${words} in vetoJobExecution`) as string,
})

it.each([
  [1, '1'],
  ['maintenance', "'maintenance'"],
  [{ reason: 'maintenance' }, 'a plain object'],
  [Promise.resolve('yes'), "'yes'"],
])('a listener that answers %j has not vetoed, and is reported', async (answer, words) => {
  expect(await fire(answer)).toEqual({ runs: 1, errors: [reported('listener 0', words)] })
})

it.each([false, undefined, null, 0, ''])(
  'a listener that answers %j has not vetoed, and is in order',
  async (answer) => {
    expect(await fire(answer)).toEqual({ runs: 1, errors: [] })
  },
)

it('the veto of one listener holds whatever another one answers', async () => {
  expect(await fire(true, 'no')).toEqual({ runs: 0, errors: [reported('listener 1', "'no'")] })
})
