import type { TriggerDetailJson, TriggerFieldsJson } from '../../../../src/server/wire/triggers.ts'
import { lengthText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { cronWords } from '../../words/cron-words.ts'
import { intervalOf, timeOfDay, triggerTypes } from './draft.ts'
import { words } from './words.ts'

export function kindText(type: string): string {
  const { kinds, unknownKind } = common()
  const known = triggerTypes.find((each) => each === type)
  return known === undefined ? (type === 'unknown' ? unknownKind : type) : kinds[known]
}

/** The zone in which a trigger counts; null for one that counts elapsed time. */
export function zoneOf(definition: TriggerFieldsJson | null): string | null {
  if (definition === null || definition.type === 'simple') return null
  return definition.type === 'cron' ? definition.cronExpression.timeZone : definition.timeZone
}

/** A schedule in a line. */
export function scheduleText({ definition, problem, words: meaning }: TriggerDetailJson): string {
  const text = words()
  if (problem !== null) return problem
  if (definition === null) return text.ownFamily
  switch (definition.type) {
    case 'cron': {
      const { expression, dialect } = definition.cronExpression
      return text.cron(expression, cronWords(expression, dialect, meaning ?? ''))
    }
    case 'simple': {
      const { interval, unit } = intervalOf(definition.repeatIntervalMs)
      const count = definition.repeatCount
      if (count === 0) return text.repeats(0)
      const often = count === -1 ? text.repeatForever : text.repeats(count)
      return `${text.every(lengthText(Number(interval), unit))}, ${often}`
    }
    case 'calendarInterval':
      return text.every(lengthText(definition.repeatInterval, definition.repeatIntervalUnit))
    case 'dailyTimeInterval': {
      const each = text.every(lengthText(definition.repeatInterval, definition.repeatIntervalUnit))
      const span = `${timeOfDay(definition.startSecondOfDay)}–${timeOfDay(definition.endSecondOfDay)}`
      const days = text.weekdays.filter((_, day) => day > 0 && (definition.daysOfWeekMask & (1 << day)) !== 0)
      return `${each}, ${span}, ${text.dayList(days)}`
    }
  }
}
