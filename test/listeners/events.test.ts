import { describe, expect, it } from 'vitest'
import { type Logger, silentLogger } from '../../src/core/logger.ts'
import { SchedulerEventEmitter } from '../../src/listeners/events.ts'

function emitter() {
  const logged: { readonly fields: object; readonly message: string }[] = []
  const logger: Logger = {
    ...silentLogger,
    error: (fields, message) => {
      logged.push({ fields, message })
    },
  }
  return { events: new SchedulerEventEmitter(logger), logged }
}

const paused = (group: string | null) => ({ group })

describe('observers of events', () => {
  it('are told in order, until they stop', () => {
    const { events } = emitter()
    const heard: string[] = []
    const stop = events.on('triggersPaused', ({ group }) => heard.push(`a ${group}`))
    events.on('triggersPaused', ({ group }) => heard.push(`b ${group}`))
    expect(events.has('triggersPaused')).toBe(true)
    expect(events.has('triggersResumed')).toBe(false)
    events.emit('triggersPaused', paused('g'))
    stop()
    stop()
    events.emit('triggersPaused', paused(null))
    events.emit('triggersResumed', paused('g'))
    expect(heard).toEqual(['a g', 'b g', 'b null'])
  })

  it('added twice are told twice, and stop one at a time', () => {
    const { events } = emitter()
    let told = 0
    const observer = (): void => {
      told++
    }
    const stop = events.on('schedulerStarted', observer)
    const stopAgain = events.on('schedulerStarted', observer)
    events.emit('schedulerStarted', {})
    expect(told).toBe(2)
    stop()
    events.emit('schedulerStarted', {})
    expect(told).toBe(3)
    stopAgain()
    events.emit('schedulerStarted', {})
    expect(told).toBe(3)
    expect(events.has('schedulerStarted')).toBe(false)
  })

  it('that throw are logged and keep nobody from being told', () => {
    const { events, logged } = emitter()
    const boom = new Error('boom')
    let told = 0
    events.on('schedulerStarted', () => {
      throw boom
    })
    events.on('schedulerStarted', () => {
      told++
    })
    events.emit('schedulerStarted', {})
    expect(told).toBe(1)
    expect(logged).toEqual([
      { fields: { err: boom, event: 'schedulerStarted' }, message: 'an event observer threw' },
    ])
  })

  it('that are async and reject are logged too, and do not end the process', async () => {
    const { events, logged } = emitter()
    const boom = new Error('boom')
    const rejecting = (): unknown => Promise.resolve().then(() => Promise.reject(boom))
    events.on('schedulerStarted', rejecting)
    events.emit('schedulerStarted', {})
    await new Promise((resolve) => setImmediate(resolve))
    expect(logged).toEqual([
      { fields: { err: boom, event: 'schedulerStarted' }, message: 'an event observer threw' },
    ])
  })

  it('may stop themselves and add others while they are told', () => {
    const { events } = emitter()
    const heard: string[] = []
    const stop = events.on('schedulerStarted', () => {
      heard.push('once')
      stop()
      events.on('schedulerStarted', () => heard.push('added'))
    })
    events.on('schedulerStarted', () => heard.push('other'))
    events.emit('schedulerStarted', {})
    expect(heard).toEqual(['once', 'other'])
    events.emit('schedulerStarted', {})
    expect(heard).toEqual(['once', 'other', 'other', 'added'])
  })
})

describe('the next event', () => {
  it('is the first that comes from now on', async () => {
    const { events } = emitter()
    events.emit('triggersPaused', paused('before'))
    const next = events.next('triggersPaused')
    events.emit('triggersPaused', paused('first'))
    events.emit('triggersPaused', paused('second'))
    expect(await next).toEqual({ group: 'first' })
    expect(events.has('triggersPaused')).toBe(false)
  })

  it('is the first that satisfies the predicate', async () => {
    const { events } = emitter()
    const next = events.next('triggersPaused', ({ group }) => group === 'second')
    events.emit('triggersPaused', paused('first'))
    expect(events.has('triggersPaused')).toBe(true)
    events.emit('triggersPaused', paused('second'))
    expect(await next).toEqual({ group: 'second' })
  })

  it('rejects when the predicate throws, whatever it throws', async () => {
    const { events, logged } = emitter()
    const boom = new Error('boom')
    for (const thrown of [boom, 'text'] as readonly unknown[]) {
      const next = events.next('schedulerStarted', () => {
        throw thrown
      })
      events.emit('schedulerStarted', {})
      await expect(next).rejects.toThrow(thrown === boom ? 'boom' : 'text')
    }
    expect(logged).toEqual([])
    expect(events.has('schedulerStarted')).toBe(false)
  })

  it('refuses a predicate that is async, also one that rejects', async () => {
    const { events } = emitter()
    for (const predicate of [async () => true, () => Promise.reject(new Error('lost'))]) {
      const next = events.next('schedulerStarted', predicate as unknown as () => boolean)
      events.emit('schedulerStarted', {})
      await expect(next).rejects.toMatchObject({
        code: 'ERR_INVALID_ARGUMENT',
        message: expect.stringContaining("'predicate' of events.next must not return a promise") as string,
      })
    }
    expect(events.has('schedulerStarted')).toBe(false)
  })
})
