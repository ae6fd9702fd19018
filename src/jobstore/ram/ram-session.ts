import type { EpochMs } from '../../time/clock.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { JobStoreContext } from '../job-store.ts'
import { calendarNotFound } from '../refusals.ts'
import type { SignalBuffer } from '../signal-buffer.ts'
import type { RamData } from './ram-data.ts'
import type { TriggerRecord } from './records.ts'

/** The data of a store together with the scheduler it works for. */
export class RamSession {
  readonly data: RamData
  readonly signals: SignalBuffer
  readonly context: JobStoreContext
  /** When late triggers last had their turn. */
  misfiresTreatedAtMs: EpochMs = 0
  readonly #idPrefix: string
  #fireCount = 0

  constructor(data: RamData, signals: SignalBuffer, context: JobStoreContext) {
    this.data = data
    this.signals = signals
    this.context = context
    // A unique name once, so that ids stay apart also between runs of the process.
    this.#idPrefix = `${context.instanceId}-${context.ids.uniqueName()}-`
  }

  nextFireInstanceId(): string {
    this.#fireCount++
    return this.#idPrefix + this.#fireCount.toString(36)
  }

  now(): EpochMs {
    return this.context.clock.now()
  }

  /** The calendar that a trigger names, or null when it names none. */
  calendarOf(trigger: Trigger): Calendar | null {
    const { calendarName } = trigger
    if (calendarName === null) return null
    const calendar = this.data.calendars.calendars.get(calendarName)
    if (calendar !== undefined) return calendar
    throw calendarNotFound(trigger.key, calendarName)
  }

  /** Takes a trigger out of service whose next fire time cannot be computed; the others go on. */
  putInError(record: TriggerRecord, error: unknown): void {
    const { key } = record.trigger
    this.data.apply(record, 'fail')
    this.signals.add('triggerInError', key, error instanceof Error ? error.message : String(error))
    this.signals.add('storeError', `Trigger '${key.toString()}' is in the ERROR state.`, error)
  }
}
