import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import type { JobAndTriggers } from '../../../job-and-triggers.ts'

interface Request {
  readonly entries: readonly JobAndTriggers[]
}

/** The ends of calls that touch one key. */
interface Touching {
  /** Of the last call that stores what has the key; it comes after all that touched the key before. */
  storing: Promise<void> | null
  /** Of the calls since then that name the key: they do not depend on each other. */
  readonly naming: Set<Promise<void>>
}

/**
 * The calls to schedule that wait, by the keys that they touch. A call that depends on others comes after the last of
 * them for each key, which came after those before it: so it waits for few, however many wait, and for none that was
 * made later.
 */
export class WaitingCalls {
  readonly #jobs = new KeyMap<JobKey, Touching>()
  readonly #triggers = new KeyMap<TriggerKey, Touching>()

  get isEmpty(): boolean {
    return this.#jobs.size === 0 && this.#triggers.size === 0
  }

  /** The ends of the calls that must come before this one. */
  ahead({ entries }: Request): readonly Promise<void>[] {
    const ends = new Set<Promise<void>>()
    const addStoring = (touching: Touching | undefined): void => {
      if (touching?.storing) ends.add(touching.storing)
    }
    for (const { job, triggers } of entries) {
      if (job !== null) {
        const touching = this.#jobs.get(job.key)
        addStoring(touching)
        for (const end of touching?.naming ?? []) ends.add(end)
      }
      for (const { key, jobKey } of triggers) {
        addStoring(this.#triggers.get(key))
        if (jobKey !== null) addStoring(this.#jobs.get(jobKey))
      }
    }
    return [...ends]
  }

  /** Adds a call that begins when those of `ahead` have ended; it is to be deleted when it has ended itself. */
  add({ entries }: Request, end: Promise<void>): void {
    for (const { job, triggers } of entries) {
      if (job !== null) this.#jobs.set(job.key, { storing: end, naming: new Set() })
      for (const { key, jobKey } of triggers) {
        this.#triggers.set(key, { storing: end, naming: new Set() })
        if (jobKey === null) continue
        const touching = this.#jobs.get(jobKey) ?? { storing: null, naming: new Set() }
        touching.naming.add(end)
        this.#jobs.set(jobKey, touching)
      }
    }
  }

  delete({ entries }: Request, end: Promise<void>): void {
    for (const { job, triggers } of entries) {
      if (job !== null) forget(this.#jobs, job.key, end)
      for (const { key, jobKey } of triggers) {
        forget(this.#triggers, key, end)
        if (jobKey !== null) forget(this.#jobs, jobKey, end)
      }
    }
  }
}

function forget<Key extends JobKey | TriggerKey>(
  touched: KeyMap<Key, Touching>,
  key: Key,
  end: Promise<void>,
): void {
  const touching = touched.get(key)
  if (touching === undefined) return
  touching.naming.delete(end)
  if (touching.storing === end) touching.storing = null
  if (touching.storing === null && touching.naming.size === 0) touched.delete(key)
}
