import {
  InvalidArgumentError,
  isBrokenRow,
  JobPersistenceError,
  type SchedulerError,
} from '../core/errors.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import { KeyMap } from '../core/key-map.ts'
import { KeySet } from '../core/key-set.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { notesMax } from '../jobstore/memory-notes.ts'
import type { PlannedJob } from '../jobstore/planned-job.ts'
import type { JobSummary, Page } from '../jobstore/queries.ts'
import { scheduleSetNotes, scheduleSetText } from '../jobstore/schedule-set-note.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { attemptsMax, DeclarationNotes, type FoundNote } from './declaration-notes.ts'
import type { Notifier } from './notifier.ts'
import { changesNothing, type PlannedJobs, type ReadAhead, type SeenPlan } from './planned-jobs.ts'
import { digestOf } from './planner.ts'
import type { Reconciliation, ScheduleDefinition } from './schedule-definition.ts'
import {
  type Declaration,
  formerMembers,
  isDeferred,
  memberOf,
  type ReconcileManner,
  type SetRecord,
  setRecordOf,
  withDeclaration,
  withMembers,
  withNode,
} from './schedule-set.ts'
import type { ResolvedSchedulerOptions } from './scheduler-options.ts'
import type { SchedulingObserver } from './scheduling-observer.ts'
import type { TurnBudget } from './turn-budget.ts'

export interface DeclaredSchedulesParts {
  readonly options: ResolvedSchedulerOptions
  readonly planned: PlannedJobs
  readonly observer: SchedulingObserver
  readonly notifier: Notifier
  readonly budget: TurnBudget
  /** The store; throws once the scheduler has been shut down. */
  readonly open: () => JobStore
}

/** A set as a caller declares it, checked. */
export interface DeclaredSet {
  readonly name: string
  readonly schedules: readonly ScheduleDefinition[]
  readonly version: number | null
}

/** How many jobs and triggers are read by one call of the store. */
const readAtOnce = 500

/** What was done, with jobs that are declared no more and cannot be read. */
type Done = Omit<Reconciliation, 'broken'> & { readonly broken: readonly BrokenJob[] }
type Changes = { -readonly [Field in 'added' | 'changed' | 'removed' | 'unchanged']: JobKey[] }

/** Carries out sets of schedules. */
export class DeclaredSchedules {
  readonly #parts: DeclaredSchedulesParts
  readonly #notes: DeclarationNotes
  /** Of jobs whose rows could not be read when their set was declared last; each is told once. */
  readonly #broken = new Map<string, ReadonlySet<string>>()
  /** Of jobs whose rows could once not be read: from then on each is read by itself. */
  readonly #brokenKeys = new KeySet<JobKey>()

  constructor(parts: DeclaredSchedulesParts) {
    this.#parts = parts
    this.#notes = new DeclarationNotes({ kind: scheduleSetNotes, open: parts.open, tooMany: tooManySets })
  }

