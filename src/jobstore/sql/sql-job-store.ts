import { checkFunction, checkOneOf, checkOptions } from '../../core/arguments.ts'
import { SchedulerError } from '../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../core/key.ts'
import { GroupMatcher } from '../../core/matcher.ts'
import type { JobDetail } from '../../jobs/job-detail.ts'
import type { JobStoreNotes } from '../../jobs/job-store-notes.ts'
import type {
  ExpectedJobOptions,
  ExpectedTriggerOptions,
  RescheduleOptions,
} from '../../jobs/schedule-options.ts'
import { type EpochMs, systemClock } from '../../time/clock.ts'
import { nextTurn } from '../../time/next-turn.ts'
import type { Calendar } from '../../triggers/calendars/calendar.ts'
import type { Trigger } from '../../triggers/trigger.ts'
import type { JobStoreAwaitedResults } from '../awaited-results.ts'
import type { JobStoreChanges } from '../change-watch.ts'
import type { JobStoreCluster } from '../cluster-view.ts'
import type { DefinitionChanges, RemovedDefinitions } from '../definition-changes.ts'
import type { FireSlot } from '../fire-slot.ts'
import type { TriggerFiredBundle } from '../fired-bundle.ts'
import type { JobAndTriggers } from '../job-and-triggers.ts'
import type {
  AcquiredAndFired,
  AcquiredTrigger,
  AcquireRequest,
  AddJobRequest,
  CompletionAnswer,
  JobCompletion,
  JobStoreContext,
  JobStoreTransaction,
  TriggerFiredResult,
} from '../job-store.ts'
import type { JobStoreCapabilities } from '../job-store-capabilities.ts'
import type { JobStoreShards } from '../job-store-shards.ts'
import {
  type EndedPauses,
  ordinaryResume,
  type PausedGroups,
  type PauseNote,
  type ResumeManner,
  type SkippedFire,
  silentPause,
} from '../pauses.ts'
import type { PlannedJob, PutPlan, SetGeneration } from '../planned-job.ts'
import type {
  ExecutionCursor,
  ExecutionQuery,
  ExecutionSummary,
  FirePlace,
  GroupCount,
  JobQuery,
  JobSummary,
  NextTriggerQuery,
  Page,
  TriggerCounts,
  TriggerQuery,
  TriggerSummary,
  UnknownJobType,
} from '../queries.ts'
import { storeInUse } from '../refusals.ts'
import type { StoreShutdownOptions } from '../store-shutdown-options.ts'
import type { TriggerState } from '../trigger-state.ts'
import type { DatabaseJobStore } from './database-job-store.ts'
import { foreseeUpdates } from './foresee-updates.ts'
import { JoinedJobStore } from './joined-job-store.ts'
import { eachOrAll, type LeftOver } from './kernel/each-or-all.ts'
import type { TransactionLock } from './kernel/sql-runner.ts'
import type { SqlProgram } from './kernel/statement.ts'
import { lookAtSchema, migrate } from './migrations/migrate.ts'
import { knownSchemas, type SchemaState } from './migrations/plan-migrations.ts'
import { printMigrations } from './migrations/print-migrations.ts'
import { type OpenStore, openStore } from './open-store.ts'
import { firedIds, fireTriggers, hasEnded } from './programs/firing/firing.ts'
import { endOverdueClaims } from './programs/firing/overdue-claims.ts'
import { releaseAllTriggers, releaseTriggers } from './programs/firing/releasing.ts'
import { getPausedGroups } from './programs/reading/pauses.ts'
import * as reading from './programs/reading/reading.ts'
import { addCalendar, deleteCalendar } from './programs/scheduling/calendar-changes.ts'
import { changeDefinitions, lockOfChanges } from './programs/scheduling/definition-changes.ts'
import { clear, deleteJobs, deleteTriggers } from './programs/scheduling/deleting.ts'
import * as pausing from './programs/scheduling/pausing.ts'
import { deletePlanned, putPlanned } from './programs/scheduling/planning.ts'
import { resetTriggerFromErrorState } from './programs/scheduling/resetting.ts'
import { addJob, rescheduleTrigger } from './programs/scheduling/scheduling.ts'
import { skipNextFire } from './programs/scheduling/skipping.ts'
import { firingInDoubt } from './programs/steps/firing-in-doubt.ts'
import { scheduleAndFire } from './schedule-and-fire.ts'
import { searchPastLocks } from './search-past-locks.ts'
import type { SqlSession, SqlTransaction } from './session/sql-session.ts'
import type { SqlOperation } from './session/sql-transactor.ts'
import { SqlAwaitedResults } from './sql-awaited-results.ts'
import { SqlCluster } from './sql-cluster.ts'
import type { SqlEngine } from './sql-engine.ts'
import { SqlNotes } from './sql-notes.ts'
import { SqlRecords } from './sql-records.ts'
import { SqlShards } from './sql-shards.ts'
import { unlessTakenOver } from './unless-taken-over.ts'
import { writeCompletions } from './write-completions.ts'

