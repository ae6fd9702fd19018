import {
  CronScheduleBuilder,
  defineJob,
  GroupMatcher,
  HolidayCalendar,
  JobBuilder,
  jobKey,
  SimpleScheduleBuilder,
  systemClock,
  TimeOfDay,
  TriggerBuilder,
  triggerKey,
} from '../../src/index.ts'

/** A wrong value, and what the error about it names where that is not the argument itself. */
export interface Wrong {
  readonly value: unknown
  /** Default: the argument. One that begins with `.` or `[` is a part of the argument. */
  readonly field?: string
  /** Default: the kind's. */
  readonly code?: string
}

/** What an argument may be: one right value and many wrong ones. */
export interface Kind {
  readonly good: unknown
  readonly wrong: readonly Wrong[]
  readonly code: string
}

const argumentCode = 'ERR_INVALID_ARGUMENT'
const optionCode = 'ERR_INVALID_OPTION'

export const report = defineJob('report', () => 'done')
const jobBuilder = JobBuilder.newJob(report)
const triggerBuilder = TriggerBuilder.newTrigger()
export const jobDetail = jobBuilder.withIdentity('a').storeDurably().build()
export const trigger = triggerBuilder.withIdentity('t').forJob('a').build()

/** What is never right where something has to be passed. */
const never: readonly unknown[] = [undefined, null, Symbol('x'), jobBuilder]

function kind(good: unknown, wrong: readonly unknown[], code: string = argumentCode): Kind {
  return { good, wrong: [...never, ...wrong].map((value) => ({ value })), code }
}

/** An argument that may be left out. */
export function optional(of: Kind): Kind {
  return { ...of, wrong: of.wrong.filter(({ value }) => value !== undefined) }
}

/** An argument that may be null. */
export function orNull(of: Kind): Kind {
  return { ...of, wrong: of.wrong.filter(({ value }) => value !== null) }
}

/** The same values, about which errors name another field or have another code. */
export function named(of: Kind, { field, code = of.code }: { field?: string; code?: string }): Kind {
  return { ...of, code, wrong: of.wrong.map((wrong) => (field === undefined ? wrong : { ...wrong, field })) }
}

/** The same, with some values that are right here after all left out. */
export function but(of: Kind, ...allowed: readonly unknown[]): Kind {
  return { ...of, wrong: of.wrong.filter(({ value }) => !allowed.includes(value)) }
}

/** Alternatives: wrong is what both refuse. */
export function plus(of: Kind, ...wrong: readonly Wrong[]): Kind {
  return { ...of, wrong: [...of.wrong, ...wrong] }
}

export function listOf(of: Kind): Kind {
  const items = of.wrong.map(({ value, field = '' }) => ({ value: [of.good, value], field: `[1]${field}` }))
  return { good: [of.good], wrong: [...kind([], ['text', 42, {}]).wrong, ...items], code: of.code }
}

/** An object of options that may be left out, all of its fields as well. */
export function options(fields: Readonly<Record<string, Kind>>, argument: string = 'options'): Kind {
  const ofFields = Object.entries(fields).flatMap(([name, { wrong, code }]) =>
    wrong
      .filter(({ value }) => value !== undefined)
      .map(({ value, field = '' }) => ({
        value: { [name]: value },
        field: field === '' || /^[.[]/.test(field) ? `${name}${field}` : field,
        code: code === argumentCode ? optionCode : code,
      })),
  )
  const notOptions = [null, 'text', true, 42, [], Symbol('x')].map((value) => ({ value, field: argument }))
  const unknown = { value: { unheardOf: 1 }, field: 'unheardOf', code: optionCode }
  return { good: undefined, wrong: [...notOptions, unknown, ...ofFields], code: argumentCode }
}

export const text: Kind = kind('x', [42, true, {}, []])
/** Text of a cron expression, about which the parser itself complains. */
export const cronText = (good: string): Kind =>
  named({ ...text, good }, { field: 'second', code: 'ERR_INVALID_CRON_EXPRESSION' })

export const name: Kind = kind('x', ['', ' ', 42, {}, []])
export const number: Kind = kind(1, ['1', Number.NaN, {}, true])
export const boolean: Kind = kind(true, ['true', 'false', 0, 1, {}])
export const callback: Kind = kind(() => {}, ['x', 42, {}])
export const object: Kind = but(kind({}, ['x', 42, true, []]), jobBuilder)
/** A list counts, as in TypeScript. */
export const anyObject: Kind = but(kind({}, ['x', 42, true]), jobBuilder)
export const date: Kind = kind(new Date(0), ['2026-01-01', 0, new Date(Number.NaN), {}])
export const keyOfJob: Kind = kind(jobKey('a'), [
  'a',
  42,
  {},
  { name: 'a', group: 'b' },
  triggerKey('a'),
  jobDetail,
])
export const keyOfTrigger: Kind = kind(triggerKey('t'), ['t', 42, {}, jobKey('t'), trigger])
/** Where a name alone means one in the group DEFAULT. */
export const jobKeyOrName: Kind = plus(but(keyOfJob, 'a'), { value: ' ' })
export const triggerKeyOrName: Kind = plus(but(keyOfTrigger, 't'), { value: ' ' })
export const eitherKey: Kind = kind(jobKey('a'), ['a', 42, {}, { name: 'a', group: 'b' }])
export const groupMatcher: Kind = kind(GroupMatcher.anyGroup(), ['mail', 42, {}, jobKey('a')])
export const anyMatcher: Kind = kind(GroupMatcher.anyGroup(), ['mail', 42, {}, jobKey('a')])
export const aJobDetail: Kind = kind(jobDetail, ['a', report, jobKey('a'), {}, [jobDetail]])
export const aTrigger: Kind = kind(trigger, [
  't',
  '0 0 12 * * ?',
  triggerBuilder,
  CronScheduleBuilder.cronSchedule('0 0 12 * * ?'),
  triggerKey('t'),
  {},
])
export const aCalendar: Kind = kind(new HolidayCalendar({ excludedDates: [] }), ['x', 42, {}, []])
export const aClock: Kind = kind(systemClock, ['x', 42, {}, Date])
export const aLogger: Kind = kind(console, ['x', 42, {}, { info: () => {} }])
export const someIds: Kind = kind({ uniqueName: () => 'x', random: () => 0 }, ['x', 42, {}])
export const timeOfDay: Kind = kind(new TimeOfDay(8, 0), ['08:00', 8, {}])
export const schedule: Kind = but(
  kind(SimpleScheduleBuilder.simpleSchedule(), ['0 0 12 * * ?', 42, {}, trigger]),
  jobBuilder,
)
export const zone: Kind = kind('UTC', ['Mars/Base', '', 42, {}], 'ERR_UNKNOWN_TIME_ZONE')

export const oneOf = (good: string): Kind => kind(good, ['unheardOf', 42, {}])

export const aTriggerBuilder: object = triggerBuilder
export const aJob: Kind = kind(report, ['report', 42, {}])
export const aPlugin: Kind = kind({ initialize: () => {} }, ['x', 42, {}])

/** What the constructor of a class gets that makes its instances itself, when a caller uses `new`. */
export const madeByHand: Kind = { ...object, wrong: [undefined, null, 'x', 42].map((value) => ({ value })) }

/** One wrong value, and what the error about it names. */
export function wrongly(of: Kind, value: unknown, field: string): Kind {
  return { ...of, wrong: [{ value, field }] }
}

/** Given one by one: errors name the place. */
export function variadic(of: Kind): Kind {
  return { ...of, wrong: of.wrong.map((wrong) => ({ ...wrong, field: '[0]' })) }
}
