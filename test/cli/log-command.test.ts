import { expect, onTestFinished, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { addPlainJob, serverFixture, tokens } from '../support/server-fixture.ts'
import { run as runCommand } from './fake-host.ts'

interface Place {
  readonly scheduler: Scheduler
  /** Runs a command on this place. */
  readonly run: (...args: readonly string[]) => ReturnType<typeof runCommand>
}

async function place(): Promise<Place> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const environment = { QUARTZ_TS_TOKEN: tokens.admin }
  return {
    scheduler: fixture.scheduler,
    run: (...args) => runCommand([...args, '--server', fixture.address], { clock: systemClock, environment }),
  }
}

test('log --follow goes on until the execution has ended', async () => {
  const { run, scheduler } = await place()
  const steps: (() => void)[] = []
  scheduler.registerJobs([
    defineJob('slow-talker', async ({ log }) => {
      log.info({}, 'begins')
      await new Promise<void>((resolve) => steps.push(resolve))
      log.info({}, 'ends')
    }),
  ])
  const began = scheduler.events.next('jobToBeExecuted')
  await scheduler.start()
  await scheduler.triggerJob(await addPlainJob(scheduler, 'slow-talker', 'slow', 'mail'))
  const { fireInstanceId } = (await began).context
  const followed = run('log', fireInstanceId, '--follow')
  await expect.poll(() => steps.length, { timeout: 10_000 }).toBe(1)
  steps[0]?.()
  const { code, out } = await followed
  expect([code, out.match(/begins|ends/g)]).toEqual([0, ['begins', 'ends']])
})

test('an execution without lines is told from one that is not known', async () => {
  const { run, scheduler } = await place()
  await scheduler.start()
  const failed = scheduler.events.next('jobWasExecuted')
  await scheduler.triggerJob(await addPlainJob(scheduler, 'failing', 'bad', 'mail'))
  const ended = (await failed).context.fireInstanceId
  await scheduler.idle()
  expect(await run('log', ended)).toMatchObject({ code: 0, out: 'No lines.\n' })

  const began = scheduler.events.next('jobToBeExecuted')
  await scheduler.triggerJob(await addPlainJob(scheduler, 'waiting', 'slow', 'mail'))
  const running = (await began).context.fireInstanceId
  expect(await run('log', running)).toMatchObject({ code: 0, out: 'No lines.\n' })
  expect(await run('log', 'nosuch')).toMatchObject({ code: 3, out: '', err: /'nosuch'/ })
})
