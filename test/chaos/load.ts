import { JobKey } from '../../src/core/key.ts'
import { CronCalendar } from '../../src/triggers/calendars/cron-calendar.ts'
import { CronScheduleBuilder } from '../../src/triggers/families/cron/cron-trigger.ts'
import { DailyTimeIntervalScheduleBuilder } from '../../src/triggers/families/daily/daily-time-interval-trigger.ts'
import { CalendarIntervalScheduleBuilder } from '../../src/triggers/families/interval/calendar-interval-trigger.ts'
import type { TriggerJson } from '../../src/triggers/families/plain-form.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { triggerToJSON } from '../../src/triggers/families/trigger-json.ts'
import type { ScheduleBuilder } from '../../src/triggers/fluent-trigger-builder.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'
import { TriggerUtils } from '../../src/triggers/trigger-utils.ts'
import type { SimRandom } from '../support/sim-random.ts'
import type { ChaosNode } from './chaos-node.ts'
import type { Expectation, Promised } from './judge.ts'

/** A job as a node process is told of it; its group is `jobs` unless jobs of its kind are limited. */
interface LoadJob {
  readonly name: string
  readonly group: string
  readonly type: 'work' | 'exclusive' | 'retrying' | 'native'
  /** Instance ids of the nodes that it would rather run on. */
  readonly nodes: readonly string[]
  readonly recovery: boolean
  /** A job that goes with its last trigger cannot run an earlier firing again, so those that must are durable. */
  readonly durable: boolean
  readonly data: {
    readonly bodyMs: number
    readonly failures: number
    /** Where a job in a thread writes what it does. */
    readonly log?: string
  }
}

interface LoadEntry {
  readonly job: LoadJob
  readonly triggers: readonly Trigger[]
  readonly skips: boolean
}

interface Span {
  readonly startMs: number
  readonly endMs: number
}

/** A group of which few jobs run at a time, in all of the cluster. */
export const limitedGroup = { name: 'limited', limit: 2 } as const
/** A calendar that leaves out every third second. */
export const thirds = { name: 'thirds', excluded: '0/3 * * * * ?' } as const

const thirdsLeftOut = new CronCalendar({ expression: thirds.excluded, timeZone: 'UTC' })

/** What nodes are given to do, and what must come of it. */
export class Load implements Expectation {
  readonly triggers: Map<string, Promised> = new Map()
  readonly exclusiveJobs: Set<string> = new Set()
  readonly groupLimits: ReadonlyMap<string, number> = new Map([[limitedGroup.name, limitedGroup.limit]])
  readonly misfireThresholdMs: number
  readonly #label: string
  readonly #random: SimRandom
  #count = 0

  /** `label` tells its jobs from those of other loads on the same nodes. */
  constructor(random: SimRandom, misfireThresholdMs: number, label = '') {
    this.#label = label
    this.#random = random
    this.misfireThresholdMs = misfireThresholdMs
  }

  get instantCount(): number {
    return [...this.triggers.values()].reduce((sum, { instants }) => sum + instants.length, 0)
  }

