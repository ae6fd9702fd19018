import type Database from 'better-sqlite3'
import { defineRemoteJob, type RemoteJobContext } from '../../src/jobs/define-remote-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type { JobSource } from '../../src/jobs/job-definition.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import type { SimClock } from './sim-clock.ts'
import type { LedgerRow } from './sim-cluster-ledger.ts'
import type { SimProcess } from './sim-cluster-node.ts'
import type { SimGuests, Work } from './sim-guests.ts'
import type { SimRandom } from './sim-random.ts'

/** Work that somebody else was given. */
interface Sent {
  readonly reference: string
  /** The trigger and the planned instant for which it was sent. */
  readonly instant: string
  readonly fails: boolean
}

/** How an execution ended, as the history has it. */
interface Line {
  readonly id: string
  readonly outcome: string
  readonly previous: string | null
  readonly trigger: string
  readonly planned: number
  /** The broadcast that it is a part of. */
  readonly firing: string | null
  readonly item: number | null
}

const jobNames = ['remote-plain', 'remote-recoverable', 'remote-broadcast'] as const
/** Its firings have as many parts as the other side has hands at the time. */
const broadcastJob = 'remote-broadcast'
const handsMax = 4
const group = 'remotes'
const resultWithinMs = 6000
/** Some results come after their deadline. */
const worksAtMostMs = 7000
/** A caller that has no answer by then asks another node. */
const answersWithinMs = 3000
/** How many nodes die around the instant at which they send something, and how long such things happen. */
const killsMax = 3
const killsForMs = 20_000

/** Users with remote jobs, and the one who works for them: nothing befalls him, and he reports until he is answered. */
export class SimRemotes implements SimGuests {
  lastPlannedMs = 0
  readonly areAlone = true
  readonly #clock: SimClock
  readonly #random: SimRandom
  readonly #nodes: () => readonly Scheduler[]
  readonly #database: Database.Database
  readonly #wishes = new Map<string, readonly number[]>()
  /** The triggers of broadcasts. */
  readonly #broadcasts = new Set<string>()
  /** How many parts each broadcast had, as its executions were told. */
  readonly #totals = new Map<string, Set<number>>()
  readonly #sent: Sent[] = []
  readonly #violations: string[] = []
  #hands = 2
  #kills = 0
  #killsUntilMs = 0
  #names = 0

  constructor(
    clock: SimClock,
    random: SimRandom,
    world: { readonly nodes: () => readonly Scheduler[]; readonly database: Database.Database },
  ) {
    this.#clock = clock
    this.#random = random
    this.#nodes = world.nodes
    this.#database = world.database
  }

  jobs(work: Work, process: SimProcess): readonly JobSource[] {
    const send = (context: RemoteJobContext): Promise<void> => this.#send(context, work, process)
    const retry = { attempts: 2, backoff: { initialMs: 500 } }
    return [
      defineRemoteJob('remote', send, { retry }),
      defineRemoteJob('broadcast', send, { retry, items: () => this.#hands }),
    ]
  }

  keepLedger(): void {}
  watch(): void {}

  async populate(scheduler: Scheduler): Promise<void> {
    this.#killsUntilMs = this.#clock.elapsedMs() + killsForMs
    for (const name of jobNames) {
      const type = name === broadcastJob ? 'broadcast' : 'remote'
      const job = JobBuilder.newJob(type).withIdentity(name).storeDurably()
      await scheduler.addJob((name === 'remote-recoverable' ? job.requestRecovery() : job).build(), {
        replace: true,
      })
    }
  }

  async run(scheduler: Scheduler): Promise<void> {
    const random = this.#random
    const jobName = random.pick(jobNames)
    this.#hands = random.integer(0, handsMax)
    const count = random.integer(1, 4)
    const intervalMs = random.integer(500, 6000)
    const startMs = this.#clock.now() + random.integer(0, 6000)
    const name = `r${this.#names++}`
    this.lastPlannedMs = Math.max(this.lastPlannedMs, startMs + count * intervalMs + 2 * worksAtMostMs)
    const instants = Array.from({ length: count }, (_, index) => startMs + index * intervalMs)
    this.#wishes.set(name, instants)
    if (jobName === broadcastJob) this.#broadcasts.add(name)
    const trigger = TriggerBuilder.newTrigger()
      .withIdentity(name, group)
      .forJob(jobName)
      .startAt(new Date(startMs))
      .withSchedule(
        SimpleScheduleBuilder.simpleSchedule()
          .withIntervalInMilliseconds(intervalMs)
          .withRepeatCount(count - 1)
          .withMisfireInstruction('ignore'),
      )
    await scheduler.scheduleJob(trigger.build())
  }

  judge(ledger: readonly LedgerRow[]): string[] {
    const lines = this.#history()
    return [
      ...this.#violations,
      ...this.#missed(ledger, lines),
      ...this.#unsettled(lines),
      ...this.#unsoundBroadcasts(lines),
    ]
  }

  async #send(context: RemoteJobContext, work: Work, process: SimProcess): Promise<void> {
    const { shard } = context
    if (shard !== null) {
      const { firingId, total } = shard
      this.#totals.set(firingId, (this.#totals.get(firingId) ?? new Set()).add(total))
    }
    await work(context)
    const reference = context.fireInstanceId
    await context.awaitResult({ reference, timeoutMs: resultWithinMs })
    this.#mayDie(process)
    await process.passes()
    const { originalTriggerKey, scheduledFireTime } = context
    const instant = `${originalTriggerKey.toString()} ${scheduledFireTime.getTime()}`
    const sent = { reference, instant, fails: this.#random.chance(0.3) }
    this.#sent.push(sent)
    void this.#workOn(sent)
    this.#mayDie(process)
    await process.passes()
  }

  #mayDie(process: SimProcess): void {
    const isCalm = this.#clock.elapsedMs() > this.#killsUntilMs || this.#kills === killsMax
    if (isCalm || !this.#random.chance(0.25)) return
    this.#kills++
    process.kill()
  }

  async #workOn(sent: Sent): Promise<void> {
    const random = this.#random
    await this.#clock.sleep(random.integer(0, worksAtMostMs))
    const ways = random.chance(0.3) ? 2 : 1
    await Promise.all(Array.from({ length: ways }, () => this.#report(sent)))
  }

  /** Until somebody answers. */
  async #report({ reference, fails }: Sent): Promise<void> {
    for (;;) {
      const nodes = this.#nodes()
      const node = nodes.length === 0 ? null : this.#random.pick(nodes)
      const none = this.#clock.sleep(answersWithinMs).then(() => null)
      const answer = node === null ? none : this.#answer(node, reference, fails)
      const isTaken = await Promise.race([answer, none])
      if (isTaken === false && this.#isInFlight(reference)) {
        this.#violations.push(`the result of ${reference} was called late while it was awaited`)
      }
      if (isTaken !== null) return
      await this.#clock.sleep(1000)
    }
  }

  #answer(node: Scheduler, reference: string, fails: boolean): Promise<boolean | null> {
    const result = fails ? { error: new Error('it failed') } : { result: 'done' }
    return node.reportResult(reference, result).catch(() => null)
  }

  #isInFlight(reference: string): boolean {
    const query = `SELECT 1 FROM qrtz_fired_triggers WHERE entry_id = ? AND state = 'EXECUTING'`
    return this.#database.prepare(query).get(reference) !== undefined
  }

