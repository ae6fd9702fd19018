import type { EpochMs } from '../../time/clock.ts'
import type { JobStoreContext } from '../job-store.ts'
import type { SignalBuffer } from '../signal-buffer.ts'
import type { RamData } from './ram-data.ts'
import type { RamRecords } from './ram-records.ts'
import type { TriggerRecord } from './records.ts'

/** The data of a store together with the context of its scheduler. */
export class RamSession {
  readonly data: RamData
  readonly signals: SignalBuffer
  readonly context: JobStoreContext
  /** When late triggers were last handled. */
  misfiresTreatedAtMs: EpochMs = 0
  readonly #idPrefix: string
  #fireCount = 0

  readonly records: RamRecords

  constructor(data: RamData, signals: SignalBuffer, context: JobStoreContext, records: RamRecords) {
    this.data = data
    this.signals = signals
    this.context = context
    this.records = records
    // Begins with a unique name, so that ids of different runs of the process differ.
    this.#idPrefix = `${context.instanceId}-${context.ids.uniqueName()}-`
  }

  nextFireInstanceId(): string {
    this.#fireCount++
    return this.#idPrefix + this.#fireCount.toString(36)
  }

  now(): EpochMs {
    return this.context.clock.now()
  }

  /** Puts a trigger whose next fire time cannot be computed into the ERROR state; the others go on. */
  putInError(record: TriggerRecord, error: unknown): void {
    const { key } = record.trigger
    this.data.apply(record, 'fail')
    this.signals.add('triggerInError', key, error instanceof Error ? error.message : String(error))
    this.signals.add('storeError', `Trigger '${key.toString()}' is in the ERROR state.`, error)
  }
}