  /** Triggers of every kind that fire all the time of the span, `count` times eight of them and more. */
  async scheduleMixed(node: ChaosNode, count: number, span: Span): Promise<void> {
    const entries = Array.from({ length: count }, () => this.#mix(span)).flat()
    this.#promise(entries, true)
    await node.ask('schedule', { entries: entries.map(toMessage) })
  }

  /** A trigger that fires once. When the node's answer is an error, nobody knows whether it was stored. */
  async scheduleOneShot(node: ChaosNode, atMs: number): Promise<void> {
    const recovery = this.#random.chance(0.5)
    const entry = this.#entry('work', { recovery, triggers: [{ schedule: once(), startMs: atMs }] })
    this.#promise([entry], false)
    await node.ask('schedule', { entries: [toMessage(entry)] })
    this.#promise([entry], true)
  }

  /** Jobs of the further kinds: limited, with an affinity, by a calendar, in a thread that sits in native code. */
  async scheduleFurther(node: ChaosNode, log: string, span: Span): Promise<void> {
    const every = (): number => this.#random.integer(5, 15) * 100
    const limited = () =>
      this.#entry('work', {
        group: limitedGroup.name,
        triggers: [{ schedule: simple(every(), span), ...span }],
      })
    const entries = [
      limited(),
      limited(),
      limited(),
      this.#entry('work', {
        nodes: [node.instanceId],
        triggers: [{ schedule: simple(every(), span), ...span }],
      }),
      this.#entry('work', {
        calendar: thirds.name,
        triggers: [{ schedule: cron(1, 'ignore'), ...span }],
      }),
    ]
    this.#promise(entries, true)
    await node.ask('addCalendar', thirds)
    await node.ask('schedule', { entries: entries.map(toMessage) })
    await this.scheduleNative(node, log, span)
  }

  /** A job that does not run twice at a time, in a thread that sits in native code for longer than its time limit. */
  async scheduleNative(node: ChaosNode, log: string, span: Span): Promise<void> {
    const entry = this.#entry('native', { log, triggers: [{ schedule: simple(5000, span), ...span }] })
    // A thread that is not ready within the time limit of its job does nothing.
    this.#promise([entry], false)
    await node.ask('schedule', { entries: [toMessage(entry)] })
  }

  #mix(span: Span): LoadEntry[] {
    const every = (): number => this.#random.integer(5, 15) * 100
    const all = (...schedules: ScheduleBuilder<Trigger>[]) =>
      schedules.map((schedule) => ({ schedule, ...span }))
    const seconds = (): number => this.#random.integer(1, 3)
    return [
      this.#entry('work', { triggers: all(simple(every(), span)) }),
      this.#entry('work', {
        recovery: true,
        triggers: all(simple(every(), span), cron(seconds(), 'ignore')),
      }),
      this.#entry('exclusive', {
        triggers: all(simple(every(), span), simple(every(), span), cron(2, 'ignore')),
      }),
      this.#entry('exclusive', {
        recovery: true,
        triggers: all(simple(every(), span), calendarInterval(seconds())),
      }),
      this.#entry('retrying', { recovery: true, failures: 1, triggers: all(daily(seconds())) }),
      this.#entry('retrying', { failures: 2, triggers: all(simple(3 * every(), span)) }),
      this.#entry('work', { skips: true, triggers: all(cron(1, 'doNothing')) }),
      this.#entry('exclusive', { skips: true, triggers: all(cron(1, 'fireOnceNow')) }),
    ]
  }

  #entry(
    type: LoadJob['type'],
    options: {
      readonly triggers: readonly ({ readonly schedule: ScheduleBuilder<Trigger> } & Partial<Span>)[]
      readonly recovery?: boolean
      readonly failures?: number
      readonly skips?: boolean
      readonly group?: string
      readonly nodes?: readonly string[]
      readonly calendar?: string
      readonly log?: string
    },
  ): LoadEntry {
    const name = `${type}-${this.#label}${String(++this.#count)}`
    const { triggers, recovery = false, failures = 0, skips = false, group = 'jobs', nodes = [] } = options
    const { calendar, log } = options
    const endsLater = triggers.some(({ endMs }) => endMs !== undefined)
    const anyMs = this.#random.chance(0.3) ? 0 : this.#random.integer(1, 300)
    // Longer than the time limit of such a job.
    const longMs = type === 'native' ? 2000 : anyMs
    // Runs one after the other, and must keep up with its triggers.
    const bodyMs = type === 'exclusive' ? Math.min(anyMs, 100) : longMs
    return {
      job: {
        name,
        group,
        type,
        nodes,
        recovery,
        durable: endsLater && (recovery || failures > 0),
        data: { bodyMs, failures, ...(log === undefined ? {} : { log }) },
      },
      triggers: triggers.map(({ schedule, startMs, endMs }, index) => {
        const builder = TriggerBuilder.newTrigger()
          .withIdentity(`${name}-${String(index)}`, 'load')
          .withPriority(this.#random.integer(1, 9))
          .forJob(new JobKey(name, group))
          .modifiedByCalendar(calendar ?? null)
          .startAt(new Date(startMs ?? Date.now()))
          .withSchedule(schedule)
        return (endMs === undefined ? builder : builder.endAt(new Date(endMs))).build()
      }),
      skips,
    }
  }

  #promise(entries: readonly LoadEntry[], isCertain: boolean): void {
    for (const { job, triggers, skips } of entries) {
      if (job.type === 'exclusive' || job.type === 'native')
        this.exclusiveJobs.add(new JobKey(job.name, job.group).toString())
      for (const trigger of triggers) {
        const instants = TriggerUtils.computeFireTimes(trigger, calendarOf(trigger), 10_000).map((date) =>
          date.getTime(),
        )
        const { recovery: recovers, data } = job
        const promised = { instants, recovers, skips, isCertain, failures: data.failures }
        this.triggers.set(trigger.key.toString(), promised)
      }
    }
  }
}

function calendarOf({ calendarName }: Trigger): CronCalendar | null {
  return calendarName === null ? null : thirdsLeftOut
}

function toMessage({ job, triggers }: LoadEntry): { job: LoadJob; triggers: TriggerJson[] } {
  return { job, triggers: triggers.map(triggerToJSON) }
}

function once(): ScheduleBuilder<Trigger> {
  return SimpleScheduleBuilder.simpleSchedule()
}

function simple(everyMs: number, { startMs, endMs }: Span): ScheduleBuilder<Trigger> {
  return SimpleScheduleBuilder.simpleSchedule()
    .withIntervalInMilliseconds(everyMs)
    .withRepeatCount(Math.floor((endMs - startMs) / everyMs))
    .withMisfireInstruction('ignore')
}

function cron(
  everySeconds: number,
  policy: 'ignore' | 'doNothing' | 'fireOnceNow',
): ScheduleBuilder<Trigger> {
  return CronScheduleBuilder.cronSchedule(`0/${String(everySeconds)} * * * * ?`).withMisfireInstruction(
    policy,
  )
}

function calendarInterval(seconds: number): ScheduleBuilder<Trigger> {
  return CalendarIntervalScheduleBuilder.calendarIntervalSchedule()
    .withIntervalInSeconds(seconds)
    .withMisfireInstruction('ignore')
}

function daily(seconds: number): ScheduleBuilder<Trigger> {
  return DailyTimeIntervalScheduleBuilder.dailyTimeIntervalSchedule()
    .withIntervalInSeconds(seconds)
    .withMisfireInstruction('ignore')
}