  /**
   * Makes a set what was declared, unless live nodes have declared it in a newer form, or an older form may not take
   * over yet. A job whose row cannot be read stays as it is, and holds up no other.
   */
  async reconcile(
    declared: DeclaredSet,
    { dryRun, mayTakeOver, onInForce }: ReconcileManner,
  ): Promise<Reconciliation> {
    const { name } = declared
    const plans = await this.#planAll(declared)
    const declaration = declarationOf(declared, plans)
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const found = await this.#readRecord(name)
      const live = await this.#notes.liveNodes()
      const { instanceId } = this.#parts.options
      const isLeft = isDeferred(found.record, declaration, { live, instanceId, mayTakeOver })
      if (isLeft && dryRun) return deferred()
      const wished = isLeft ? found.record : withDeclaration(found.record, declaration)
      // Looked at before anything is written: with the checks of the plans, a set of which one schedule is refused
      // changes nothing.
      const nothing = { base: wished, seen: [], broken: [] }
      const look = isLeft ? nothing : await this.#lookAt(plans, wished, found, name)
      if (look === null) continue
      const { base, seen } = look
      if (dryRun) return withBroken(await this.#foresee(seen, base, declaration, name), look.broken).done
      const record = withNode(base, declaration, instanceId, live)
      if (!(await this.#writeRecord(name, record, found))) continue
      if (isLeft) return deferred()
      onInForce?.()
      const carriedOut = await this.#carryOut(seen, record, declaration, name)
      const { done, broken } = withBroken(carriedOut, look.broken)
      this.#tellBroken(name, broken)
      return done
    }
    throw new JobPersistenceError(
      `The schedules '${name}' were changed by other nodes ${attemptsMax} times in a row. Try again.`,
    )
  }

  async #planAll({ name, schedules }: DeclaredSet): Promise<readonly PlannedJob[]> {
    const planned: PlannedJob[] = []
    for (const definition of schedules) {
      planned.push(await this.#parts.planned.plan('reconcile', definition, { set: name, generation: 0 }))
      await this.#parts.budget.spend()
    }
    return planned
  }

  /**
   * What declaring the jobs would change, and the record with its generation. Where the record was lost or is older
   * than the data, as in a database that was restored in parts, the marks on jobs say what it was. Null when another
   * node has changed the record meanwhile.
   */
  async #lookAt(
    plans: readonly PlannedJob[],
    wished: SetRecord,
    found: FoundRecord,
    name: string,
  ): Promise<Look | null> {
    const look = await this.#lookAs(plans, wished)
    const latest = Math.max(0, ...look.seen.map(({ change }) => change.generation))
    const { generation } = found.record
    // That a set is declared for the first time is no reason to look through all jobs.
    const isUnreadable = generation === 0 && found.text !== null
    const isCleared = plans.length === 0 && generation < wished.generation
    if (latest <= generation && !isUnreadable && !isCleared) return look
    if ((await this.#readRecord(name)).noteVersion !== found.noteVersion) return null
    const marked = await this.#marked(name)
    const generations = marked.map(({ plan }) => plan?.generation ?? 0)
    const members = marked.map(({ key }) => memberOf(key))
    const last = Math.max(wished.generation - 1, latest, ...generations)
    return this.#lookAs(plans, { ...withMembers(wished, members), generation: last + 1 })
  }

  async #lookAs(plans: readonly PlannedJob[], base: SetRecord): Promise<Look> {
    const seen: SeenJob[] = []
    const broken: BrokenJob[] = []
    const calendars: ReadAhead['calendars'] = new Map()
    for (let start = 0; start < plans.length; start += readAtOnce) {
      const some = plans.slice(start, start + readAtOnce)
      const known = { ...(await this.#readAhead(some)), calendars }
      for (const plan of some) {
        const planned = ofGeneration(plan, base.generation)
        try {
          seen.push({ planned, change: await this.#parts.planned.lookAt(planned, known) })
        } catch (error) {
          if (!isBrokenRow(error)) throw error
          broken.push({ key: planned.job.key, error })
          this.#brokenKeys.add(planned.job.key)
        }
        await this.#parts.budget.spend()
      }
    }
    return { base, seen, broken }
  }

  async #readAhead(plans: readonly PlannedJob[]): Promise<Omit<ReadAhead, 'calendars'>> {
    const store = this.#parts.open()
    // The store sends a `schedulerError` for each row that it leaves out, and those are known.
    const readable = plans.filter(({ job: { key } }) => !this.#brokenKeys.has(key))
    const [jobs, triggers] = [new KeyMap<JobKey, JobDetail>(), new KeyMap<TriggerKey, Trigger>()]
    for (const job of await store.getJobs(readable.map(({ job: { key } }) => key))) jobs.set(job.key, job)
    for (const trigger of await store.getTriggers(readable.map(({ trigger: { key } }) => key)))
      triggers.set(trigger.key, trigger)
    return { jobs, triggers }
  }

  /** The jobs that have the mark of the set, of all that can be read. */
  async #marked(name: string): Promise<readonly JobDetail[]> {
    const store = this.#parts.open()
    const found: JobDetail[] = []
    let after: JobKey | null = null
    do {
      const page: Page<JobSummary, JobKey> = await store.queryJobs({ take: 200, ...(after && { after }) })
      const durable = page.items.filter((job) => job.durable)
      const jobs = await store.getJobs(durable.map(({ key }) => key))
      found.push(...jobs.filter(({ plan }) => plan?.set === name))
      after = page.next
      await this.#parts.budget.spend()
    } while (after !== null)
    return found
  }

  #tellBroken(set: string, broken: readonly BrokenJob[]): void {
    const told = this.#broken.get(set)
    this.#broken.set(set, new Set(broken.map(({ error }) => error.message)))
    for (const { key, error } of broken) {
      if (told?.has(error.message) === true) continue
      const remedy = 'It stays as it is: mend its row, or delete the job.'
      this.#parts.notifier.error(
        `Job ${key.toString()} of the schedules '${set}' cannot be read. ${remedy}`,
        error,
      )
    }
  }

  async #carryOut(
    seen: readonly SeenJob[],
    record: SetRecord,
    declaration: Declaration,
    name: string,
  ): Promise<Done> {
    const { planned: jobs } = this.#parts
    const changes = noChanges()
    let isReplaced = false
    for (const { planned, change } of seen) {
      const { outcome } = changesNothing(change) ? change : await jobs.store(planned)
      if (outcome === 'newer') isReplaced = true
      else changes[outcome].push(planned.job.key)
    }
    if (isReplaced) return { ...changes, deferred: true, broken: [] }
    // No job of an earlier generation comes any more, so what is not there now stays away.
    const { keys, broken } = await this.#undeclared(name, record, declaration)
    changes.removed.push(...(await this.#delete(keys, name, record)))
    const members = [...declaration.members, ...broken.map(({ key }) => memberOf(key))]
    return { ...changes, deferred: !(await this.#settle(name, record, members)), broken }
  }

  async #foresee(
    seen: readonly SeenJob[],
    record: SetRecord,
    declaration: Declaration,
    name: string,
  ): Promise<Done> {
    const changes = noChanges()
    for (const { planned, change } of seen) {
      if (change.outcome === 'newer') return deferred()
      changes[change.outcome].push(planned.job.key)
    }
    const { keys, broken } = await this.#undeclared(name, record, declaration)
    changes.removed.push(...keys)
    return { ...changes, deferred: false, broken }
  }

  /** The members that are declared no more. Whose a job is that cannot be read cannot be told, so it stays. */
  async #undeclared(
    name: string,
    record: SetRecord,
    declaration: Declaration,
  ): Promise<{ readonly keys: readonly JobKey[]; readonly broken: readonly BrokenJob[] }> {
    const keys: JobKey[] = []
    const broken: BrokenJob[] = []
    for (const key of formerMembers(record, declaration)) {
      try {
        const plan = (await this.#parts.open().getJob(key))?.plan
        if (plan?.set === name && plan.generation <= record.generation) keys.push(key)
      } catch (error) {
        if (!isBrokenRow(error)) throw error
        broken.push({ key, error })
      }
    }
    return { keys, broken }
  }

  /** The store decides anew, with what it has locked: a later generation may have declared a job meanwhile. */
  async #delete(
    keys: readonly JobKey[],
    set: string,
    { generation }: Pick<SetRecord, 'generation'>,
  ): Promise<readonly JobKey[]> {
    if (keys.length === 0) return []
    const deleted = await this.#parts.open().deletePlanned(keys, { set, generation })
    for (const key of deleted) await this.#parts.observer.jobDeleted(key)
    return deleted
  }

  /**
   * Takes the members that were deleted out of the record. False when another declaration came into force meanwhile,
   * which has all members before it to look at.
   */
  async #settle(name: string, { generation }: SetRecord, members: SetRecord['members']): Promise<boolean> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const found = await this.#readRecord(name)
      if (found.record.generation !== generation) return false
      if (await this.#writeRecord(name, { ...found.record, members }, found)) return true
    }
    return true
  }

  async #readRecord(name: string): Promise<FoundRecord> {
    const note = await this.#notes.read(name)
    return { ...note, record: setRecordOf(note.text ?? '') }
  }

  async #writeRecord(name: string, record: SetRecord, found: FoundRecord): Promise<boolean> {
    const text = scheduleSetText(record)
    return text === found.text || this.#notes.write(name, text, found)
  }
}

/** A declared job, and what it would change. */
interface SeenJob {
  readonly planned: PlannedJob
  readonly change: SeenPlan
}

interface Look {
  readonly base: SetRecord
  readonly seen: readonly SeenJob[]
  readonly broken: readonly BrokenJob[]
}

interface BrokenJob {
  readonly key: JobKey
  readonly error: SchedulerError
}

interface FoundRecord extends FoundNote {
  readonly record: SetRecord
}

/** So many are enough, and a list of notes has no more. */
function tooManySets(name: string): InvalidArgumentError {
  return new InvalidArgumentError(
    'name',
    `reconcile: '${name}' would be one more than the ${notesMax} sets of schedules that one scheduler can have. Put ` +
      "its schedules into a set that exists, or store each by 'schedule'.",
  )
}

function noChanges(): Changes {
  return { added: [], changed: [], removed: [], unchanged: [] }
}

function deferred(): Reconciliation & Done {
  return { ...noChanges(), deferred: true, broken: [] }
}

/** The answer, with all jobs that cannot be read: those that are declared, and those that are no more. */
function withBroken(
  done: Done,
  declared: readonly BrokenJob[],
): { readonly done: Reconciliation; readonly broken: readonly BrokenJob[] } {
  const broken = [...declared, ...done.broken]
  return { done: { ...done, broken: broken.map(({ key }) => key) }, broken }
}

/** The digests of jobs are a part of it: code that differs in the settings of a job declares another set. */
function declarationOf({ version }: DeclaredSet, planned: readonly PlannedJob[]): Declaration {
  return {
    digest: digestOf(planned.map(({ job: { plan } }) => [plan.job, plan.when, plan.data])),
    version,
    members: planned.map(({ job: { key } }) => memberOf(key)),
  }
}

function ofGeneration(planned: PlannedJob, generation: number): PlannedJob {
  const { job } = planned
  return { ...planned, job: Object.freeze({ ...job, plan: Object.freeze({ ...job.plan, generation }) }) }
}
