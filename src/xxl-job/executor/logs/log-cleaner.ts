import { unawaited } from '../../../core/promises.ts'
import { dayMs } from '../../../time/civil.ts'
import type { Clock, ClockTimer } from '../../../time/clock.ts'
import type { JobLogs } from './job-logs.ts'

/** Deletes old logs now and once a day, until what it answers is called. */
export function cleanDaily(logs: JobLogs, clock: Clock): () => void {
  let timer: ClockTimer | null = null
  const clean = (): void => {
    unawaited(logs.clean(), () => {})
    timer = clock.setTimer(dayMs, clean, { unref: true })
  }
  clean()
  return () => {
    timer?.cancel()
  }
}
