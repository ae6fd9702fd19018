import type { JSX } from 'preact'
import type { LoadJson } from '../../../src/server/operations/planned.ts'
import type { KeyJson } from '../../../src/server/wire/fields.ts'
import { call } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { may } from '../state/session.ts'
import { numberText, unknownText } from '../time/format.ts'
import { dictionary } from '../words/dictionary.ts'
import { keyText } from './links.tsx'

const words = dictionary({
  en: {
    title: 'Others in that minute',
    none: 'No others in that minute',
    others: (count: string) => (count === '1' ? '1 other in that minute' : `${count} others in that minute`),
    such: (first: string) => `Such as ${first}`,
  },
  zh: {
    title: '同一分钟的其他触发器',
    none: '同一分钟没有其他触发器',
    others: (count) => `同一分钟另有 ${count} 个触发器`,
    such: (first) => `例如 ${first}`,
  },
})

export const minuteLoadTitle = (): string => words().title

type Minute = LoadJson['minutes'][number]

/** What else fires in minutes, by the beginning of each. */
export type MinuteLoads = ReadonlyMap<number, Minute>

const minuteMs = 60_000
const beginningOf = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs
/** As many minutes as one request may ask about. */
const askedMax = 10

/** What else fires in the minutes of the first fires, apart from one trigger; empty until that is known. */
export function useMinuteLoads(firesMs: readonly number[], except: KeyJson | null = null): MinuteLoads {
  const atMs = [...new Set(firesMs.map(beginningOf))].slice(0, askedMax).join(',')
  const { minutes } = useResource(
    async (signal) => {
      if (atMs === '' || !may('planned.load')) return { minutes: [] }
      const query = { atMs, exceptGroup: except?.group, exceptName: except?.name }
      return call('planned.load', { query, signal })
    },
    [atMs, except?.group, except?.name],
    { everyMs: 60_000 },
  ).value.value ?? { minutes: [] }
  return new Map(minutes.map((minute) => [minute.fromMs, minute]))
}

interface MinuteLoadProps {
  readonly loads: MinuteLoads
  readonly atMs: number
  /** Under a title that says what it counts, a number is enough. */
  readonly isShort?: boolean
}

/** How many others fire in the minute of an instant; nothing where that was not asked. */
export function MinuteLoad({ loads, atMs, isShort = false }: MinuteLoadProps): JSX.Element | null {
  const text = words()
  const minute = loads.get(beginningOf(atMs))
  if (minute === undefined) return null
  const { triggers, first, isComplete } = minute
  // As far as the server has looked, which is as far as is known.
  if (triggers === 0 && !isComplete) return <span class="unknown">{unknownText}</span>
  const count = `${numberText(triggers)}${isComplete ? '' : '+'}`
  return (
    <span
      class={triggers === 0 ? 'muted' : ''}
      title={triggers === 0 ? undefined : text.such(first.map(keyText).join(', '))}
    >
      {isShort ? count : triggers === 0 ? text.none : text.others(count)}
    </span>
  )
}
