import { describe, expect, it } from 'vitest'
import type { AlertChannel, AlertFinding, AlertRule } from '../../src/alerts.ts'
import { flag, kindsOf, recorded, rigWith } from './alerts-rig.ts'

describe('alerts', () => {
  it('of a rule that watches last while it raises them, however short its quiet time is', async () => {
    const channel = recorded()
    let raise: (finding: AlertFinding) => void = () => {}
    const noisy: AlertRule = {
      name: 'noisy',
      description: 'd',
      quietMs: 1000,
      watch: (_, give) => {
        raise = give
        return () => {}
      },
    }
    const { clock } = await rigWith([noisy], [channel], { checkMs: 4000 })
    for (let second = 0; second < 16; second += 0.1) {
      raise({ subject: 'a', message: 'a is bad' })
      await clock.advance(100)
    }
    expect(kindsOf(channel)).toEqual(['raised a is bad'])
    await clock.advance(8000)
    expect(channel.notices.map(({ kind }) => kind)).toEqual(['raised', 'resolved', 'normal'])
  })

  it('raised anew are not taken for sent because the one before was', async () => {
    const arrived: string[] = []
    let send: () => void = () => {}
    const slow: AlertChannel = {
      name: 'slow',
      send: async ({ kind }) => {
        if (kind === 'raised' && arrived.length === 0) await new Promise<void>((resolve) => (send = resolve))
        arrived.push(kind)
      },
    }
    const state = flag()
    const { clock, alerts } = await rigWith([state.rule], [slow], { timeoutMs: 60_000 })
    state.found = ['a']
    await clock.advance(1100)
    state.found = []
    await clock.advance(1100)
    const until = new Date(clock.now() + 10_000)
    await alerts.silence({ subject: 'a', until, by: 'ann', reason: 'deployment' })
    state.found = ['a']
    await clock.advance(1100)
    send()
    await clock.advance(1100)
    expect(await alerts.active()).toMatchObject([{ subject: 'a', isSent: false }])
    await clock.advance(20_000)
    expect(await alerts.active()).toMatchObject([{ subject: 'a', isSent: true }])
    expect(arrived.filter((kind) => kind === 'raised')).toHaveLength(2)
  })
})
