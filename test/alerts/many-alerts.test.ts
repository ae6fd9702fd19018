import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { alertIdOf } from '../../src/alerts/alert-book.ts'
import { type AlertChannel, type AlertRule, alertsPlugin, failedInARow, nodeDown } from '../../src/alerts.ts'
import { defineJob, JobBuilder, TriggerBuilder } from '../../src/index.ts'
import type { JobStoreNotes } from '../../src/jobs/job-store-notes.ts'
import { MemoryNotes } from '../../src/jobstore/memory-notes.ts'
import { ManualClock } from '../../src/testing.ts'
import { pause } from '../../src/time/pause.ts'
import { shellRig } from '../support/shell-rig.ts'
import { flag, kindsOf, recorded, rigWith, startNode, watched } from './alerts-rig.ts'

const subjects = (count: number): string[] => Array.from({ length: count }, (_, index) => `subject ${index}`)

describe('a rule that raises again and again', () => {
  it('has the other rules checked no sooner, and is stored at once and then once a second', async () => {
    const [state, storm, channel] = [flag(), watched('storm'), recorded()]
    let checks = 0
    const counted: AlertRule = {
      ...state.rule,
      check: async () => {
        checks++
        return []
      },
    }
    const rig = await rigWith([counted, storm.rule], [channel], { checkMs: 30_000 })
    const { clock, store } = rig
    const notes = store.notes ?? expect.fail('the store keeps no notes')
    const list = notes.list.bind(notes)
    let asked = 0
    notes.list = (kind) => {
      asked++
      return list(kind)
    }
    storm.raise('disk')
    await clock.advance(0)
    expect(kindsOf(channel)).toEqual(['raised disk is bad'])
    for (let time = 0; time < 1000; time++) {
      storm.raise('disk')
      await clock.advance(10)
    }
    expect(checks).toBe(1)
    expect(asked).toBeLessThan(40)
    storm.raise('mail')
    await clock.advance(1000)
    expect(kindsOf(channel)[1]).toBe('raised mail is bad')
    await clock.advance(20_000)
    expect(checks).toBe(2)
  })
})

describe('everything is back to normal', () => {
  it('is not said while another alert begins', async () => {
    const [a, b, channel] = [flag('a'), flag('b'), recorded()]
    const { clock } = await rigWith([a.rule, b.rule], [channel])
    a.found = ['disk']
    await clock.advance(1000)
    ;[a.found, b.found] = [[], ['mail']]
    await clock.advance(5000)
    expect(kindsOf(channel).sort()).toEqual([
      'raised disk is bad',
      'raised mail is bad',
      'resolved Over: disk is bad',
    ])
    b.found = []
    await clock.advance(1000)
    expect(kindsOf(channel).slice(3)).toEqual([
      'resolved Over: mail is bad',
      'normal Everything is back to normal.',
    ])
  })

  it('is not said while an alert waits for its channel, but with one that is silenced', async () => {
    const [state, channel] = [flag(), recorded()]
    let holdsUp = true
    const held: AlertChannel = {
      name: 'held',
      send: (notice) =>
        holdsUp && notice.text.startsWith('b')
          ? Promise.reject(new Error('busy'))
          : channel.send(notice, signal()),
    }
    const { alerts, clock } = await rigWith([state.rule], [held])
    await alerts.silence({ subject: 'c', until: new Date(clock.now() + 86_400_000), by: 'ann', reason: 'x' })
    state.found = ['a', 'b', 'c']
    await clock.advance(2000)
    state.found = ['b', 'c']
    await clock.advance(5000)
    holdsUp = false
    await clock.advance(60_000)
    state.found = ['c']
    await clock.advance(2000)
    expect(kindsOf(channel)).toEqual([
      'raised a is bad',
      'raised b is bad',
      'resolved Over: a is bad',
      'resolved Over: b is bad',
      'normal Everything is back to normal.',
    ])
  })
})

const signal = (): AbortSignal => new AbortController().signal

