import type { AcquireAndFireRequest } from '../../../job-store.ts'

type Due = { readonly jobType: string }

/** How many triggers a search may still take: those that a thread is free for, and those that need none. */
export class BatchPlaces<Trigger extends Due> {
  readonly #isFired: (trigger: Trigger) => boolean
  readonly #roomOf: (jobType: string) => number
  #threads: number
  #besideCount: number
  /** How many need no thread, by job type. */
  readonly #taken = new Map<string, number>()

  /** `isFired` says which triggers the search fires: a claim needs a thread, whatever its job. */
  constructor(
    { maxCount, beside }: Pick<AcquireAndFireRequest, 'beside' | 'maxCount'>,
    isFired: (trigger: Trigger) => boolean,
  ) {
    this.#isFired = isFired
    this.#roomOf = beside?.roomOf ?? (() => 0)
    this.#threads = maxCount
    this.#besideCount = beside?.maxCount ?? 0
  }

  /** For how many triggers there is a thread. */
  get threads(): number {
    return this.#threads
  }

  get count(): number {
    return this.#threads + this.#besideCount
  }

  /** Those of these triggers that have a place if each of them takes it. */
  fitting(found: readonly Trigger[]): readonly Trigger[] {
    if (this.#besideCount === 0) return found.slice(0, this.#threads)
    const beside = { maxCount: this.#besideCount, roomOf: (jobType: string) => this.#roomLeft(jobType) }
    const rest = new BatchPlaces({ maxCount: this.#threads, beside }, this.#isFired)
    return found.filter((trigger) =>
      this.#isFired(trigger) ? rest.takeForFiring(trigger.jobType) : rest.takeForClaim(),
    )
  }

  /** False when there is no place. */
  takeForFiring(jobType: string): boolean {
    if (this.#besideCount === 0 || this.#roomLeft(jobType) <= 0) return this.takeForClaim()
    this.#besideCount--
    this.#taken.set(jobType, (this.#taken.get(jobType) ?? 0) + 1)
    return true
  }

  /** False when there is no place. */
  takeForClaim(): boolean {
    if (this.#threads === 0) return false
    this.#threads--
    return true
  }

  /** Ends the search: a trigger that is due has no place, so that to lock further ones would be for little. */
  close(): void {
    this.#threads = 0
    this.#besideCount = 0
  }

  #roomLeft(jobType: string): number {
    return this.#roomOf(jobType) - (this.#taken.get(jobType) ?? 0)
  }
}
