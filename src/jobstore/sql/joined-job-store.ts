import type { JobKey, TriggerKey } from '../../core/key.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type {
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
} from '../../jobs/schedule-options.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { JobAndTriggers } from '../job-and-triggers.ts'
import type { AddJobRequest, JobStoreTransaction } from '../job-store.ts'
import type { PlannedJob, PutPlan } from '../planned-job.ts'
import type { TriggerState } from '../trigger-state.ts'
import type { SqlProgram } from './kernel/statement.ts'
import * as reading from './programs/reading/reading.ts'
import { deleteJobs, deleteTriggers } from './programs/scheduling/deleting.ts'
import { putPlanned } from './programs/scheduling/planning.ts'
import { addJob, rescheduleTrigger, scheduleJobs } from './programs/scheduling/scheduling.ts'
import type { SqlSession, SqlTransaction } from './session/sql-session.ts'
import { beginTransaction } from './session/sql-transactions.ts'
import type { SqlPeers } from './session/sql-transactor.ts'
import type { JoinedRunner } from './sql-engine.ts'

/** The store inside of a transaction of the user's own: the same programs, on the user's connection. */
export class JoinedJobStore implements JobStoreTransaction {
  readonly #session: SqlSession
  readonly #runner: JoinedRunner
  readonly #peers: Pick<SqlPeers, 'requireMayChange'>

  constructor(session: SqlSession, runner: JoinedRunner, peers: Pick<SqlPeers, 'requireMayChange'>) {
    this.#session = session
    this.#runner = runner
    this.#peers = peers
  }

  scheduleJobs(entries: readonly JobAndTriggers[], options: { readonly replace: boolean }): Promise<void> {
    return this.#transact((tx) => scheduleJobs(tx, entries, options))
  }
  addJob(job: JobDetail, options: AddJobRequest): Promise<void> {
    return this.#transact((tx) => addJob(tx, job, options))
  }
  rescheduleTrigger(key: TriggerKey, trigger: Trigger, options?: RescheduleOptions): Promise<boolean> {
    return this.#transact((tx) => rescheduleTrigger(tx, key, trigger, options))
  }
  putPlanned(planned: PlannedJob): Promise<PutPlan> {
    return this.#transact((tx) => putPlanned(tx, planned))
  }
  deleteJobs(keys: readonly JobKey[], options?: ExpectedJobOptions): Promise<readonly JobKey[]> {
    return this.#transact((tx) => deleteJobs(tx, keys, options))
  }
  deleteTriggers(
    keys: readonly TriggerKey[],
    options?: ExpectedTriggerOptions,
  ): Promise<readonly TriggerKey[]> {
    return this.#transact((tx) => deleteTriggers(tx, keys, options))
  }

  getJob(key: JobKey): Promise<JobDetail | null> {
    return this.#runner.read(() => reading.getJob(this.#session, key))
  }
  getTrigger(key: TriggerKey): Promise<Trigger | null> {
    return this.#runner.read(() => reading.getTrigger(this.#session, key))
  }
  async getTriggersOfJob(key: JobKey): Promise<readonly Trigger[]> {
    const found = await this.#runner.read(() => reading.getTriggersOfJob(this.#session, key))
    return reading.withoutBroken(found, this.#session)
  }
  getTriggerState(key: TriggerKey): Promise<TriggerState> {
    return this.#runner.read(() => this.#session.listings.triggerState(key))
  }
  getCalendar(name: string): Promise<Calendar | null> {
    return this.#runner.read(() => reading.getCalendar(this.#session, name))
  }

  /** Signals of the programs are dropped, because the user's transaction may roll back. */
  #transact<Answer>(program: (tx: SqlTransaction) => SqlProgram<Answer>): Promise<Answer> {
    return this.#runner.transact(() => this.#withWake(program), { lock: 'shared' })
  }

  *#withWake<Answer>(program: (tx: SqlTransaction) => SqlProgram<Answer>): SqlProgram<Answer> {
    const tx = beginTransaction(this.#session)
    if (this.#peers.requireMayChange !== undefined) yield* this.#peers.requireMayChange(tx)
    const answer = yield* program(tx)
    // The store has no turn after the user's commit in which it could look who waits for room: the searches that this
    // wakes find out.
    if (tx.offers.roomyGroups.size > 0) tx.offers.noteRoom(tx.nowMs)
    const { earliestMs } = tx.offers
    if (earliestMs !== null) yield* this.#runner.wake(earliestMs)
    else if (this.#runner.tellChange !== undefined) yield* this.#runner.tellChange()
    return answer
  }
}
