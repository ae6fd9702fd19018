import type { JSX } from 'preact'
import { call } from '../../api/client.ts'
import type { CalendarDays } from '../../api/operations.ts'
import { useResource } from '../../api/resource.ts'
import { Fresh } from '../../parts/fresh.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { useSearch } from '../../state/place.ts'
import { language } from '../../state/preferences.ts'
import { nowMs } from '../../time/clock.ts'
import { words } from './words.ts'

const dayMs = 86_400_000
const daysShown = 42

/** The first of a month as if it were in UTC, which is how days are counted here. */
function firstOf(month: string): number {
  const ms = /^\d{4}-\d{2}$/.test(month) ? Date.parse(`${month}-01T00:00:00Z`) : Number.NaN
  return Number.isNaN(ms) ? firstOf(monthText(nowMs())) : ms
}

function monthText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7)
}

/** The Monday at or before it. */
function mondayOf(ms: number): number {
  return ms - ((new Date(ms).getUTCDay() + 6) % 7) * dayMs
}

function dateText(ms: number, fields: Intl.DateTimeFormatOptions): string {
  const locale = language.value === 'zh' ? 'zh-CN' : 'en-GB'
  return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...fields }).format(ms)
}

/** A month of a calendar, as it is stored. */
export function CalendarMonth({ name }: { readonly name: string }): JSX.Element {
  const text = words()
  const search = useSearch()
  const firstMs = firstOf(search.get('month'))
  const month = monthText(firstMs)
  const from = new Date(mondayOf(firstMs)).toISOString().slice(0, 10)
  const loaded = useResource(
    (signal) => call('calendars.days', { params: { name }, query: { from, days: daysShown }, signal }),
    [name, from],
    { isAffected: ({ event }) => event === 'changedElsewhere' },
  )
  const shown = loaded.value.value
  const error = loaded.error.value
  const to = (ms: number): string => search.with({ month: monthText(ms) })
  return (
    <Panel
      title={`${text.month}: ${dateText(firstMs, { month: 'long', year: 'numeric' })}`}
      actions={
        <span class="month-moves">
          <a class="button plain" href={to(firstMs - dayMs)} aria-label={text.before}>
            ‹
          </a>
          <a class="button plain" href={search.with({ month: '' })}>
            {text.today}
          </a>
          <a class="button plain" href={to(firstMs + 32 * dayMs)} aria-label={text.after}>
            ›
          </a>
        </span>
      }
    >
      {error !== null && <ProblemNote error={error} retry={loaded.reload} />}
      {shown !== null && (
        <Fresh isOld={loaded.isOfOthers.value}>
          <Days shown={shown} month={month} />
        </Fresh>
      )}
    </Panel>
  )
}

function Days({ shown, month }: { readonly shown: CalendarDays; readonly month: string }): JSX.Element {
  const text = words()
  const weeks = Array.from({ length: Math.ceil(shown.days.length / 7) }, (_, week) =>
    shown.days.slice(week * 7, week * 7 + 7),
  ).filter((days) => days.some(({ day }) => day.startsWith(month)))
  return (
    <>
      <table class="month">
        <thead>
          <tr>
            {(weeks[0] ?? []).map(({ day }) => (
              <th key={day} scope="col">
                {dateText(Date.parse(`${day}T00:00:00Z`), { weekday: 'short' })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((days) => (
            <tr key={days[0]?.day}>
              {days.map((day) => (
                <Day key={day.day} of={day} isOther={!day.day.startsWith(month)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="month-zone muted">{text.inZone(shown.timeZone)}</p>
    </>
  )
}

interface DayProps {
  readonly of: CalendarDays['days'][number]
  /** Whether it belongs to the month before or after. */
  readonly isOther: boolean
}

function Day({ of: { day, is }, isOther }: DayProps): JSX.Element {
  return (
    <td class={`day is-${is}${isOther ? ' is-other' : ''}`}>
      <span class="number">{Number(day.slice(8))}</span>
      {is !== 'included' && <small>{words().days[is]}</small>}
    </td>
  )
}
