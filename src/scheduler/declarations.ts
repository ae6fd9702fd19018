import type { JobStore } from '../jobstore/job-store.ts'
import { type DeclaredCalendar, DeclaredCalendars } from './declared-calendars.ts'
import { DeclaredSchedules, type DeclaredSet } from './declared-schedules.ts'
import { checkedReconcile } from './define-schedule.ts'
import type { Nameless } from './nameless.ts'
import type { Notifier } from './notifier.ts'
import { PlannedJobs } from './planned-jobs.ts'
import type { ScheduleChecks } from './schedule-checks.ts'
import type { ReconcileOptions, Reconciliation, ScheduleDefinition } from './schedule-definition.ts'
import type { SchedulerLifeCycle } from './scheduler-life-cycle.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import { SetCaretaker } from './set-caretaker.ts'
import { tellingObserver } from './telling-observer.ts'
import type { TurnBudget } from './turn-budget.ts'
import { UnawaitedCalls } from './unawaited-calls.ts'

export interface DeclarationsParts {
  readonly options: ResolvedSchedulerOptions
  readonly checks: ScheduleChecks
  readonly nameless: Nameless
  readonly notifier: Notifier
  readonly budget: TurnBudget
  readonly lifeCycle: SchedulerLifeCycle
  /** The store; throws once the scheduler has been shut down. */
  readonly open: () => JobStore
}

/** What the program declares at its start: calendars, and sets of schedules. */
export class Declarations {
  readonly #calendars: SetCaretaker<DeclaredCalendar, Pick<Reconciliation, 'deferred' | 'broken'>>
  readonly #sets: SetCaretaker<DeclaredSet, Reconciliation>

  constructor({ lifeCycle, ...parts }: DeclarationsParts) {
    const { clock } = parts.options
    const { notifier } = parts
    const calls = new UnawaitedCalls()
    const observed = { ...parts, observer: tellingObserver(notifier, lifeCycle, calls.add) }
    this.#calendars = new SetCaretaker({
      noun: 'calendar',
      declarations: new DeclaredCalendars(parts),
      calls: new UnawaitedCalls(),
      clock,
      notifier,
    })
    this.#sets = new SetCaretaker({
      noun: 'schedules',
      declarations: new DeclaredSchedules({ ...observed, planned: new PlannedJobs(observed) }),
      calls,
      clock,
      notifier,
    })
  }

  async declareCalendar(declared: DeclaredCalendar): Promise<void> {
    await this.#calendars.reconcile(declared, { dryRun: false })
  }

  /** Checks what it is given. */
  async declareSet(
    name: string,
    schedules: readonly ScheduleDefinition[],
    options: ReconcileOptions,
  ): Promise<Reconciliation> {
    const { version = null, dryRun = false } = checkedReconcile(name, schedules, options)
    return this.#sets.reconcile({ name, schedules, version }, { dryRun })
  }

  /** Nodes are known to each other once they have started. */
  async started(): Promise<void> {
    await this.#calendars.started()
    await this.#sets.started()
  }

  /** What is under way ends with the store. */
  end(): void {
    this.#calendars.end()
    this.#sets.end()
  }
}
