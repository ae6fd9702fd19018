import type { JobKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import type { JobExecutionContext } from '../../jobs/job-definition.ts'
import type { SchedulerEvents } from '../../listeners/events.ts'
import type { EpochMs } from '../../time/clock.ts'
import { Lateness } from './lateness.ts'
import { type Outcome, outcomeNote, outcomeOf } from './outcome.ts'

/** The state of one job. */
export interface BoardRow {
  readonly jobKey: JobKey
  /** The command, by which people know the job. */
  readonly label: string
  /** Null when it will not fire again. */
  nextFireMs: EpochMs | null
  /** When it last fired; null before the first time. */
  lastFireMs: EpochMs | null
  /** By how much the last firing was late. */
  latenessMs: number | null
  /** How long the last execution that ended took. */
  durationMs: number | null
  outcome: Outcome | null
  /** How it last failed; null when it never did. */
  lastFailure: Outcome | null
  /** The last progress of a running job. */
  progress: string | null
  running: number
  fires: number
  failures: number
  /** Firings that were due before this run began, by what happened to them. */
  downtime: 'none' | 'skipped' | 'madeUp'
  readonly lateness: Lateness
}

/** One execution that ended, for the view that prints lines. */
export interface Completion {
  readonly row: BoardRow
  readonly outcome: Outcome
  readonly fireMs: EpochMs
  readonly latenessMs: number
  readonly durationMs: number
}

export interface BoardObserver {
  /** Some row changed. */
  changed(): void
  completed(completion: Completion): void
}

/** The state of all jobs, kept up to date by the events of a scheduler. */
export class JobBoard {
  readonly #rows = new KeyMap<JobKey, BoardRow>()
  readonly #sinceMs: EpochMs
  #observer: BoardObserver | null = null
  #onIdle: () => void = () => {}

  /** A firing that was due before `sinceMs` does not count as late, because no process ran then. */
  constructor(sinceMs: EpochMs) {
    this.#sinceMs = sinceMs
  }

  /** In the order in which they were added. */
  get rows(): readonly BoardRow[] {
    return this.#rows.values()
  }

  add(jobKey: JobKey, label: string, nextFireMs: EpochMs | null): void {
    this.#rows.set(jobKey, {
      jobKey,
      label,
      nextFireMs,
      lastFireMs: null,
      latenessMs: null,
      durationMs: null,
      outcome: null,
      lastFailure: null,
      progress: null,
      running: 0,
      fires: 0,
      failures: 0,
      downtime: 'none',
      lateness: new Lateness(),
    })
  }

  /** The row of a job that was added. */
  rowOf(jobKey: JobKey): BoardRow | null {
    return this.#rows.get(jobKey) ?? null
  }

  /** Corrects when a job fires next. */
  setNextFire(jobKey: JobKey, nextFireMs: EpochMs | null): void {
    this.#update(jobKey, (row) => {
      row.nextFireMs = nextFireMs
    })
  }

  /** Notes that a firing which was due before this run began does not take place. */
  noteSkipped(jobKey: JobKey): void {
    this.#update(jobKey, (row) => {
      if (row.downtime === 'none') row.downtime = 'skipped'
    })
  }

  /** How many firings were due while no process ran, by what happened to them. */
  get downtime(): { readonly madeUp: number; readonly skipped: number } {
    const those = (what: BoardRow['downtime']): number =>
      this.rows.filter(({ downtime }) => downtime === what).length
    return { madeUp: those('madeUp'), skipped: those('skipped') }
  }

  /** How many executions run now. */
  get running(): number {
    return this.#sum('running')
  }

  get totals(): { fires: number; failures: number; lateness: Lateness } {
    const lateness = Lateness.merge(this.rows.map((row) => row.lateness))
    return { fires: this.#sum('fires'), failures: this.#sum('failures'), lateness }
  }

  /** Tells an observer of every change from now on. */
  observe(observer: BoardObserver): void {
    this.#observer = observer
  }

  /** Resolves when nothing runs. */
  async whenIdle(): Promise<void> {
    if (this.running === 0) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
  }

  /** Follows a scheduler. */
  watch(events: SchedulerEvents): void {
    events.on('jobToBeExecuted', ({ context }) => {
      this.#update(context.jobKey, (row) => {
        begin(row, context, this.#sinceMs)
      })
    })
    events.on('jobProgress', ({ context, value }) => {
      this.#update(context.jobKey, (row) => {
        row.progress = typeof value === 'string' ? value : null
      })
    })
    events.on('jobWasExecuted', ({ context, error }) => {
      const left = context.get(outcomeNote) as Outcome | undefined
      const outcome = left ?? outcomeOf(context.result, error)
      this.#update(context.jobKey, (row) => {
        end(row, context, outcome)
        this.#observer?.completed({
          row,
          outcome,
          fireMs: context.fireTime.getTime(),
          latenessMs: latenessOf(context),
          durationMs: context.jobRunTimeMs,
        })
      })
    })
  }

  #sum(field: 'fires' | 'failures' | 'running'): number {
    return this.rows.reduce((total, row) => total + row[field], 0)
  }

  #update(jobKey: JobKey, change: (row: BoardRow) => void): void {
    const row = this.rowOf(jobKey)
    if (row === null) return
    change(row)
    this.#observer?.changed()
    if (this.running === 0) this.#onIdle()
  }
}

function begin(row: BoardRow, context: JobExecutionContext, sinceMs: EpochMs): void {
  row.running++
  row.fires++
  row.nextFireMs = context.trigger.nextFireTimeMs
  row.lastFireMs = context.fireTime.getTime()
  row.latenessMs = latenessOf(context)
  if (context.scheduledFireTime.getTime() < sinceMs) row.downtime = 'madeUp'
  else row.lateness.add(row.latenessMs)
}

function end(row: BoardRow, context: JobExecutionContext, outcome: Outcome): void {
  row.running--
  row.progress = null
  row.durationMs = context.jobRunTimeMs
  row.outcome = outcome
  if (outcome.isGood) return
  row.failures++
  row.lastFailure = outcome
}

function latenessOf(context: JobExecutionContext): number {
  return context.fireTime.getTime() - context.scheduledFireTime.getTime()
}