describe('more alerts than a page, a queue or a list', () => {
  it('jobs that fail are all seen, however many they are', async () => {
    const channel = recorded()
    const rule = failedInARow(1)
    const job = defineJob('fails', () => {
      throw new Error('it broke')
    })
    const { clock, scheduler } = await shellRig([job], {
      plugins: [alertsPlugin({ rules: [rule], channels: [channel], checkMs: 60_000 })],
    })
    onTestFinished(() => scheduler.shutdown())
    const fail = async (names: readonly string[]): Promise<void> => {
      await scheduler.scheduleJobs(
        names.map((name) => ({
          job: JobBuilder.newJob(job).withIdentity(name).storeDurably().build(),
          triggers: [TriggerBuilder.newTrigger().withIdentity(name).startAt(new Date(clock.now())).build()],
        })),
      )
      await clock.advance(1000)
    }
    await fail(Array.from({ length: 1000 }, (_, index) => `m${index}`))
    await clock.advance(60_000)
    await fail(['a'])
    await clock.advance(60_000)
    expect(channel.notices.map(({ kind }) => kind)).not.toContain('resolved')
    const found = await rule.check?.({ scheduler, nowMs: clock.now(), watchedSinceMs: 0 })
    expect(found).toHaveLength(1001)
  })

  it('what a queue has no room for is sent once it has', async () => {
    const [state, slow] = [flag(), recorded('slow')]
    const clock = new ManualClock()
    const channel: AlertChannel = {
      name: 'slow',
      send: async (notice) => {
        await pause(clock, 15)
        await slow.send(notice, signal())
      },
    }
    const alerts = alertsPlugin({ rules: [state.rule], channels: [channel], checkMs: 1000 })
    const { scheduler } = await shellRig([], { clock, plugins: [alerts] })
    onTestFinished(async () => {
      const ending = scheduler.shutdown()
      await clock.advance(60_000)
      await ending
    })
    state.found = subjects(180)
    await clock.advance(1100)
    expect((await alerts.active()).filter(({ isSent }) => isSent).length).toBeLessThan(100)
    await clock.advance(10_000)
    expect(new Set(slow.notices.map(({ text }) => text)).size).toBe(180)
    expect(slow.notices).toHaveLength(180)
    expect((await alerts.active()).every(({ isSent }) => isSent)).toBe(true)
  })

  it('a rule with few alerts is heard whatever the others find, and the log says what is left out', async () => {
    const [a, b, channel] = [flag('a'), flag('b'), recorded()]
    const logged: string[] = []
    const log = (fields: object, message: string): void => {
      logged.push(`${message} ${JSON.stringify(fields)}`)
    }
    const alerts = alertsPlugin({ rules: [a.rule, b.rule, nodeDown()], channels: [channel], checkMs: 1000 })
    const logger = { debug: () => {}, info: () => {}, warn: log, error: log }
    const { clock, scheduler } = await shellRig([], { plugins: [alerts], logger })
    onTestFinished(() => scheduler.shutdown())
    ;[a.found, b.found] = [subjects(100), subjects(101)]
    await clock.advance(5000)
    const events = scheduler.events as unknown as { emit(name: string, payload: object): void }
    events.emit('nodeFailed', { node: 'n2' })
    await clock.advance(1000)
    expect(channel.notices.at(-1)?.text).toBe('Node n2 stopped checking in; its work is recovered.')
    expect(channel.notices).toHaveLength(201)
    expect(logged).toEqual(['An alert rule finds more than is raised. {"rule":"b","alerts":100}'])
  })

  it('what is found beyond the room for it costs less than one hash of each', async () => {
    const [state, channel] = [flag(), recorded()]
    const { clock } = await rigWith([state.rule], [channel])
    state.found = subjects(100_000)
    await clock.advance(1000)
    expect(channel.notices).toHaveLength(200)
    const spentOn = async (work: () => unknown): Promise<number> => {
      const spent: number[] = []
      for (let time = 0; time < 3; time++) {
        const before = process.cpuUsage()
        await work()
        spent.push(process.cpuUsage(before).user)
      }
      return Math.min(...spent)
    }
    const hashes = await spentOn(() => state.found.map((subject) => alertIdOf('flag', subject)))
    expect(await spentOn(() => clock.advance(1000))).toBeLessThan(hashes)
  })
})

describe('a rule that takes long to answer', () => {
  const held = (ms: number) => {
    const state = { asked: 0, clock: new ManualClock() }
    const rule: AlertRule = {
      name: 'held',
      description: 'What takes long to find.',
      async check() {
        state.asked++
        await pause(state.clock, ms)
        return [{ subject: 'disk', message: 'disk is bad' }]
      },
    }
    return { state, rule }
  }

  it('is heard at the next check', async () => {
    const [{ state, rule }, channel] = [held(40_000), recorded()]
    await startNode(
      'n1',
      { clock: state.clock, notes: new MemoryNotes() },
      { rules: [rule], channels: [channel] },
    )
    await state.clock.advance(45_000)
    expect(kindsOf(channel)).toEqual(['raised disk is bad'])
  })

  it('is asked again after five minutes, not at each check', async () => {
    const [{ state, rule }, channel] = [held(86_400_000), recorded()]
    await startNode(
      'n1',
      { clock: state.clock, notes: new MemoryNotes() },
      { rules: [rule], channels: [channel] },
    )
    await state.clock.advance(299_000)
    expect(state.asked).toBe(1)
    await state.clock.advance(60_000)
    expect(state.asked).toBe(2)
  })
})