  #history(): readonly Line[] {
    return this.#database
      .prepare<[], Line>(
        `SELECT fire_instance_id AS id, outcome, previous_id AS previous, trigger_name AS "trigger",
           planned_time AS planned, firing_id AS firing, shard_item AS item
         FROM qrtz_execution_history WHERE job_name LIKE 'remote-%'`,
      )
      .all()
  }

  #missed(ledger: readonly LedgerRow[], lines: readonly Line[]): string[] {
    const fired = new Set(
      ledger
        .filter(({ kind }) => kind === 'fired')
        .map(({ trigger_name, sched_time }) => `${trigger_name} ${sched_time}`),
    )
    const stored = new Set(ledger.filter(({ kind }) => kind === 'stored').map((row) => row.trigger_name))
    return [...this.#wishes].flatMap(([name, instants]) =>
      instants.flatMap((instant) => {
        if (!stored.has(name)) return []
        if (this.#broadcasts.has(name)) {
          const ends = lines.filter(({ trigger, planned }) => trigger === name && planned === instant)
          return ends.length === 1 ? [] : [`the broadcast ${instant} of ${name} ended ${ends.length} times`]
        }
        return fired.has(`${name} ${instant}`) ? [] : [`instant ${instant} of ${name} was never fired for`]
      }),
    )
  }

  /** Each part of a broadcast has ended, and it ends well when all of them did. */
  #unsoundBroadcasts(lines: readonly Line[]): string[] {
    return lines
      .filter(({ trigger, firing }) => firing === null && this.#broadcasts.has(trigger))
      .flatMap(({ id, outcome }) => {
        const parts = lines.filter(({ firing }) => firing === id)
        const [total = 1, ...others] = this.#totals.get(id) ?? []
        if (others.length > 0) return [`the parts of broadcast ${id} disagree on how many they are`]
        const found = Array.from({ length: total }, (_, item) => parts.filter((part) => part.item === item))
        const isGood = found.every((tries) => tries.some((part) => part.outcome === 'succeeded'))
        return [
          ...(found.some(({ length }) => length === 0)
            ? [`broadcast ${id} ended without one of its parts`]
            : []),
          ...(isGood === (outcome === 'succeeded') ? [] : [`broadcast ${id} should not be ${outcome}`]),
        ]
      })
  }

  /** Each execution ends once, as it was reported or by its deadline, and only one that failed is tried again. */
  #unsettled(lines: readonly Line[]): string[] {
    const problems: string[] = []
    const outcomes = new Map(lines.map(({ id, outcome }) => [id, outcome]))
    for (const { reference, fails } of this.#sent) {
      const outcome = outcomes.get(reference) ?? 'not settled'
      const isRight = outcome === 'timedOut' || outcome === (fails ? 'failed' : 'succeeded')
      if (!isRight) problems.push(`${reference} was sent, and is ${outcome}`)
    }
    const again = lines.flatMap(({ previous }) => previous ?? [])
    for (const id of repeated(again)) problems.push(`${id} was tried again twice`)
    for (const id of repeated(this.#sent.map(({ reference }) => reference)))
      problems.push(`${id} was sent twice`)
    // Only what failed is sent again.
    const good = this.#sent.filter(({ reference }) => outcomes.get(reference) !== 'failed')
    for (const instant of repeated(good.map((sent) => sent.instant))) {
      problems.push(`the work of ${instant} was sent twice`)
    }
    return problems
  }
}

function repeated(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))]
}
