import { unawaited } from '../../../core/promises.ts'
import { dayMs } from '../../../time/civil.ts'
import type { Clock, ClockTimer } from '../../../time/clock.ts'
import type { JobLogs } from './job-logs.ts'

/** Deletes old logs at the start and once a day. */
export class LogCleaner {
  readonly #logs: JobLogs
  readonly #clock: Clock
  #timer: ClockTimer | null = null

  constructor(logs: JobLogs, clock: Clock) {
    this.#logs = logs
    this.#clock = clock
  }

  start(): void {
    unawaited(this.#logs.clean(), () => {})
    this.#timer = this.#clock.setTimer(
      dayMs,
      () => {
        this.start()
      },
      { unref: true },
    )
  }

  stop(): void {
    this.#timer?.cancel()
  }
}
