import { unawaited } from '../../core/promises.ts'
import { textOf } from '../../core/thrown-value.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock, EpochMs } from '../../time/clock.ts'
import type { TimeZone } from '../../time/zone.ts'
import { formatShort } from '../local-time.ts'
import type { BoardView } from './board-view.ts'
import type { JobBoard } from './job-board.ts'

export interface WatchParts {
  readonly board: JobBoard
  readonly view: Pick<BoardView, 'note'>
  readonly clock: Clock
  readonly zone: TimeZone
  /** When the run began. */
  readonly beganMs: EpochMs
}

/** Keeps the board up to date, and shows errors and missed firings to the reader. */
export function watchScheduler(scheduler: Scheduler, parts: WatchParts): void {
  const { beganMs, board, clock, view, zone } = parts
  board.watch(scheduler.events)
  scheduler.events.on('schedulerError', ({ message }) => {
    view.note(message)
  })
  scheduler.events.on('triggerMisfired', ({ trigger: { jobKey, key, nextFireTimeMs } }) => {
    if (jobKey === null || nextFireTimeMs === null) return
    const wasDown = nextFireTimeMs < beganMs
    if (wasDown) board.noteSkipped(jobKey)
    const label = board.rowOf(jobKey)?.label ?? key.name
    // These were reported in one line at the start.
    if (!wasDown) view.note(`Missed ${formatShort(zone, nextFireTimeMs, clock.now())}: ${label}`)
    // The event comes before the misfire policy is applied; what is read now comes after.
    const applied = scheduler.getTrigger(key).then((trigger) => {
      board.setNextFire(jobKey, trigger?.nextFireTimeMs ?? null)
    })
    unawaited(applied, (error) => {
      view.note(`When ${label} runs next could not be read: ${textOf(error)}`)
    })
  })
}
