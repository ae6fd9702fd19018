import { type ArgumentCheck, checkThat } from '../core/arguments.ts'
import { isObject } from '../core/options.ts'
import { requireWhole } from './invalid-trigger.ts'

/** A time on the wall clock, to the second: an immutable value. */
export class TimeOfDay {
  /** 0 to 23 */
  readonly hour: number
  /** 0 to 59 */
  readonly minute: number
  /** 0 to 59 */
  readonly second: number

  /** @throws InvalidArgumentError ERR_INVALID_TRIGGER for a field outside its bounds */
  constructor(hour: number, minute: number, second: number = 0) {
    this.hour = requireWhole('TimeOfDay', 'hour', hour, { min: 0, max: 23 })
    this.minute = requireWhole('TimeOfDay', 'minute', minute, { min: 0, max: 59 })
    this.second = requireWhole('TimeOfDay', 'second', second, { min: 0, max: 59 })
  }

  static hourAndMinuteOfDay(hour: number, minute: number): TimeOfDay {
    return new TimeOfDay(hour, minute)
  }

  static hourMinuteAndSecondOfDay(hour: number, minute: number, second: number): TimeOfDay {
    return new TimeOfDay(hour, minute, second)
  }

  /** The time so many seconds after midnight, 0 to 86399. */
  static ofSecondOfDay(secondOfDay: number): TimeOfDay {
    const minuteOfDay = Math.floor(secondOfDay / 60)
    return new TimeOfDay(Math.floor(minuteOfDay / 60), minuteOfDay % 60, secondOfDay % 60)
  }

  /** Seconds since midnight on a day without change of offset. */
  get secondOfDay(): number {
    return (this.hour * 60 + this.minute) * 60 + this.second
  }

  isBefore(other: TimeOfDay): boolean {
    checkTimeOfDay('TimeOfDay.isBefore', 'other', other)
    return this.secondOfDay < other.secondOfDay
  }

  equals(other: TimeOfDay): boolean {
    checkTimeOfDay('TimeOfDay.equals', 'other', other)
    return this.secondOfDay === other.secondOfDay
  }

  /** `HH:MM:SS` */
  toString(): string {
    return [this.hour, this.minute, this.second].map((part) => String(part).padStart(2, '0')).join(':')
  }
}

export const checkTimeOfDay: ArgumentCheck = checkThat(
  'a TimeOfDay',
  (value) => isObject(value) && typeof Reflect.get(value, 'secondOfDay') === 'number',
  'Make one with TimeOfDay.hourAndMinuteOfDay(8, 30).',
)
