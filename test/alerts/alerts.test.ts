import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type AlertChannel,
  type AlertRule,
  type AlertsPlugin,
  alertsPlugin,
  failedInARow,
  firingLaterThan,
  misfiresOver,
  nodeDown,
  noSuccessWithin,
  triggerInError,
} from '../../src/alerts.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createScheduler, jobKey, ramJobStore, type Scheduler } from '../../src/index.ts'
import { sqliteJobStore } from '../../src/sqlite.ts'
import { ManualClock } from '../../src/testing.ts'
import { detailOf, firing, jobOf, shellRig, theTrigger } from '../support/shell-rig.ts'
import { flag, kindsOf, recorded, rigWith } from './alerts-rig.ts'

describe('alerts', () => {
  it('are sent once, end, and then everything is back to normal', async () => {
    const [state, channel] = [flag(), recorded()]
    const { clock, alerts } = await rigWith([state.rule], [channel])
    state.found = ['a', 'b']
    await clock.advance(5000)
    expect(kindsOf(channel)).toEqual(['raised a is bad', 'raised b is bad'])
    expect(await alerts.active()).toMatchObject([{ isSent: true }, { isSent: true }])
    state.found = ['b']
    await clock.advance(5000)
    expect(kindsOf(channel).slice(2)).toEqual(['resolved Over: a is bad'])
    state.found = []
    await clock.advance(5000)
    expect(kindsOf(channel).slice(3)).toEqual([
      'resolved Over: b is bad',
      'normal Everything is back to normal.',
    ])
    expect(await alerts.active()).toEqual([])
  })

  it.each([
    ['no list', 5],
    ['a list of nothing', [null]],
    ['a finding without a subject', [{ message: 'm' }]],
  ])('of a rule that answers %s are none, and hold up no others', async (_what, answer) => {
    const [state, channel] = [flag(), recorded()]
    const junk = { name: 'junk', description: 'd', check: async () => answer } as unknown as AlertRule
    const { clock } = await rigWith([junk, state.rule], [channel], { storeAwayMs: 3000 })
    state.found = ['a']
    await clock.advance(10_000)
    expect(kindsOf(channel)).toEqual(['raised a is bad'])
  })

  it('of a rule that watches need a subject and a message, and no way to stop', async () => {
    const channel = recorded()
    let raise: (finding: unknown) => void = () => {}
    const watching = {
      name: 'watching',
      description: 'd',
      watch: (_watch: object, give: (finding: unknown) => void): unknown => {
        raise = give
        return null
      },
    } as unknown as AlertRule
    const { clock, scheduler } = await rigWith([watching], [channel])
    const errors: string[] = []
    scheduler.events.on('schedulerError', ({ message }) => errors.push(message))
    expect(() => {
      raise(undefined)
    }).toThrow(/'subject' and 'message'/)
    raise({ subject: 'a', message: 'a is bad' })
    await clock.advance(5000)
    expect(kindsOf(channel)).toEqual(['raised a is bad'])
    await scheduler.shutdown()
    expect(errors).toEqual([])
  })

  it('that are silenced are sent when the silence ends before they do', async () => {
    const [state, channel] = [flag(), recorded()]
    const { clock, alerts } = await rigWith([state.rule], [channel])
    const silence = await alerts.silence({
      rule: 'flag',
      subject: 'a',
      until: new Date(clock.now() + 60_000),
      by: 'ann',
      reason: 'deployment',
    })
    expect(await alerts.silences()).toEqual([silence])
    state.found = ['a', 'b']
    await clock.advance(5000)
    expect(kindsOf(channel)).toEqual(['raised b is bad'])
    expect((await alerts.active()).map(({ subject, isSent }) => [subject, isSent]).sort()).toEqual([
      ['a', false],
      ['b', true],
    ])
    await clock.advance(60_000)
    expect(kindsOf(channel)).toEqual(['raised b is bad', 'raised a is bad'])
    expect(await alerts.silences()).toEqual([])
  })

  it('are silenced by rules that there are, until a time that is ahead', async () => {
    const { clock, alerts } = await rigWith([flag().rule], [recorded()])
    const silence = { until: new Date(clock.now() + 60_000), by: 'ann', reason: 'x' }
    await expect(alerts.silence({ ...silence, rule: 'flaq' })).rejects.toMatchObject({
      field: 'rule',
      message: "silence: there is no rule 'flaq'; there are 'flag'.",
    })
    const past = new Date(clock.now() - 1)
    await expect(alerts.silence({ ...silence, until: past })).rejects.toMatchObject({
      field: 'until',
      message: `silence: 'until' must be later than now and within a year, got ${past.toISOString()}.`,
    })
    expect(await alerts.silences()).toEqual([])
  })

  it('are silenced for another process too, whose rules are not known here', async () => {
    const warned: string[] = []
    const logger = { ...silentLogger, warn: (_: object, text: string) => void warned.push(text) }
    const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-alerts-'))
    const jobStore = sqliteJobStore({ filename: join(folder, 'jobs.db') })
    const { clock, alerts, scheduler } = await rigWith([flag().rule], [recorded()], {}, { jobStore, logger })
    onTestFinished(async () => {
      await scheduler.shutdown()
      rmSync(folder, { recursive: true })
    })
    const until = new Date(clock.now() + 60_000)
    await alerts.silence({ until, by: 'ann', reason: 'x', rule: 'of another' })
    expect(await alerts.silences()).toMatchObject([{ rule: 'of another' }])
    expect(warned.join('\n')).toContain("A silence names the rule 'of another'; here are 'flag'.")
  })

  it('that begin and end in a silence are never sent', async () => {
    const [state, channel] = [flag(), recorded()]
    const { clock, alerts } = await rigWith([state.rule], [channel])
    const { id } = await alerts.silence({ until: new Date(clock.now() + 60_000), by: 'ann', reason: 'x' })
    state.found = ['a']
    await clock.advance(5000)
    state.found = []
    await clock.advance(5000)
    expect(await alerts.endSilence(id)).toBe(true)
    expect(await alerts.endSilence(id)).toBe(false)
    await clock.advance(5000)
    expect(kindsOf(channel)).toEqual([])
  })

  it('do not wait for a rule that fails or hangs', async () => {
    const [state, channel] = [flag(), recorded()]
    const broken = { name: 'broken', description: '', check: () => Promise.reject(new Error('no idea')) }
    const hanging = { name: 'hanging', description: '', check: () => new Promise<never>(() => {}) }
    const { clock } = await rigWith([broken, hanging, state.rule], [channel])
    state.found = ['a']
    await clock.advance(40_000)
    expect(kindsOf(channel)).toEqual(['raised a is bad'])
  })

  it('take rules that hang for rules that hang, and not for a store that does', async () => {
    const [state, channel] = [flag(), recorded()]
    const hanging = Array.from({ length: 3 }, (_, index) => ({
      name: `hanging ${index}`,
      description: '',
      check: () => new Promise<never>(() => {}),
    }))
    const { clock } = await rigWith([...hanging, state.rule], [channel], { storeAwayMs: 1000 })
    state.found = ['a']
    await clock.advance(200_000)
    expect(kindsOf(channel)).toEqual(['raised a is bad'])
  })

  it('say that the store hangs, and look again only when that is known', async () => {
    const channel = recorded()
    const { clock, store } = await rigWith([flag().rule], [channel], { storeAwayMs: 10_000 })
    const notes = store.notes ?? expect.fail('the store keeps no notes')
    const list = notes.list.bind(notes)
    let asked = 0
    notes.list = () => {
      asked++
      return new Promise(() => {})
    }
    await clock.advance(60_000)
    expect(asked).toBe(2)
    await clock.advance(20_000)
    expect(channel.notices).toMatchObject([{ kind: 'raised', alert: { rule: 'store-unavailable' } }])
    notes.list = list
    await clock.advance(40_000)
    expect(kindsOf(channel)[1]).toBe('resolved Over: the job store answers again.')
  })

  it('are sent by each node itself when the job store fails for long', async () => {
    const channel = recorded()
    const { clock, store } = await rigWith([flag().rule], [channel], { storeAwayMs: 10_000 })
    // The store that the plugin was given: its notes are one object.
    const notes = store.notes ?? expect.fail('the store keeps no notes')
    const list = notes.list.bind(notes)
    notes.list = () => Promise.reject(new Error('away'))
    await clock.advance(30_000)
    expect(channel.notices).toHaveLength(1)
    expect(channel.notices[0]).toMatchObject({ kind: 'raised', alert: { rule: 'store-unavailable' } })
    notes.list = list
    await clock.advance(5000)
    expect(kindsOf(channel)[1]).toBe('resolved Over: the job store answers again.')
  })
})