/** Milliseconds before the first new attempt after failures in a row, doubled by each further one up to the most. */
const retryDelayMs = { first: 100, most: 15_000 }

/**
 * Keeps everything in a database, in Quartz's tables. The algorithms are programs that exist once for all engines; this
 * class runs each operation as a transaction and sends its signals after the commit.
 */
export class SqlJobStore implements DatabaseJobStore {
  readonly name: string
  readonly capabilities: JobStoreCapabilities
  readonly cluster: JobStoreCluster | null
  readonly jobGroupLimits: ReadonlyMap<string, number>
  readonly records: SqlRecords
  readonly awaitedResults: JobStoreAwaitedResults = new SqlAwaitedResults(() => this.#require().transactions)
  readonly changes: JobStoreChanges = {
    watch: (listener) => this.#require().connection.watchChanges?.(listener) ?? (() => {}),
  }
  readonly notes: JobStoreNotes = new SqlNotes(() => this.#require().transactions)
  /** Null on tables shared with Java: a Java node would run a whole firing as one execution. */
  readonly shards: JobStoreShards | null
  readonly #engine: SqlEngine
  /** Absent on tables shared with Java, as is `scheduleAndFire`. */
  acquireAndFire?(request: AcquireRequest): Promise<AcquiredAndFired>
  scheduleAndFire?(entry: JobAndTriggers, slot: FireSlot): Promise<TriggerFiredBundle | null>
  #open: OpenStore | null = null
  /** The name of the scheduler that has this store. */
  #owner: string | null = null

  constructor(engine: SqlEngine) {
    this.name = engine.name
    // A Java node takes a trigger that it has read as WAITING before it had the lock, unless it is configured to read
    // under the lock. A trigger that has fired meanwhile is WAITING again for its next instant, and Java would fire it
    // for the previous one; a claimed trigger is not WAITING.
    const firesAtOnce = engine.sharedWithJava !== true
    this.capabilities = {
      sharedTransactions: true,
      ...engine.capabilities,
      history: true,
      records: true,
      awaitedResults: true,
      changesDefinitions: true,
      firesAtOnce,
      firesOnSchedule: firesAtOnce,
      sharding: engine.sharedWithJava !== true,
    }
    this.shards = engine.sharedWithJava === true ? null : new SqlShards(() => this.#require().transactions)
    if (firesAtOnce) this.acquireAndFire = (request) => this.#search(request, { fires: true })
    if (firesAtOnce) this.scheduleAndFire = (entry, slot) => scheduleAndFire(this.#require(), entry, slot)
    this.#engine = engine
    this.jobGroupLimits = engine.jobGroupLimits ?? new Map()
    this.records = new SqlRecords(() => this.#require(), engine)
    this.cluster = engine.capabilities.clustered ? new SqlCluster(() => this.#require()) : null
  }

  async migrate(options: Parameters<DatabaseJobStore['migrate']>[0] = {}): Promise<readonly number[]> {
    checkOptions('migrate', options, { onLockWait: checkFunction })
    return this.#engine.onSchema((runner) => migrate(runner, this.#engine, systemClock.now()), options)
  }

  async migrationScript(options: { readonly for?: 'empty' | 'quartz' } = {}): Promise<string> {
    checkOptions('migrationScript', options, { for: checkOneOf(['empty', 'quartz']) })
    const engine = this.#engine
    const own = (): Promise<SchemaState> => engine.onSchema((runner) => lookAtSchema(runner, engine))
    const state = options.for === undefined ? await own() : knownSchemas[options.for]
    return printMigrations(engine, state, systemClock.now())
  }

  async initialize(context: JobStoreContext): Promise<void> {
    if (this.#owner !== null) throw storeInUse(this.name, this.#owner)
    this.#owner = context.schedulerName
    try {
      this.#open = await openStore(this.#engine, context)
    } catch (error) {
      this.#owner = null
      throw error
    }
  }
  async schedulerStarted(): Promise<void> {
    const { connection, transactions } = this.#require()
    await connection.start(transactions)
  }
  async shutdown({ cut }: StoreShutdownOptions = {}): Promise<void> {
    const open = this.#open
    if (open === null) return
    this.#open = null
    const onCut = (): void => {
      open.connection.cutOff()
    }
    cut?.addEventListener('abort', onCut, { once: true })
    if (cut?.aborted === true) onCut()
    try {
      await open.pruner.close()
      await open.connection.close()
    } finally {
      cut?.removeEventListener('abort', onCut)
      this.#owner = null
    }
  }
  /** 100 milliseconds after one or two failures in a row, twice as long after each further one, at most 15 seconds. */
  acquireRetryDelayMs(failures: number): number {
    return Math.min(retryDelayMs.first * 2 ** Math.max(0, failures - 2), retryDelayMs.most)
  }

  /** A store that was shut down meanwhile says so where it is to write. */
  requireStorable({ job, triggers }: JobAndTriggers): void {
    const session = this.#open?.transactions.session
    if (job !== null) session?.jobs.requireStorable(job)
    for (const trigger of triggers) session?.triggers.requireStorable(trigger)
  }
  async scheduleJobs(
    entries: readonly JobAndTriggers[],
    options: { readonly replace: boolean },
  ): Promise<void> {
    await this.#require().scheduleWriter.schedule(entries, options)
  }

  addJob(job: JobDetail, options: AddJobRequest): Promise<void> {
    return this.#transact('shared', (tx) => addJob(tx, job, options))
  }
  rescheduleTrigger(key: TriggerKey, trigger: Trigger, options?: RescheduleOptions): Promise<boolean> {
    return this.#transact('shared', (tx) => rescheduleTrigger(tx, key, trigger, options))
  }
  putPlanned(planned: PlannedJob): Promise<PutPlan> {
    return this.#transact('shared', (tx) => putPlanned(tx, planned))
  }
  deletePlanned(keys: readonly JobKey[], upTo: SetGeneration): Promise<readonly JobKey[]> {
    return this.#transact('shared', (tx) => deletePlanned(tx, keys, upTo))
  }
  deleteJobs(keys: readonly JobKey[], options?: ExpectedJobOptions): Promise<readonly JobKey[]> {
    return this.#transact('shared', (tx) => deleteJobs(tx, keys, options))
  }
  deleteTriggers(keys: readonly TriggerKey[], how?: ExpectedTriggerOptions): Promise<readonly TriggerKey[]> {
    return this.#transact('shared', (tx) => deleteTriggers(tx, keys, how))
  }
  clear(): Promise<void> {
    return this.#transact('exclusive', (tx) => clear(tx))
  }

  getJob(key: JobKey): Promise<JobDetail | null> {
    return this.#read((session) => reading.getJob(session, key))
  }
  async getJobs(keys: readonly JobKey[]): Promise<readonly JobDetail[]> {
    const { toldRows } = this.#require().transactions.session
    const { found, broken } = await this.#read((session) => reading.getJobs(session, keys))
    toldRows.tell(broken)
    return found
  }
  getTrigger(key: TriggerKey): Promise<Trigger | null> {
    return this.#read((session) => reading.getTrigger(session, key))
  }
  getTriggersOfJob(key: JobKey): Promise<readonly Trigger[]> {
    return this.#readTriggers((session) => reading.getTriggersOfJob(session, key))
  }
  queryJobs(query: JobQuery): Promise<Page<JobSummary, JobKey>> {
    return this.#read((session) => reading.queryJobs(session, query))
  }
  queryTriggers(query: TriggerQuery): Promise<Page<TriggerSummary, TriggerKey>> {
    return this.#read((session) => reading.queryTriggers(session, query))
  }
  queryNextTriggers(query: NextTriggerQuery): Promise<Page<TriggerSummary, FirePlace>> {
    return this.#read((session) => reading.queryNextTriggers(session, query))
  }
  getTriggers(keys: readonly TriggerKey[]): Promise<readonly Trigger[]> {
    return this.#readTriggers((session) => reading.getTriggers(session, keys))
  }
  getTriggerCounts(): Promise<TriggerCounts> {
    return this.#read(({ listings }) => listings.triggerCounts())
  }
  getGroupCounts(of: 'jobs' | 'triggers'): Promise<readonly GroupCount[]> {
    return this.#read(({ listings }) => listings.groupCounts(of))
  }
  getJobKeys(matcher: GroupMatcher): Promise<readonly JobKey[]> {
    return this.#read((session) => session.keyLists.jobKeys(matcher))
  }
  getTriggerKeys(matcher: GroupMatcher): Promise<readonly TriggerKey[]> {
    return this.#read((session) => session.keyLists.triggerKeys(matcher))
  }
  getJobGroupNames(): Promise<readonly string[]> {
    return this.#read((session) => session.keyLists.jobGroups(GroupMatcher.anyGroup()))
  }
  getTriggerGroupNames(): Promise<readonly string[]> {
    return this.#read((session) => session.keyLists.triggerGroups(GroupMatcher.anyGroup()))
  }
  /** Beside the contract: see {@link KeyLists}, of its method of this name. */
  otherSchedulers(limit: number): Promise<readonly string[]> {
    return this.#read(({ keyLists }) => keyLists.otherSchedulers(limit))
  }
  getTriggerState(key: TriggerKey): Promise<TriggerState> {
    return this.#read((session) => session.listings.triggerState(key))
  }
  resetTriggerFromErrorState(key: TriggerKey): Promise<boolean> {
    return this.#transact('shared', (tx) => resetTriggerFromErrorState(tx, key))
  }

  pauseTrigger(key: TriggerKey, note: PauseNote = silentPause): Promise<boolean> {
    return this.#transact('shared', (tx) => pausing.pauseTrigger(tx, key, note))
  }
  pauseTriggers(matcher: GroupMatcher, note: PauseNote = silentPause): Promise<readonly string[]> {
    return this.#transact('exclusive', (tx) => pausing.pauseTriggers(tx, matcher, note))
  }
  pauseJob(key: JobKey, note: PauseNote = silentPause): Promise<boolean> {
    return this.#transact('shared', (tx) => pausing.pauseJob(tx, key, note))
  }
  pauseJobs(matcher: GroupMatcher, note: PauseNote = silentPause): Promise<readonly string[]> {
    return this.#transact('exclusive', (tx) => pausing.pauseJobs(tx, matcher, note))
  }
  pauseAll(note: PauseNote = silentPause): Promise<void> {
    return this.#transact('exclusive', (tx) => pausing.pauseAll(tx, note))
  }
  resumeTrigger(key: TriggerKey, manner: ResumeManner = ordinaryResume): Promise<boolean> {
    return this.#transact('rows', (tx) => pausing.resumeTrigger(tx, key, manner))
  }
  resumeTriggers(matcher: GroupMatcher, manner: ResumeManner = ordinaryResume): Promise<readonly string[]> {
    return this.#transact('exclusive', (tx) => pausing.resumeTriggers(tx, matcher, manner))
  }
  resumeJob(key: JobKey, manner: ResumeManner = ordinaryResume): Promise<boolean> {
    return this.#transact('shared', (tx) => pausing.resumeJob(tx, key, manner))
  }
  resumeJobs(matcher: GroupMatcher, manner: ResumeManner = ordinaryResume): Promise<readonly string[]> {
    return this.#transact('exclusive', (tx) => pausing.resumeJobs(tx, matcher, manner))
  }
  resumeAll(manner: ResumeManner = ordinaryResume): Promise<void> {
    return this.#transact('exclusive', (tx) => pausing.resumeAll(tx, manner))
  }
  endPauses(): Promise<EndedPauses> {
    return this.#require().pauseEnder.endPauses()
  }
  skipNextFire(key: TriggerKey, expectedMs: EpochMs | null): Promise<SkippedFire | null> {
    return this.#transact('rows', (tx) => skipNextFire(tx, key, expectedMs))
  }
  getPausedGroups(): Promise<PausedGroups> {
    return this.#read(getPausedGroups)
  }

  async addCalendar(
    name: string,
    calendar: Calendar,
    options: { readonly replace: boolean; readonly updateTriggers: boolean },
  ): Promise<void> {
    // What replaces none has no triggers, or is refused.
    const named = options.updateTriggers && options.replace ? [{ name, calendar }] : []
    const foreseen = await foreseeUpdates(this.#require().transactions, named)
    await this.#transact('exclusive', (tx) => addCalendar(tx, name, calendar, { ...options, foreseen }))
  }
  deleteCalendar(name: string): Promise<boolean> {
    return this.#transact('exclusive', (tx) => deleteCalendar(tx, name))
  }
  async changeDefinitions(changes: DefinitionChanges): Promise<RemovedDefinitions> {
    const foreseen = await foreseeUpdates(this.#require().transactions, changes.calendars)
    return this.#transact(lockOfChanges(changes), (tx) => changeDefinitions(tx, changes, foreseen))
  }
  getCalendar(name: string): Promise<Calendar | null> {
    return this.#read((session) => reading.getCalendar(session, name))
  }
  getCalendarNames(): Promise<readonly string[]> {
    return this.#read((session) => session.calendars.names())
  }

  async acquireNextTriggers(request: AcquireRequest): Promise<readonly AcquiredTrigger[]> {
    const { acquired } = await this.#search(request, { fires: false })
    return acquired
  }
  async releaseAcquiredTriggers(acquired: readonly AcquiredTrigger[]): Promise<readonly AcquiredTrigger[]> {
    const held: AcquiredTrigger[] = []
    const { locked } = await this.#eachOrAll(acquired, async (claims) => {
      const release = () => this.#pass((tx) => releaseTriggers(tx, claims), { tells: 'peers' })
      held.push(...(await unlessTakenOver(this.#require().connection, release, [])))
    })
    const left = [...held, ...locked]
    this.#forget(acquired.filter((claim) => !left.includes(claim)))
    return left
  }
  async releaseAllAcquiredTriggers(): Promise<void> {
    const { transactions } = this.#require()
    const release = () => transactions.run(releaseAllTriggers, { lock: 'rows', tells: 'peers' })
    const released = await unlessTakenOver(this.#require().connection, release, [])
    transactions.session.ledger.forget(released)
  }
  async triggersFired(acquired: readonly AcquiredTrigger[]): Promise<readonly TriggerFiredResult[]> {
    const results: TriggerFiredResult[] = acquired.map(() => ({ kind: 'locked' }))
    const { failed } = await eachOrAll([...acquired.entries()], async (claims) => {
      const areSplit = claims.every(([, { isSplit }]) => isSplit === true)
      const named = claims.map(([, claim]) => claim)
      const { session } = this.#require().transactions
      const fire = (): Promise<readonly TriggerFiredResult[]> =>
        this.#pass((tx) => fireTriggers(tx, named), {
          ...firingInDoubt(session, firedIds),
          withoutFired: (answers) => answers.map((each) => (each.kind === 'fired' ? { kind: 'gone' } : each)),
          // A split firing is on the disk before its items are, so what a crash undoes has not run: the claim is back.
          lock: named.some(({ isSplit }) => isSplit === true) ? 'shared' : 'rows',
          mayBeLost: (answered) => areSplit && answered.every(({ kind }) => kind === 'gone'),
        })
      const answers = await session.ledger.during(fire, firedIds)
      for (const [position, answer] of answers.entries()) results[claims[position]?.[0] ?? -1] = answer
    })
    for (const { item, error } of failed)
      results[item[0]] = { kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) }
    this.#forget(acquired.filter((claim, index) => hasEnded(claim, results[index])))
    return results
  }
  async triggeredJobsComplete(completions: readonly JobCompletion[]): Promise<CompletionAnswer> {
    const answer = await writeCompletions(this.#require(), completions)
    this.#forget(completions.filter((completion) => !answer.locked.includes(completion)))
    this.#open?.pruner.noteWrite()
    return answer
  }
  queryUnknownJobTypes(): Promise<readonly UnknownJobType[]> {
    return this.#read(reading.queryUnknownJobTypes)
  }
  earliestDueMs(): Promise<EpochMs | null> {
    return this.#read(reading.earliestDueMs)
  }
  queryExecutions(query: ExecutionQuery): Promise<Page<ExecutionSummary, ExecutionCursor>> {
    return this.#read((session) => reading.queryExecutions(session, query))
  }
  joinTransaction(handle: object): JobStoreTransaction {
    const { connection, transactions } = this.#require()
    if (connection.join === undefined) {
      throw new SchedulerError(
        'ERR_NOT_SUPPORTED',
        `${this.name} works in no transaction of yours: no connection but its own reaches its data. For SQLite, ` +
          'use a file, or give the store your own connection.',
      )
    }
    return new JoinedJobStore(transactions.session, connection.join(handle), connection)
  }

  /** For operations of the loop, which must not wait for a lock of another session. */
  #pass<Answer>(
    program: (tx: SqlTransaction) => SqlProgram<Answer>,
    options: Partial<SqlOperation<NoInfer<Answer>>>,
  ): Promise<Answer> {
    return this.#require().transactions.run(program, { lock: 'rows', whenLocked: 'passOver', ...options })
  }

  /** When one part failed, the whole operation fails: run again, the parts that were done do nothing. */
  async #eachOrAll<Item>(
    items: readonly Item[],
    attempt: (items: readonly Item[]) => Promise<void>,
  ): Promise<LeftOver<Item>> {
    const left = await eachOrAll(items, attempt)
    for (const { error } of left.failed) throw error
    return left
  }

  /** Searches until there is an answer besides late triggers, or the answer is not wanted any more. */
  #search(request: AcquireRequest, { fires }: { readonly fires: boolean }): Promise<AcquiredAndFired> {
    return this.#require().transactions.session.ledger.during(
      () => this.#searchUntilWhole(request, fires),
      ({ fired, acquired }) => [...fired, ...acquired].map(idOf),
    )
  }

  async #searchUntilWhole(request: AcquireRequest, fires: boolean): Promise<AcquiredAndFired> {
    const { connection, transactions } = this.#require()
    const { clock } = transactions.session.context
    await connection.mayClaim?.()
    for (;;) {
      const { isPartial, hasOverdueClaims, ...batch } = await searchPastLocks(transactions, request, fires)
      const isEmpty = batch.fired.length === 0 && batch.acquired.length === 0
      if (isEmpty && hasOverdueClaims && (await this.#pass(endOverdueClaims, { tells: 'none' })) > 0) continue
      if (!isPartial || request.isStillWanted?.() === false) return batch
      await nextTurn(clock)
    }
  }

  #forget(firings: readonly { readonly fireInstanceId: string }[]): void {
    this.#open?.transactions.session.ledger.forget(firings.map(idOf))
  }

  async #transact<Answer>(
    lock: TransactionLock,
    program: (tx: SqlTransaction) => SqlProgram<Answer>,
  ): Promise<Answer> {
    return this.#require().transactions.run(program, { lock, isChange: true })
  }

  async #readTriggers(
    program: (session: SqlSession) => SqlProgram<reading.TriggersOfJob>,
  ): Promise<readonly Trigger[]> {
    const { session } = this.#require().transactions
    return reading.withoutBroken(await this.#read(program), session)
  }

  async #read<Answer>(program: (session: SqlSession) => SqlProgram<Answer>): Promise<Answer> {
    return this.#require().transactions.read(program)
  }

  #require(): OpenStore {
    if (this.#open !== null) return this.#open
    throw new SchedulerError(
      'ERR_SCHEDULER_STATE',
      `The job store ${this.name} is not open: it was not initialized, or it was shut down.`,
    )
  }
}

function idOf({ fireInstanceId }: { readonly fireInstanceId: string }): string {
  return fireInstanceId
}
