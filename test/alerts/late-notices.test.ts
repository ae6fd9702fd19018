import { describe, expect, it } from 'vitest'
import type { AlertChannel, AlertNotice } from '../../src/alerts.ts'
import { MemoryNotes } from '../../src/jobstore/memory-notes.ts'
import { ManualClock } from '../../src/testing.ts'
import { latch } from '../support/latch.ts'
import { flag, kindsOf, recorded, startNode, watched } from './alerts-rig.ts'

/** A receiver that a node does not reach while the test says so. */
function receiver() {
  const channel = recorded('receiver')
  const state = {
    isAway: false,
    got: () => kindsOf(channel),
    channel: {
      name: 'receiver',
      send: (notice: AlertNotice, signal: AbortSignal) =>
        state.isAway ? Promise.reject(new Error('away')) : channel.send(notice, signal),
    },
  }
  return state
}

/**
 * Two nodes of a cluster with one receiver: one that evaluates, and one on which the test raises alerts of the rule
 * `w`, and from which the receiver is away.
 */
async function twoNodes(quietMs: number) {
  const [clock, notes, raised, near] = [new ManualClock(), new MemoryNotes(), watched('w'), receiver()]
  const far = {
    isAway: true,
    name: 'receiver',
    send: (notice: AlertNotice) =>
      far.isAway
        ? Promise.reject(new Error('away'))
        : near.channel.send(notice, new AbortController().signal),
  }
  const options = { attempts: 50 }
  const leading = [{ ...watched('w').rule, quietMs }]
  await startNode('leader', { clock, notes }, { ...options, rules: leading, channels: [near.channel] })
  const rules = [{ ...raised.rule, quietMs }]
  await startNode('other', { clock, notes }, { ...options, rules, channels: [far] })
  return { clock, notes, raised, far, got: near.got }
}

describe('a notice that a node could not send', () => {
  it('is left out when another node has told the end of its alert meanwhile', async () => {
    const { clock, raised, far, got } = await twoNodes(1000)
    raised.raise('disk')
    await clock.advance(10_000)
    expect(got()).toEqual(['resolved Over: disk is bad', 'normal Everything is back to normal.'])
    far.isAway = false
    await clock.advance(120_000)
    expect(got()).toEqual(['resolved Over: disk is bad', 'normal Everything is back to normal.'])
  })

  it('is sent late when its alert is not over, or when the node itself has told the end', async () => {
    const [clock, notes, state, one] = [new ManualClock(), new MemoryNotes(), flag(), receiver()]
    await startNode('n1', { clock, notes }, { rules: [state.rule], channels: [one.channel], attempts: 50 })
    one.isAway = true
    state.found = ['a', 'b']
    await clock.advance(5000)
    state.found = ['a']
    await clock.advance(5000)
    expect(one.got()).toEqual([])
    one.isAway = false
    await clock.advance(60_000)
    expect(one.got()).toEqual(['raised a is bad', 'raised b is bad', 'resolved Over: b is bad'])
  })

  it('of an end is left out when another node has raised the alert anew, as is that all is normal', async () => {
    const [clock, notes] = [new ManualClock(), new MemoryNotes()]
    const [mine, others, near, far] = [flag(), watched('w'), receiver(), recorded('receiver')]
    const rules = [mine.rule, { ...watched('w').rule, quietMs: 3000 }]
    await startNode('leader', { clock, notes }, { rules, channels: [near.channel], attempts: 50 })
    await startNode(
      'other',
      { clock, notes },
      { rules: [flag().rule, { ...others.rule, quietMs: 3000 }], channels: [far] },
    )
    others.raise('disk')
    await clock.advance(1000)
    near.isAway = true
    await clock.advance(6000)
    // The end and that all is normal wait at the leader.
    expect([near.got(), kindsOf(far)]).toEqual([[], ['raised disk is bad']])
    for (let second = 0; second < 60; second++) {
      others.raise('disk')
      await clock.advance(1000)
      if (second === 2) near.isAway = false
    }
    expect([near.got(), kindsOf(far)]).toEqual([[], ['raised disk is bad', 'raised disk is bad']])
    await clock.advance(10_000)
    expect(near.got()).toEqual(['resolved Over: disk is bad', 'normal Everything is back to normal.'])
  })

  it('is sent when the store does not say whether it is news', async () => {
    const { clock, notes, raised, far, got } = await twoNodes(86_400_000)
    raised.raise('disk')
    await clock.advance(500)
    const list = notes.list.bind(notes)
    notes.list = () => new Promise(() => {})
    far.isAway = false
    await clock.advance(5000)
    expect(got()).toEqual(['raised disk is bad'])
    notes.list = list
    await clock.advance(60_000)
  })
})

describe('a node that shuts down', () => {
  const hanging: AlertChannel = { name: 'hanging', send: () => new Promise(() => {}) }

  it.each([
    ['hangs', [hanging]],
    ['hangs beside one that works', [recorded('other'), hanging]],
  ])('gives back what a channel holds that %s, so that another node sends it', async (_what, channels) => {
    const [clock, notes, raised, near] = [new ManualClock(), new MemoryNotes(), watched('w'), recorded()]
    await startNode('leader', { clock, notes }, { rules: [watched('w').rule], channels: [near] })
    const other = await startNode('other', { clock, notes }, { rules: [raised.rule], channels })
    // One that is being sent, and one that waits behind it.
    raised.raise('disk')
    raised.raise('fan')
    await clock.advance(500)
    await Promise.all([other.shutdown(), clock.advance(3000)])
    await clock.advance(2000)
    expect(kindsOf(near).sort()).toEqual(['raised disk is bad', 'raised fan is bad'])
  })

  it('gives back what it has stored when its channels had closed', async () => {
    const [clock, notes, state, near] = [new ManualClock(), new MemoryNotes(), flag(), recorded()]
    const put = notes.put.bind(notes)
    const [asked, held] = [latch(), latch()]
    const own = Object.assign(Object.create(notes) as MemoryNotes, {
      list: notes.list.bind(notes),
      delete: notes.delete.bind(notes),
      put: async (...note: Parameters<MemoryNotes['put']>) => {
        if (note[0] === 'alert' && note[3] === null) {
          asked.open()
          await held.promise
        }
        return put(...note)
      },
    })
    state.found = ['a']
    const first = await startNode(
      'n1',
      { clock, notes: own },
      { rules: [state.rule], channels: [recorded()] },
    )
    await asked.promise
    await Promise.all([first.shutdown(), clock.advance(3000)])
    held.open()
    await clock.advance(0)
    await startNode('n2', { clock, notes }, { rules: [state.rule], channels: [near] })
    await clock.advance(5000)
    expect(kindsOf(near)).toEqual(['raised a is bad'])
  })
})