describe('channels', () => {
  it('that fail are tried again, and given up; the others get everything at once', async () => {
    let calls = 0
    const failing: AlertChannel = {
      name: 'failing',
      send: () => {
        calls++
        return Promise.reject(new Error('closed'))
      },
    }
    const [state, good] = [flag(), recorded()]
    const { clock, alerts } = await rigWith([state.rule], [failing, good], { attempts: 3 })
    state.found = ['a']
    await clock.advance(1100)
    expect(kindsOf(good)).toEqual(['raised a is bad'])
    expect(calls).toBe(1)
    expect(await alerts.active()).toMatchObject([{ isSent: false }])
    await clock.advance(10_000)
    expect(calls).toBe(3)
    expect(await alerts.active()).toMatchObject([{ isSent: true }])
  })

  it('that all give an alert up leave it as not sent: no one was told, and nothing tries it again', async () => {
    const failing = { name: 'failing', send: vi.fn(() => Promise.reject(new Error('closed'))) }
    const state = flag()
    const { clock, alerts } = await rigWith([state.rule], [failing], { attempts: 2 })
    state.found = ['a']
    await clock.advance(1100)
    expect(await alerts.active()).toMatchObject([{ isSent: false, isGivenUp: false }])
    await clock.advance(10_000)
    expect(await alerts.active()).toMatchObject([{ isSent: false, isGivenUp: true }])
    await clock.advance(3_600_000)
    expect(failing.send).toHaveBeenCalledTimes(2)
    expect(await alerts.active()).toMatchObject([{ isSent: false, isGivenUp: true }])
  })

  it('that hang hold up neither jobs nor other channels nor the shutdown', async () => {
    const hanging: AlertChannel = { name: 'hanging', send: () => new Promise(() => {}) }
    const [state, good] = [flag(), recorded()]
    const { clock, scheduler, startMs } = await rigWith([state.rule], [hanging, good])
    state.found = Array.from({ length: 150 }, (_, index) => `subject ${index}`)
    await clock.advance(1100)
    expect(good.notices).toHaveLength(150)
    await scheduler.scheduleJob(detailOf('job'), firing(startMs))
    const ran = scheduler.events.next('jobWasExecuted')
    await clock.advance(10)
    await ran
    const ending = scheduler.shutdown()
    await clock.advance(10_000)
    await ending
    expect(clock.timerCount).toBe(0)
  })

  it('can be tested, each by itself', async () => {
    const failing: AlertChannel = { name: 'failing', send: () => Promise.reject(new Error('closed')) }
    const good = recorded('good')
    const { alerts } = await rigWith([flag().rule], [failing, good])
    expect(alerts.channels).toEqual(['failing', 'good'])
    expect(await alerts.test()).toEqual([
      { channel: 'failing', error: 'closed' },
      { channel: 'good', error: null },
    ])
    expect(await alerts.test('good')).toEqual([{ channel: 'good', error: null }])
    expect(kindsOf(good)).toEqual([
      'test This is a test of the alerts.',
      'test This is a test of the alerts.',
    ])
    await expect(alerts.test('other')).rejects.toMatchObject({ code: 'ERR_INVALID_ARGUMENT' })
  })
})

