import type { JobKey, TriggerKey } from '../../core/key.ts'
import { KeyMap } from '../../core/key-map.ts'
import type { EpochMs } from '../../time/clock.ts'
import {
  closestPause,
  type Pause,
  type PausedGroup,
  type PauseNote,
  type PauseTarget,
  saysSomething,
} from '../pauses.ts'
import type { PausedGroups } from './paused-groups.ts'
import type { JobRecord, TriggerRecord } from './records.ts'

/** What is known of pauses. That something is paused is said by its state, or by the remembered groups. */
export class Pauses {
  readonly #triggers = new KeyMap<TriggerKey, Pause>()
  readonly #jobs = new KeyMap<JobKey, Pause>()
  readonly #triggerGroups = new Map<string, Pause>()
  readonly #jobGroups = new Map<string, Pause>()
  #all: Pause | null = null

  /** Keeps what is said of a pause; what is known of one that is in force stays when nothing is said. */
  note(target: PauseTarget, note: PauseNote, nowMs: EpochMs): void {
    if (this.of(target) !== null && !saysSomething(note)) return
    const { reason, by, untilMs } = note
    this.#set(target, { scope: target.scope, reason, by, sinceMs: nowMs, untilMs })
  }

  of(target: PauseTarget): Pause | null {
    switch (target.scope) {
      case 'trigger':
        return this.#triggers.get(target.key) ?? null
      case 'job':
        return this.#jobs.get(target.key) ?? null
      case 'triggerGroup':
        return this.#triggerGroups.get(target.group) ?? null
      case 'jobGroup':
        return this.#jobGroups.get(target.group) ?? null
      case 'all':
        return this.#all
    }
  }

  forget(target: PauseTarget): void {
    switch (target.scope) {
      case 'trigger':
        this.#triggers.delete(target.key)
        break
      case 'job':
        this.#jobs.delete(target.key)
        break
      case 'triggerGroup':
        this.#triggerGroups.delete(target.group)
        break
      case 'jobGroup':
        this.#jobGroups.delete(target.group)
        break
      case 'all':
        this.#all = null
    }
  }

  /** Of a trigger that is paused. */
  ofTrigger({ trigger: { key }, job }: TriggerRecord, paused: PausedGroups): Pause | null {
    const jobKey = job.detail.key
    return closestPause(
      this.#triggers.get(key),
      this.#jobs.get(jobKey),
      paused.triggerGroups.has(key.group) ? this.#triggerGroups.get(key.group) : null,
      paused.jobGroups.has(jobKey.group) ? this.#jobGroups.get(jobKey.group) : null,
      paused.everyNewTriggerGroup ? this.#all : null,
    )
  }

  ofJob(job: JobRecord): Pause | null {
    const { key } = job.detail
    const own = this.#jobs.get(key)
    return closestPause(own !== undefined && job.hasPaused ? own : null, this.#jobGroups.get(key.group))
  }

  ofTriggerGroups(groups: Iterable<string>): PausedGroup[] {
    return Array.from(groups, (group) => ({ group, pause: this.#triggerGroups.get(group) ?? this.#all }))
  }

  ofJobGroups(groups: Iterable<string>): PausedGroup[] {
    return Array.from(groups, (group) => ({ group, pause: this.#jobGroups.get(group) ?? null }))
  }

  /** Whether a trigger is held by its own pause or that of its job. */
  holds({ trigger, job }: TriggerRecord): boolean {
    return this.#triggers.has(trigger.key) || this.#jobs.has(job.detail.key)
  }

  /** Forgets the pause of a job of which no trigger is paused any more; a later one of theirs is another. */
  forgetSpent(job: JobRecord): void {
    const { key } = job.detail
    if (this.#jobs.has(key) && !job.hasPaused) this.#jobs.delete(key)
  }

  jobs(): readonly JobKey[] {
    return this.#jobs.keys()
  }

  /** Those that end by themselves, the first to end first. */
  timed(): { readonly target: PauseTarget; readonly untilMs: EpochMs }[] {
    const found: { readonly target: PauseTarget; readonly untilMs: EpochMs }[] = []
    const add = (target: PauseTarget): void => {
      const untilMs = this.of(target)?.untilMs ?? null
      if (untilMs !== null) found.push({ target, untilMs })
    }
    for (const key of this.#triggers.keys()) add({ scope: 'trigger', key })
    for (const key of this.#jobs.keys()) add({ scope: 'job', key })
    for (const group of this.#triggerGroups.keys()) add({ scope: 'triggerGroup', group })
    for (const group of this.#jobGroups.keys()) add({ scope: 'jobGroup', group })
    add({ scope: 'all' })
    return found.sort((a, b) => a.untilMs - b.untilMs)
  }

  clear(): void {
    for (const key of this.#triggers.keys()) this.#triggers.delete(key)
    for (const key of this.#jobs.keys()) this.#jobs.delete(key)
    this.#triggerGroups.clear()
    this.#jobGroups.clear()
    this.#all = null
  }

  #set(target: PauseTarget, pause: Pause): void {
    switch (target.scope) {
      case 'trigger':
        this.#triggers.set(target.key, pause)
        break
      case 'job':
        this.#jobs.set(target.key, pause)
        break
      case 'triggerGroup':
        this.#triggerGroups.set(target.group, pause)
        break
      case 'jobGroup':
        this.#jobGroups.set(target.group, pause)
        break
      case 'all':
        this.#all = pause
    }
  }
}
