import { compareKeys } from '../../src/core/key.ts'
import type { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobDetail } from '../../src/jobs/job-detail.ts'
import type { AcquiredTrigger } from '../../src/jobstore/job-store.ts'
import type { StoredTriggerState } from '../../src/jobstore/trigger-state.ts'
import type { Calendar } from '../../src/triggers/calendars/calendar.ts'
import type { Trigger } from '../../src/triggers/trigger.ts'

export interface ModelTrigger {
  trigger: Trigger
  state: StoredTriggerState
  claim: string | null
  /** When it was claimed last. */
  claimedMs?: number
}

export interface ModelExecution {
  readonly id: string
  readonly job: string
}

export const textOf = (key: { toString(): string } | null): string => String(key)

/** What the model of a store holds, and ways to look at it. */
export class ModelLists {
  jobs: JobDetail[] = []
  triggers: ModelTrigger[] = []
  calendars: { readonly name: string; readonly calendar: Calendar }[] = []
  pausedTriggerGroups: string[] = []
  pausedJobGroups: string[] = []
  pausesNewGroups = false
  executions: ModelExecution[] = []
  unknownJobTypes: string[] = []
  /** What the scheduler is told, as text. */
  told: string[] = []
  nowMs = 0
  /** Whether a store that meets a late trigger treats all that are late, and not only those it comes to. */
  treatsLateTogether = false
  protected readonly misfireThresholdMs: number

  constructor(misfireThresholdMs: number) {
    this.misfireThresholdMs = misfireThresholdMs
  }

  find(key: string): ModelTrigger | undefined {
    return this.triggers.find(({ trigger }) => textOf(trigger.key) === key)
  }

  /** The triggers that may be claimed now, the first one first. */
  acquirable(): ModelTrigger[] {
    const free = this.triggers.filter((each) => each.state === 'WAITING' && this.mayBeClaimed(each))
    return free.sort(
      (a, b) =>
        (a.trigger.nextFireTimeMs ?? 0) - (b.trigger.nextFireTimeMs ?? 0) ||
        b.trigger.priority - a.trigger.priority ||
        compareKeys(a.trigger.key, b.trigger.key),
    )
  }

  protected mayBeClaimed({ trigger }: ModelTrigger): boolean {
    const job = this.job(textOf(trigger.jobKey))
    if (job === undefined || this.unknownJobTypes.includes(job.jobType)) return false
    const isTaken = this.triggersOf(textOf(job.key)).some(({ state }) => state === 'ACQUIRED')
    return !(job.disallowConcurrentExecution && isTaken)
  }

  protected job(key: string): JobDetail | undefined {
    return this.jobs.find((job) => textOf(job.key) === key)
  }

  protected triggersOf(job: string): ModelTrigger[] {
    return this.triggers.filter(({ trigger }) => textOf(trigger.jobKey) === job)
  }

  protected held({ trigger, fireInstanceId }: AcquiredTrigger): ModelTrigger | undefined {
    const found = this.find(textOf(trigger.key))
    return found?.claim === fireInstanceId ? found : undefined
  }

  protected triggerGroups(): string[] {
    return [...new Set(this.triggers.map(({ trigger }) => trigger.key.group))]
  }

  protected jobGroups(): string[] {
    return [...new Set(this.jobs.map(({ key }) => key.group))]
  }

  protected groupsToPause(existing: readonly string[], matcher: GroupMatcher): string[] {
    const groups = existing.filter((group) => matcher.isMatchGroup(group))
    return matcher.operator === 'equals' ? [matcher.operand] : groups
  }

  protected isGroupPaused(trigger: Trigger): boolean {
    const jobGroup = trigger.jobKey?.group ?? ''
    return this.pausedTriggerGroups.includes(trigger.key.group) || this.pausedJobGroups.includes(jobGroup)
  }

  protected isMisfired({ nextFireTimeMs, misfireInstruction }: Trigger): boolean {
    return (
      nextFireTimeMs !== null &&
      nextFireTimeMs <= this.nowMs - this.misfireThresholdMs &&
      misfireInstruction !== 'ignore'
    )
  }

  /** Null for no calendar; undefined when there is none of the name. */
  protected calendarNamed(calendarName: string | null): Calendar | null | undefined {
    if (calendarName === null) return null
    return this.calendars.find(({ name }) => name === calendarName)?.calendar
  }

  /** The calendar of a trigger; when it is missing the trigger goes to ERROR and the answer is undefined. */
  protected calendarOf(each: ModelTrigger): Calendar | null | undefined {
    const calendar = this.calendarNamed(each.trigger.calendarName)
    if (calendar !== undefined) return calendar
    each.state = 'ERROR'
    this.told.push(`in error ${textOf(each.trigger.key)}`)
    return undefined
  }
}
