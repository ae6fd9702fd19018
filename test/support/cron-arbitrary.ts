import fc from 'fast-check'

const monthNames = ['JAN', 'feb', 'Mar', 'APR', 'MAY', 'JUNE', 'jul', 'AUG', 'September', 'OCT', 'NOV', 'DEC']
const weekdayNames = ['SUN', 'mon', 'Tue', 'WEDNESDAY', 'THU', 'FRI', 'saturday']

function value(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const number = fc.integer({ min, max })
  if (names.length === 0) return number.map(String)
  return fc.oneof(number.map(String), fc.constantFrom(...names))
}

function list(item: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 1, maxLength }).map((items) => items.join(','))
}

/** Values, ranges, steps and lists of them: what every field takes. */
function plain(min: number, max: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const one = value(min, max, names)
  const step = fc.integer({ min: 1, max: Math.min(max, 59) - (min === 0 ? 0 : 1) }).map(String)
  const range = fc.tuple(one, one).map(([first, last]) => `${first}-${last}`)
  const item = fc.oneof(
    { weight: 4, arbitrary: one },
    { weight: 2, arbitrary: range },
    { weight: 1, arbitrary: fc.tuple(one, step).map(([first, by]) => `${first}/${by}`) },
    { weight: 1, arbitrary: fc.tuple(range, step).map(([of, by]) => `${of}/${by}`) },
    { weight: 1, arbitrary: step.map((by) => `*/${by}`) },
    { weight: 1, arbitrary: step.map((by) => `/${by}`) },
  )
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 2, arbitrary: one },
    { weight: 2, arbitrary: list(one, 4) },
    { weight: 3, arbitrary: list(item, 3) },
  )
}

const monthDay = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 2, arbitrary: plain(1, 31) },
  {
    weight: 3,
    arbitrary: list(
      fc.oneof(
        value(1, 31),
        fc.constant('L'),
        fc.constant('LW'),
        value(0, 30).map((offset) => `L-${offset}`),
        value(0, 30).map((offset) => `L-${offset}W`),
        value(1, 31).map((day) => `${day}W`),
      ),
      3,
    ),
  },
)

const weekDay = fc.oneof(
  { weight: 2, arbitrary: plain(1, 7, weekdayNames) },
  { weight: 1, arbitrary: fc.constant('L') },
  { weight: 1, arbitrary: value(1, 7, weekdayNames).map((day) => `${day}L`) },
  {
    weight: 1,
    arbitrary: fc.tuple(value(1, 7, weekdayNames), value(1, 5)).map(([day, nth]) => `${day}#${nth}`),
  },
)

const days = fc.oneof(
  monthDay.map((day) => ({ day, weekday: '?' })),
  weekDay.map((weekday) => ({ day: '?', weekday })),
)

const year = fc.oneof(
  { weight: 5, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constant(' *') },
  { weight: 1, arbitrary: fc.integer({ min: 2000, max: 2050 }).map((from) => ` ${from}-${from + 60}`) },
  { weight: 1, arbitrary: fc.tuple(value(1970, 2050), value(1, 6)).map(([from, by]) => ` ${from}/${by}`) },
)

type Days = fc.Arbitrary<{ readonly day: string; readonly weekday: string }>

/** Mostly every day, so that a few hours of any day hold fires. */
const mostDays: Days = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ day: '*', weekday: '?' }) },
  { weight: 1, arbitrary: days },
)

function joined(
  times: readonly [fc.Arbitrary<string>, fc.Arbitrary<string>, fc.Arbitrary<string>],
  onDays: Days,
  month: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc
    .tuple(...times, onDays, month, year)
    .map(([second, minute, hour, { day, weekday }, inMonth, inYear]) => {
      return `${second} ${minute} ${hour} ${day} ${inMonth} ${weekday}${inYear}`
    })
}

const anyMonth = fc.oneof(
  { weight: 3, arbitrary: fc.constant('*') },
  { weight: 1, arbitrary: plain(1, 12, monthNames) },
)

/** Any expression that the grammar takes; some of them can never fire. */
export const anyCron: fc.Arbitrary<string> = joined(
  [plain(0, 59), plain(0, 59), plain(0, 23)],
  days,
  anyMonth,
)

/** The same with fires on nearly every day. */
export const dailyCron: fc.Arbitrary<string> = joined(
  [plain(0, 59), plain(0, 59), plain(0, 23)],
  mostDays,
  fc.constant('*'),
)

/** Expressions that name times of day only, several a day, so that they meet gaps and overlaps. */
export const fixedTimesCron: fc.Arbitrary<string> = joined(
  [list(value(0, 59), 2), list(value(0, 59), 4), list(value(0, 23), 12)],
  mostDays,
  fc.constant('*'),
)

/** Expressions whose days differ and whose time is noon. */
export const daysCron: fc.Arbitrary<string> = joined(
  [fc.constant('0'), fc.constant('0'), fc.constant('12')],
  days,
  anyMonth,
)
