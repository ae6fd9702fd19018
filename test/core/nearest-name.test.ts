import { describe, expect, it } from 'vitest'
import { meantName, nearestName, refuseUnknownKeys } from '../../src/core/options.ts'

const known = ['cron', 'daily', 'every', 'at', 'in', 'key', 'zone', 'endAt', 'misfireInstruction']

describe('the name that was most likely meant', () => {
  it.each([
    ['crom', 'cron'],
    ['corn', 'cron'],
    ['evry', 'every'],
    ['endat', 'endAt'],
    ['misfireInstrction', 'misfireInstruction'],
    ['misfire', 'misfireInstruction'],
  ])('%s is %s', (name, meant) => {
    expect(nearestName(name, known)).toBe(meant)
  })

  it.each(['tz', 'retry', 'why', 'b', 'ad', 'by'])('%s is none of these', (name) => {
    expect(nearestName(name, known)).toBeNull()
  })

  it.each([
    ['tz', "'zone'"],
    ['timeZone', "'zone'"],
    ['name', "'key'"],
    ['id', "'key'"],
  ])('%s is what other libraries call %s', (name, meant) => {
    expect(() => {
      refuseUnknownKeys('schedule', { [name]: 1 }, known)
    }).toThrow(`Did you mean ${meant}?`)
  })

  it.each([
    ['zone', 'timeZone'],
    ['tz', 'timeZone'],
    ['name', 'schedulerName'],
    ['size', 'threadPool'],
    ['store', 'jobStore'],
    ['limit', 'take'],
    ['instanceId', 'node'],
  ])('%s is %s where that is the option', (name, meant) => {
    expect(meantName(name, ['schedulerName', 'threadPool', 'jobStore', 'timeZone', 'take', 'node'])).toBe(
      meant,
    )
  })

  it.each(['time-zone', 'timezone'])('%s of a command line is its zone', (name) => {
    expect(meantName(name, ['zone', 'count'])).toBe('zone')
  })

  it('of an option that has another name here is not guessed where there is no such thing', () => {
    const refused = (): void => {
      refuseUnknownKeys('createScheduler', { id: 1 }, ['schedulerName', 'logger'])
    }
    expect(refused).toThrow('Known: schedulerName, logger.')
  })
})