/** Processes that use one file after the other. */
function processes(rule: AlertRule, channel: AlertChannel) {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-alerts-'))
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
  })
  const clock = new ManualClock()
  const run = (): Promise<Scheduler> =>
    createScheduler({
      clock,
      jobStore: sqliteJobStore({ filename: join(folder, 'jobs.db') }),
      logger: false,
      plugins: [alertsPlugin({ rules: [rule], channels: [channel], checkMs: 1000 })],
    })
  return { clock, run }
}

it('an alert whose channel fails during the shutdown is sent by the next process', async () => {
  const [state, arrived] = [flag(), recorded()]
  let tries = 0
  const { clock, run } = processes(state.rule, {
    name: 'restarted',
    send: (notice, signal) =>
      tries++ < 2 ? Promise.reject(new Error('away')) : arrived.send(notice, signal),
  })
  const first = await run()
  await first.start()
  state.found = ['a']
  await clock.advance(500)
  expect(tries).toBe(1)
  await first.shutdown()
  expect(tries).toBe(2)
  const second = await run()
  await second.start()
  await clock.advance(3000)
  expect(kindsOf(arrived)).toEqual(['raised a is bad'])
  await second.shutdown()
})

it('a store in a file keeps alerts from one process to the next, and sends them once', async () => {
  const [state, channel] = [flag(), recorded()]
  const { clock, run } = processes(state.rule, channel)
  const first = await run()
  await first.start()
  state.found = ['a']
  await clock.advance(3000)
  await first.shutdown()
  const second = await run()
  await second.start()
  await clock.advance(3000)
  expect(kindsOf(channel)).toEqual(['raised a is bad'])
  state.found = []
  await clock.advance(3000)
  expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  await second.shutdown()
})

