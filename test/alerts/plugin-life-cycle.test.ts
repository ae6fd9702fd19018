import { describe, expect, it } from 'vitest'
import { type AlertChannel, type AlertRule, alertsPlugin } from '../../src/alerts.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { createScheduler } from '../../src/index.ts'
import { latch } from '../support/latch.ts'
import { shellRig } from '../support/shell-rig.ts'
import { flag, kindsOf, recorded, rigWith } from './alerts-rig.ts'

it('what a rule or a channel throws at the shutdown keeps nothing else from its end', async () => {
  const [state, channel] = [flag(), recorded()]
  const ended: string[] = []
  const ending = (name: string): AlertRule => ({
    name,
    description: 'Ends badly.',
    watch: () => () => {
      ended.push(name)
      throw new Error('not now')
    },
  })
  const closing = (name: string): AlertChannel => ({
    ...channel,
    name,
    close: () => {
      ended.push(name)
      throw new Error('not now')
    },
  })
  const { scheduler, store } = await rigWith(
    [state.rule, ending('rule a'), ending('rule b')],
    [closing('channel a'), closing('channel b')],
  )
  expect(await store.notes?.list('alert-leader')).toHaveLength(1)
  await scheduler.shutdown()
  expect(ended).toEqual(['rule a', 'rule b', 'channel a', 'channel b'])
  expect(await store.notes?.list('alert-leader')).toEqual([])
})

it('what they reject with at the shutdown is logged, and a channel that closes is waited for', async () => {
  const logged: string[] = []
  const logger = { ...silentLogger, error: (_fields: object, message: string) => logged.push(message) }
  const sleeping: AlertRule = {
    name: 'sleeping',
    description: 'Ends badly, and later.',
    watch: () => () => Promise.reject(new Error('not now')),
  }
  const closing = latch()
  const channels = [
    { ...recorded('fails'), close: () => Promise.reject(new Error('not now')) },
    { ...recorded('closes'), close: () => closing.promise },
  ]
  const { clock, scheduler } = await rigWith([sleeping], channels, {}, { logger })
  let hasEnded = false
  const ending = scheduler.shutdown().then(() => {
    hasEnded = true
  })
  await clock.settle()
  expect(hasEnded).toBe(false)
  closing.open()
  await ending
  expect(logged).toEqual([
    'What the watch of an alert rule returned failed.',
    'The close of an alert channel failed.',
  ])
})

it('a rule that cannot be watched ends what the rules before it have begun', async () => {
  const told: string[] = []
  const watch = () => {
    told.push('begun')
    return () => told.push('ended')
  }
  const rule: AlertRule = { name: 'first', description: 'd', watch }
  const failing: AlertRule = {
    name: 'second',
    description: 'd',
    watch: () => {
      throw new Error('not now')
    },
  }
  await expect(rigWith([rule, failing], [recorded()])).rejects.toThrow('not now')
  expect(told).toEqual(['begun', 'ended'])
})

it('a rule whose watch is an async function is refused, because nobody would end it', async () => {
  const watch = () => Promise.reject(new Error('not now'))
  const rule = { name: 'async', description: 'd', watch } as unknown as AlertRule
  await expect(rigWith([rule], [recorded()])).rejects.toMatchObject({
    code: 'ERR_INVALID_OPTION',
    message: expect.stringContaining("The 'watch' of alert rule 'async' must not return a promise") as string,
  })
})

describe('the plugin', () => {
  it('of a scheduler goes on when another scheduler is refused that was to have it', async () => {
    const [state, channel] = [flag(), recorded()]
    let closed = 0
    const closing: AlertChannel = {
      ...channel,
      close: () => {
        closed++
      },
    }
    const { alerts, clock, scheduler } = await rigWith([state.rule], [closing])
    await expect(
      createScheduler({ schedulerName: 'second', logger: false, plugins: [alerts] }),
    ).rejects.toThrow(
      "This alertsPlugin belongs to scheduler 'QuartzScheduler' already; make one for each scheduler.",
    )
    state.found = ['a']
    await clock.advance(3000)
    expect(kindsOf(channel)).toEqual(['raised a is bad'])
    expect(alerts.schedulerName).toBe('QuartzScheduler')
    expect(closed).toBe(0)
    await scheduler.shutdown()
    expect(closed).toBe(1)
  })

  it('may be given to another scheduler when the first could not be made', async () => {
    const [state, channel] = [flag(), recorded()]
    const alerts = alertsPlugin({ rules: [state.rule], channels: [channel], checkMs: 1000 })
    let isReady = false
    const failing = {
      name: 'failing',
      initialize: () => {
        if (!isReady) throw new Error('not ready')
      },
    }
    const rig = () => shellRig([], { plugins: [alerts, failing] })
    await expect(rig()).rejects.toThrow('not ready')
    expect(alerts.schedulerName).toBeNull()
    isReady = true
    const { clock, scheduler } = await rig()
    state.found = ['a']
    await clock.advance(3000)
    expect(kindsOf(channel)).toEqual(['raised a is bad'])
    await scheduler.shutdown()
  })

  it('refuses everything once its scheduler has shut down, and sends nothing through closed channels', async () => {
    const [state, channel] = [flag(), recorded()]
    const { alerts, clock, scheduler } = await rigWith([state.rule], [channel])
    await scheduler.shutdown()
    const until = new Date(clock.now() + 1000)
    const refused = { code: 'ERR_SCHEDULER_SHUTDOWN' }
    for (const call of [
      () => alerts.test(),
      () => alerts.active(),
      () => alerts.silences(),
      () => alerts.silence({ until, by: 'ann', reason: 'deployment' }),
      () => alerts.endSilence('any'),
    ]) {
      await expect(call()).rejects.toMatchObject(refused)
    }
    expect(channel.notices).toEqual([])
  })
})
