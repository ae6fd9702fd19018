import { describe, expect, it } from 'vitest'
import { emptyJobDataMap } from '../../src/core/job-data-map.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { triggerFromJSON, triggerToJSON } from '../../src/triggers/families/trigger-json.ts'

const trigger = TriggerBuilder.newTrigger().withIdentity('t').forJob('j').startAt(new Date(0)).build()
const json = triggerToJSON(trigger)
const interval = triggerToJSON(
  trigger
    .getTriggerBuilder()
    .withSchedule(CalendarIntervalScheduleBuilder.calendarIntervalSchedule())
    .build(),
)

describe('the plain form of a trigger', () => {
  it('is JSON with instants in epoch milliseconds', () => {
    expect(json).toEqual({
      type: 'simple',
      key: { name: 't', group: 'DEFAULT' },
      jobKey: { name: 'j', group: 'DEFAULT' },
      description: null,
      calendarName: null,
      jobDataMap: {},
      priority: 5,
      startTimeMs: 0,
      endTimeMs: null,
      nextFireTimeMs: null,
      previousFireTimeMs: null,
      timesTriggered: 0,
      misfiredFireTimeMs: null,
      misfireInstruction: 'smart',
      repeatCount: 0,
      repeatIntervalMs: 0,
    })
  })

  it('keeps the dialect of a cron expression', () => {
    const cron = TriggerBuilder.newTrigger().withSchedule(CronScheduleBuilder.unixCron('0 7 * * 1')).build()
    expect(triggerFromJSON(triggerToJSON(cron))).toEqual(cron)
  })

  it('shares the empty job data, so that a million triggers hold one', () => {
    expect(triggerFromJSON(JSON.parse(JSON.stringify(json))).jobDataMap).toBe(emptyJobDataMap)
  })

  it.each<[string, unknown]>([
    ['type', null],
    ['type', {}],
    ['type', { ...json, type: 'lunar' }],
    ['key', { ...json, key: null }],
    ['jobKey', { ...json, jobKey: { name: 1, group: '' } }],
    ['nextFireTimeMs', { ...json, nextFireTimeMs: 'soon' }],
    ['timesTriggered', { ...json, timesTriggered: null }],
    ['timesTriggered', { ...json, timesTriggered: -5 }],
    ['nextFireTimeMs', { ...json, nextFireTimeMs: 9e15 }],
    ['previousFireTimeMs', { ...json, previousFireTimeMs: -9e15 }],
    ['skipDayIfHourDoesNotExist', { ...interval, skipDayIfHourDoesNotExist: 'false' }],
    ['preserveHourOfDayAcrossDaylightSavings', { ...interval, preserveHourOfDayAcrossDaylightSavings: 1 }],
    ['skipDayIfHourDoesNotExist', { ...interval, skipDayIfHourDoesNotExist: undefined }],
    ['priority', { ...json, priority: '5' }],
    ['startTimeMs', { ...json, startTimeMs: null }],
    ['endTimeMs', { ...json, endTimeMs: 0.5 }],
    ['endAt', { ...json, endTimeMs: -1 }],
    ['repeatIntervalMs', { ...json, repeatCount: 1 }],
    ['misfireInstruction', { ...json, misfireInstruction: 'doNothing' }],
    ['jobDataMap', { ...json, jobDataMap: [] }],
    ['description', { ...json, description: 7 }],
    ['cronExpression', { ...json, type: 'cron' }],
  ])('with a wrong %s is refused by name', (field, wrong) => {
    expect(() => triggerFromJSON(wrong)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_TRIGGER', field }),
    )
  })
})
