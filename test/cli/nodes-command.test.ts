import { describe, expect, onTestFinished, test } from 'vitest'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { addPlainJob, serverFixture, tokens } from '../support/server-fixture.ts'
import { run } from './fake-host.ts'

async function serverPlace(): Promise<{
  readonly scheduler: Scheduler
  /** Runs a command on the server of the scheduler. */
  readonly run: (...args: readonly string[]) => ReturnType<typeof run>
}> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const environment = { QUARTZ_TS_TOKEN: tokens.admin }
  return {
    scheduler: fixture.scheduler,
    run: (...args) => run([...args, '--server', fixture.address], { clock: systemClock, environment }),
  }
}

describe('one node', () => {
  test('is started, put in standby, drained and not removed while it lives', async () => {
    const { run, scheduler } = await serverPlace()
    const id = 'NON_CLUSTERED'
    expect((await run('nodes', 'start', id)).out).toBe(`node ${id}: started on ${id}\n`)
    expect(scheduler.isStarted).toBe(true)
    expect((await run('nodes', 'standby', id, '--dry-run')).out).toBe(`node ${id}: would be put in standby\n`)
    expect(scheduler.isStarted).toBe(true)
    expect((await run('nodes', 'standby', id)).out).toBe(`node ${id}: put in standby on ${id}\n`)
    expect((await run('nodes', 'standby', id)).out).toBe(`node ${id}: is in standby\n`)
    expect((await run('nodes', 'drain', id, '--json')).out).toMatch(/"status": "draining"/)
    expect(await run('nodes', 'remove', id)).toMatchObject({ code: 2, err: /add --yes/ })
    expect(await run('nodes', 'remove', id, '--yes')).toMatchObject({ code: 1, err: /checks in/ })
    expect(await run('nodes', 'drain', 'gone')).toMatchObject({ code: 3, err: /no node 'gone'/ })
  })

  test('drains until nothing runs there, or as long as one would wait', async () => {
    const { run, scheduler } = await serverPlace()
    const id = 'NON_CLUSTERED'
    await scheduler.start()
    const key = await addPlainJob(scheduler, 'waiting', 'slow', 'mail')
    const begun = scheduler.events.next('jobToBeExecuted')
    await scheduler.triggerJob(key)
    await begun
    expect(await run('nodes', 'drain', id, '--wait', '1ms')).toMatchObject({
      code: 1,
      out: `node ${id}: told to drain on ${id}\n`,
      err: /1 execution still runs there[^]*still runs 1 execution/,
    })
    await scheduler.interrupt(key)
    expect(await run('nodes', 'drain', id)).toMatchObject({
      code: 0,
      out: `node ${id}: drains\n`,
      err: /Nothing runs there/,
    })
  })

  test.each([
    [['stop', 'x'], /takes one of standby, resume, drain, remove/],
    [['drain'], /'nodes drain' needs ID/],
    [['drain', 'x', 'y'], /takes one ID/],
    [['standby', 'x', '--wait', '1s'], /--wait goes with/],
    [['drain', 'x', '--wait', 'long'], /--wait takes a duration/],
  ])('is named rightly: %j', async (args, message) => {
    expect(await run(['nodes', ...args])).toMatchObject({ code: 2, err: message })
  })
})
