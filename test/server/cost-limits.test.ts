import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/time/clock.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { type Asked, type ServerFixture, serverFixture } from '../support/server-fixture.ts'

/** So many lists in one another, or so many objects with one field. */
const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number, field: string, rest = ''): string =>
  `{${rest}"${field}":`.repeat(depth) + `{${rest.replace(/,$/, '')}}` + '}'.repeat(depth)

const terms = (count: number): string => encodeURIComponent('took>1ms '.repeat(count).trim())
const expression = (length: number): string => `0+0+0+${'1,'.repeat((length - 11) / 2)}1+*+%3F`

const trigger = (fields: object): Asked => ({
  body: { type: 'cron', jobKey: { group: 'reports', name: 'daily' }, ...fields },
})
const cron = (text: string): object => ({ cronExpression: { expression: text, timeZone: 'UTC' } })

const rows: readonly (readonly [
  what: string,
  request: string,
  asked: Asked,
  status: number,
  code: string,
])[] = [
  ['a filter of 21 terms', `GET /executions?filter=${terms(21)}`, {}, 400, 'ERR_INVALID_ARGUMENT'],
  [
    'the same for misfires',
    `GET /misfires?filter=${'cause:late%20'.repeat(21)}`,
    {},
    400,
    'ERR_INVALID_ARGUMENT',
  ],
  [
    'a filter of 2,001 characters',
    `GET /executions?filter=node:${'n'.repeat(1996)}`,
    {},
    400,
    'ERR_INVALID_ARGUMENT',
  ],
  ['a page of 1,001', 'GET /jobs?take=1001', {}, 400, 'ERR_INVALID_ARGUMENT'],
  [
    'an expression of 501 characters',
    `GET /cron/preview?expression=${expression(501)}`,
    {},
    400,
    'ERR_INVALID_ARGUMENT',
  ],
  [
    '101 times of a preview',
    'GET /cron/preview?expression=0+*+*+*+*+%3F&count=101',
    {},
    400,
    'ERR_INVALID_ARGUMENT',
  ],
  [
    'an expression that never fires',
    'GET /cron/preview?expression=0+0+0+30+2+%3F',
    {},
    400,
    'ERR_INVALID_CRON_EXPRESSION',
  ],
  [
    'a trigger of which a calendar leaves nothing',
    'PUT /triggers/reports/never',
    trigger({ ...cron('0 * * * * ?'), calendarName: 'everything' }),
    400,
    'ERR_TRIGGER_NEVER_FIRES',
  ],
  [
    'data of 100,000 lists in one another',
    'POST /jobs/reports/daily/run',
    { body: `{"jobDataMap":{"a":${lists(100_000)}}}` },
    400,
    'ERR_INVALID_JOB_DATA',
  ],
  [
    'a calendar with 5,000 bases',
    'PUT /calendars/deep',
    { body: `{"definition":${objects(5000, 'base', '"type":"weekly","timeZone":"UTC",')}}` },
    400,
    'ERR_INVALID_CALENDAR',
  ],
  [
    'a body of 3 MB',
    'POST /jobs/reports/daily/run',
    { body: 'x'.repeat(3_000_000) },
    413,
    'ERR_REQUEST_TOO_LARGE',
  ],
]

/** A calendar that counts what it is asked, and answers that nothing is included. */
function countingCalendar(onQuestion: () => void = () => {}): Calendar & { readonly questions: number } {
  let questions = 0
  const ask = <Answer>(answer: Answer): Answer => {
    questions++
    onQuestion()
    return answer
  }
  return {
    type: 'counting',
    description: null,
    baseCalendar: null,
    isTimeIncluded: () => ask(false),
    nextIncludedTime: (timeMs) => ask(timeMs + 1),
    toJSON: () => ({ type: 'counting' }),
    get questions() {
      return questions
    },
  }
}

