import { describe, expect, test } from 'vitest'
import { CronTaskTrigger } from '../../src/annotations/cron-task-trigger.ts'
import { PeriodicTaskTrigger } from '../../src/annotations/periodic-task-trigger.ts'
import type { TaskTriggerContext } from '../../src/annotations/task-trigger.ts'
import { ThreadPoolTaskScheduler } from '../../src/annotations/thread-pool-task-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { CronExpression } from '../../src/triggers/cron/cron-expression.ts'

const at = (text: string): Date => new Date(`2026-01-01T${text}Z`)

function contextOf(
  runs: Partial<Record<'scheduled' | 'actual' | 'completion', string>>,
  now = '12:00:00',
): TaskTriggerContext {
  const dateOf = (text: string | undefined): Date | null => (text === undefined ? null : at(text))
  return {
    lastScheduledExecution: dateOf(runs.scheduled),
    lastActualExecution: dateOf(runs.actual),
    lastCompletion: dateOf(runs.completion),
    clock: new ManualClock(at(now)),
  }
}

describe('S10: CronTaskTrigger', () => {
  const everySecond = new CronTaskTrigger('* * * * * *', { zone: 'UTC' })

  test('begins after now, and goes on after the end of the last run', () => {
    expect(everySecond.nextExecution(contextOf({}))).toEqual(at('12:00:01'))
    const late = contextOf({ scheduled: '12:00:01', actual: '12:00:01', completion: '12:00:05.500' })
    expect(everySecond.nextExecution(late)).toEqual(at('12:00:06'))
  })

  test('does not fire again in the same second when a run ends before it was planned', () => {
    const early = contextOf({ scheduled: '12:00:01', actual: '12:00:00.996', completion: '12:00:00.997' })
    expect(everySecond.nextExecution(early)).toEqual(at('12:00:02'))
  })

  test('refuses a zone beside a parsed expression, which has its own', () => {
    const parsed = CronExpression.parse('0 0 7 * * ?', { timeZone: 'UTC' })
    // @ts-expect-error -- a parsed expression takes no options
    expect(() => new CronTaskTrigger(parsed, { zone: 'Asia/Tokyo' })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'zone' }),
    )
  })

  test('reads the dialect of Spring in a zone, or takes a parsed expression as it is', () => {
    const tokyo = new CronTaskTrigger('0 0 7 * * *', { zone: 'Asia/Tokyo' })
    expect(tokyo.nextExecution(contextOf({}))).toEqual(at('22:00:00'))
    const quartz = CronExpression.parse('0 0 13 ? * THU', { timeZone: 'UTC' })
    expect(new CronTaskTrigger(quartz).nextExecution(contextOf({}))).toEqual(at('13:00:00'))
    expect(String(new CronTaskTrigger('@daily'))).toBe('@daily')
  })

  test('has no next time after the last one', () => {
    const { clock } = contextOf({})
    const end = new Date('2199-12-31T23:59:59Z')
    const last = { lastScheduledExecution: end, lastActualExecution: end, lastCompletion: end, clock }
    expect(everySecond.nextExecution(last)).toBeNull()
  })
})

describe('S12: PeriodicTaskTrigger', () => {
  const ran = contextOf({ scheduled: '12:00:00', actual: '12:00:01', completion: '12:00:03' }, '12:00:04')

  test('counts from the end of a run, or with fixedRate from when it was planned', () => {
    expect(new PeriodicTaskTrigger('10s').nextExecution(ran)).toEqual(at('12:00:13'))
    expect(new PeriodicTaskTrigger('10s', { fixedRate: true }).nextExecution(ran)).toEqual(at('12:00:10'))
  })

  test('begins after its initial delay', () => {
    expect(new PeriodicTaskTrigger(1000).nextExecution(contextOf({}))).toEqual(at('12:00:00'))
    expect(new PeriodicTaskTrigger(1000, { initialDelay: 'PT5S' }).nextExecution(contextOf({}))).toEqual(
      at('12:00:05'),
    )
  })

  test('refuses what is no period', () => {
    expect(() => new PeriodicTaskTrigger(0)).toThrow(/'period' must be a duration, at least 1 ms/)
    expect(() => new PeriodicTaskTrigger('1s', { initialDelay: -1 })).toThrow(/'initialDelay'/)
    expect(() => new PeriodicTaskTrigger('1s', { fixedrate: true } as object)).toThrow(/'fixedRate'/)
  })
})

test('a task on a trigger that is not due waits for no slot', async () => {
  const clock = new ManualClock()
  const scheduler = new ThreadPoolTaskScheduler({ clock, poolSize: 1, logger: false })
  const starved: string[] = []
  scheduler.events.on('taskWaiting', ({ task, lateMs }) => starved.push(`${task} ${lateMs}`))
  scheduler.schedule(function hourly() {}, new CronTaskTrigger('0 0 * * * *', { zone: 'UTC' }))
  const long = (): Promise<void> => new Promise((resolve) => clock.setTimer(3_615_000, resolve))
  scheduler.schedule(long, clock.now())
  await clock.advance(3_599_999)
  expect(starved).toEqual([])
  await clock.advance(20_000)
  expect(starved).toEqual(['hourly 15000'])
  await scheduler.close()
})

test('a trigger that answers a promise is refused, and a rejection of the promise is not left unhandled', async () => {
  const scheduler = new ThreadPoolTaskScheduler({ clock: new ManualClock(), logger: false })
  const nextExecution = (() => Promise.reject(new Error('no calendar'))) as unknown as () => Date
  expect(() => scheduler.schedule(() => {}, { nextExecution })).toThrow(/no next run, got a Promise/)
  await scheduler.close()
})