it('notes that something else has written stop no alerts', async () => {
  const text = fc.constant('x')
  const junk = fc.oneof(fc.constantFrom('x', 0, null, true, {}, { node: 'n' }), fc.json())
  const texts = { rule: text, subject: text, message: text, by: text, reason: text }
  const others = { node: junk, sinceMs: junk, lastTimeMs: junk, isSent: junk, claim: junk, untilMs: junk }
  const note = fc.record(
    { ...texts, ...others },
    { requiredKeys: ['rule', 'subject', 'message', 'by', 'reason'] },
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('alert', 'alert-silence'), note, async (kind, value) => {
      const [clock, notes, state, channel] = [new ManualClock(), new MemoryNotes(), flag(), recorded()]
      await notes.put(kind, 'junk', JSON.stringify(value), null)
      state.found = ['a']
      const scheduler = await startNode('n1', { clock, notes }, { rules: [state.rule], channels: [channel] })
      await clock.advance(70_000)
      await scheduler.shutdown()
      expect(kindsOf(channel).filter((text) => !text.startsWith('resolved'))).toEqual(['raised a is bad'])
    }),
    { numRuns: 40, seed: 7 },
  )
})

describe('nodes', () => {
  it('leave an alert to the one that tries to send it, however long that takes', async () => {
    const [clock, notes, state, channel] = [new ManualClock(), new MemoryNotes(), watched('w'), recorded()]
    let isAway = true
    const receiver: AlertChannel = {
      name: 'receiver',
      send: (notice) => (isAway ? Promise.reject(new Error('away')) : channel.send(notice, signal())),
    }
    const options = { channels: [receiver], attempts: 50 }
    await startNode('leader', { clock, notes }, { ...options, rules: [watched('w').rule] })
    await startNode('other', { clock, notes }, { ...options, rules: [state.rule] })
    state.raise('disk')
    await clock.advance(12 * 60_000)
    isAway = false
    await clock.advance(5 * 60_000)
    expect(kindsOf(channel)).toEqual(['raised disk is bad'])
  })

  it('that could not send an alert do not have it sent again that another one has sent', async () => {
    const [clock, shared, state, channel] = [new ManualClock(), new MemoryNotes(), watched('w'), recorded()]
    let isCutOff = false
    const notes: JobStoreNotes = {
      get: (...note) => shared.get(...note),
      list: async (kind) => (isCutOff ? Promise.reject(new Error('cut off')) : shared.list(kind)),
      put: async (...note) => (isCutOff ? Promise.reject(new Error('cut off')) : shared.put(...note)),
      delete: async (...note) => (isCutOff ? Promise.reject(new Error('cut off')) : shared.delete(...note)),
    }
    const away: AlertChannel = { name: 'away', send: () => Promise.reject(new Error('away')) }
    const others = { rules: [watched('w').rule], channels: [channel] }
    const first = await startNode(
      'first',
      { clock, notes },
      { rules: [state.rule], channels: [away], attempts: 50 },
    )
    state.raise('disk')
    await clock.advance(1000)
    isCutOff = true
    await startNode('second', { clock, notes: shared }, others)
    await clock.advance(12 * 60_000)
    expect(kindsOf(channel)).toEqual(['raised disk is bad'])
    isCutOff = false
    await Promise.all([first.shutdown(), clock.advance(1000)])
    await clock.advance(60_000)
    expect(kindsOf(channel)).toEqual(['raised disk is bad'])
  })

  it('that stop in the middle of a round do not take the lead again', async () => {
    const [clock, notes, state] = [new ManualClock(), new MemoryNotes(), flag()]
    const list = notes.list.bind(notes)
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const scheduler = await startNode('n1', { clock, notes }, { rules: [state.rule], channels: [recorded()] })
    notes.list = async (kind) => {
      if (kind === 'alert-silence') await held
      return list(kind)
    }
    await clock.advance(1000)
    await scheduler.shutdown()
    release()
    await clock.advance(0)
    expect(await list('alert-leader')).toEqual([])
  })
})

it('channels with too much to send are asked again for what they dropped, also if another gave it up', async () => {
  const hanging: AlertChannel = { name: 'hanging', send: () => new Promise(() => {}) }
  const failing = { name: 'failing', send: vi.fn(() => Promise.reject(new Error('closed'))) }
  const state = flag()
  const { clock, alerts, scheduler } = await rigWith([state.rule], [hanging, failing], { attempts: 1 })
  state.found = subjects(150)
  await clock.advance(1100)
  expect(failing.send.mock.calls.length).toBeGreaterThanOrEqual(150)
  expect((await alerts.active()).filter(({ isGivenUp }) => isGivenUp)).toEqual([])
  const ending = scheduler.shutdown()
  await clock.advance(10_000)
  await ending
})