describe('rules', () => {
  const rig = async (rule: AlertRule, jobStore = ramJobStore()) => {
    const channel = recorded()
    let fails = true
    const job = jobOf(() => {
      if (fails) throw new Error('it broke')
    })
    const made = await shellRig([job], {
      jobStore,
      plugins: [alertsPlugin({ rules: [rule], channels: [channel], checkMs: 1000 })],
    })
    onTestFinished(() => made.scheduler.shutdown())
    return {
      ...made,
      channel,
      heal: () => {
        fails = false
      },
    }
  }
  const everySecond = async (scheduler: Scheduler, startMs: number, count: number): Promise<void> => {
    await scheduler.scheduleJob(
      detailOf('job', (job) => job.storeDurably()),
      firing(startMs, count),
    )
  }

  it('see a job that fails again and again, until it ends well', async () => {
    const { clock, channel, heal, scheduler, startMs } = await rig(failedInARow(3))
    await everySecond(scheduler, startMs, 10)
    await clock.advance(1500)
    expect(kindsOf(channel)).toEqual([])
    await clock.advance(4000)
    expect(channel.notices[0]?.text).toMatch(/^Job DEFAULT\.job has failed \d times in a row: .*it broke/)
    heal()
    await clock.advance(10_000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })

  it('see no job that was deleted since it failed', async () => {
    const { clock, channel, scheduler, startMs } = await rig(failedInARow(3))
    await everySecond(scheduler, startMs, 5)
    await clock.advance(5000)
    expect(kindsOf(channel)).toMatchObject([expect.stringContaining('has failed')])
    await scheduler.deleteJob(jobKey('job'))
    await clock.advance(5000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })

  it('see that a job has not ended well for long', async () => {
    const { clock, channel, heal, scheduler } = await rig(noSuccessWithin(jobKey('job'), 60_000))
    await clock.advance(62_000)
    expect(kindsOf(channel)).toEqual([
      'raised Job DEFAULT.job has not ended well for 60000 ms: it never has.',
    ])
    heal()
    await everySecond(scheduler, clock.now(), 1)
    await clock.advance(5000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })

  it('see a trigger that waits too long', async () => {
    const { clock, channel, scheduler } = await rig(firingLaterThan(60_000))
    await scheduler.standby()
    await everySecond(scheduler, clock.now() + 1000, 1)
    await clock.advance(70_000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised'])
    await scheduler.start()
    await clock.advance(5000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })

  it('see triggers in error, until they are reset', async () => {
    const channel = recorded()
    class Broken {
      constructor() {
        throw new Error('no disk')
      }
      execute(): void {}
    }
    const { clock, scheduler, startMs } = await shellRig([Broken], {
      plugins: [alertsPlugin({ rules: [triggerInError()], channels: [channel], checkMs: 1000 })],
    })
    onTestFinished(() => scheduler.shutdown())
    await scheduler.scheduleJob(detailOf('Broken'), firing(startMs, 5))
    await clock.advance(1500)
    expect(kindsOf(channel)).toEqual([
      'raised Trigger DEFAULT.trigger of job DEFAULT.job is in the ERROR state.',
    ])
    await scheduler.unscheduleJob(theTrigger)
    await clock.advance(1500)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })

  it('count misfires', async () => {
    const { clock, channel, scheduler } = await rig(misfiresOver({ count: 0, withinMs: 10_000 }))
    await scheduler.standby()
    await everySecond(scheduler, clock.now() + 1000, 1)
    await clock.advance(120_000)
    await scheduler.start()
    await clock.advance(2000)
    expect(channel.notices.map(({ kind, text }) => [kind, text.slice(0, 21)])).toEqual([
      ['raised', 'More than 0 triggers '],
    ])
    await clock.advance(15_000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })

  it('count misfires within any such time, also across the ends of two', async () => {
    const { clock, channel, scheduler } = await rig(misfiresOver({ count: 3, withinMs: 10_000 }))
    const events = scheduler.events as unknown as { emit(name: string, payload: object): void }
    /** Misfires at these seconds. */
    const misfires = async (...seconds: readonly number[]): Promise<void> => {
      const beganMs = clock.now()
      for (const second of seconds) {
        await clock.advance(beganMs + second * 1000 - clock.now())
        events.emit('triggerMisfired', { trigger: theTrigger })
      }
      await clock.advance(1000)
    }
    await misfires(0, 4, 8, 11, 16)
    expect(channel.notices).toEqual([])
    await clock.advance(20_000)
    await misfires(0, 9, 9.5, 10.5, 11)
    expect(kindsOf(channel)).toEqual([
      `raised More than 3 triggers misfired on node ${scheduler.schedulerInstanceId} in 10000 ms.`,
    ])
  })

  it('see a node that failed', async () => {
    const { clock, channel, scheduler } = await rig(nodeDown({ quietMs: 5000 }))
    const events = scheduler.events as unknown as { emit(name: string, payload: object): void }
    events.emit('nodeFailed', { node: 'n2' })
    await clock.advance(1000)
    expect(kindsOf(channel)).toEqual(['raised Node n2 stopped checking in; its work is recovered.'])
    await clock.advance(10_000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })
})

it('wrong options are refused', async () => {
  const right = { rules: [flag().rule], channels: [recorded()] }
  for (const wrong of [
    { rules: [] },
    { rules: [{ name: 'x' }] },
    { rules: [flag().rule, flag().rule] },
    { channels: [] },
    { channels: [{ name: 'x' }] },
    { channels: [recorded(), recorded()] },
    { checkMs: 1 },
    { attempts: 0 },
    { unheardOf: 1 },
  ]) {
    expect(() => alertsPlugin({ ...right, ...wrong } as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    )
  }
  expect(() => alertsPlugin({ ...right, channels: [] })).toThrow("'channels' must have 1 to 20 entries")
  const alerts: AlertsPlugin = alertsPlugin(right)
  await expect(alerts.active()).rejects.toMatchObject({ code: 'ERR_SCHEDULER_STATE' })
  for (const rule of [failedInARow, firingLaterThan]) {
    expect(() => rule(0)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARGUMENT' }))
  }
})