describe('what costs too much is refused', () => {
  let fixture: ServerFixture
  beforeAll(async () => {
    fixture = await serverFixture()
    const everything = new CronCalendar({ expression: '* * * * * ?', timeZone: 'UTC' })
    await fixture.scheduler.addCalendar('everything', everything)
  })
  afterAll(() => fixture[Symbol.asyncDispose]())

  test.each(rows)('%s', async (_, request, asked, status, code) => {
    expect(await fixture.ask(request, asked)).toMatchObject({ status, json: { code } })
  })

  test('and what costs as much as may be is not', async () => {
    for (const request of [
      `GET /executions?filter=${terms(20)}`,
      'GET /jobs?take=1000',
      `GET /cron/preview?expression=${expression(499)}&count=100`,
    ]) {
      expect(await fixture.ask(request)).toMatchObject({ status: 200 })
    }
  })
})

describe('a search is bounded', () => {
  test('in the questions that it asks the calendar of a trigger', async () => {
    await using fixture = await serverFixture()
    const calendar = countingCalendar()
    await fixture.scheduler.addCalendar('counting', calendar)
    const asked = trigger({ ...cron('* * * * * ?'), calendarName: 'counting' })
    expect(await fixture.ask('PUT /triggers/reports/never?dryRun=true', asked)).toMatchObject({
      status: 400,
      json: { code: 'ERR_TRIGGER_NEVER_FIRES' },
    })
    // Two for each of the 50,000 steps that a search has.
    expect(calendar.questions).toBeLessThanOrEqual(100_000)
  })

  test('in the time for which the days of a calendar hold up others', async () => {
    let elapsedMs = 0
    let askedByThen = 0
    const clock = { ...systemClock, elapsedMs: () => elapsedMs }
    await using fixture = await serverFixture({ clock })
    const calendar = countingCalendar(() => {
      elapsedMs += 2
      if (calendar.questions === 1) setImmediate(() => (askedByThen = calendar.questions))
    })
    await fixture.scheduler.addCalendar('slow', calendar)
    const { json } = await fixture.ask('GET /calendars/slow/days?from=2026-12-01&days=7')
    expect((json as { days: object[] }).days).toHaveLength(7)
    expect(calendar.questions).toBe(7 * 96)
    expect(askedByThen).toBeLessThan(10)
  })

  test('in the time for which a change of a calendar looks at its triggers', async () => {
    let elapsedMs = 0
    const clock = { ...systemClock, elapsedMs: () => (elapsedMs += 50) }
    await using fixture = await serverFixture({ clock })
    const definition = { type: 'holiday', timeZone: 'UTC', excludedDates: [] }
    expect(await fixture.ask('PUT /calendars/evenings', { body: { definition } })).toMatchObject({
      status: 200,
    })
    const fields = trigger({ ...cron('0 0 3 * * ?'), calendarName: 'evenings' })
    for (let index = 0; index < 20; index++) {
      expect(await fixture.ask(`PUT /triggers/reports/e${index}`, fields)).toMatchObject({ status: 200 })
    }
    const body = { definition: { ...definition, excludedDates: ['2199-01-01'] } }
    const whole = { json: { result: { triggers: 20, moved: null } } }
    expect(await fixture.ask('PUT /calendars/evenings?dryRun=true', { body })).toMatchObject(whole)
  })

  test('in the time that a calendar takes for a preview', async () => {
    let elapsedMs = 0
    const clock = { ...systemClock, elapsedMs: () => elapsedMs }
    await using fixture = await serverFixture({ clock })
    const calendar = countingCalendar(() => {
      elapsedMs += 100
    })
    await fixture.scheduler.addCalendar('slow', calendar)
    const preview = 'GET /cron/preview?expression=*+*+*+*+*+%3F&calendarName=slow&count=100'
    const { status, json } = await fixture.ask(preview)
    expect([status, json]).toMatchObject([200, { isComplete: false }])
    // It has half a second.
    expect(calendar.questions).toBeLessThanOrEqual(6)
    expect((json as { fires: object[] }).fires).toHaveLength(calendar.questions)
  })
})
