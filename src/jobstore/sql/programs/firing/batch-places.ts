import type { AcquireAndFireRequest, FiringsBeside } from '../../../job-store.ts'

type Due = { readonly jobType: string }

/** How many triggers a search may still take: those that a thread is free for, and those that need none. */
export class BatchPlaces<Trigger extends Due> {
  readonly #beside: FiringsBeside | undefined
  readonly #isFired: (trigger: Trigger) => boolean
  #threads: number
  #besideCount: number
  /** How many need no thread, by job type. */
  readonly #taken = new Map<string, number>()

  /** `isFired` says which triggers the search fires: a claim needs a thread, whatever its job. */
  constructor(
    { maxCount, beside }: Pick<AcquireAndFireRequest, 'beside' | 'maxCount'>,
    isFired: (trigger: Trigger) => boolean,
  ) {
    this.#threads = maxCount
    this.#beside = beside
    this.#besideCount = beside?.maxCount ?? 0
    this.#isFired = isFired
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
    const taken = new Map(this.#taken)
    let threads = this.#threads
    let besideCount = this.#besideCount
    return found.filter((trigger) => {
      if (besideCount > 0 && this.#isFired(trigger) && this.#takeRoom(trigger.jobType, taken)) besideCount--
      else if (threads > 0) threads--
      else return false
      return true
    })
  }

  takeForFiring(jobType: string): void {
    if (this.#besideCount > 0 && this.#takeRoom(jobType, this.#taken)) this.#besideCount--
    else this.#threads--
  }

  takeForClaim(): void {
    this.#threads--
  }

  /** Ends the search: a trigger that is due has no place, so that to lock further ones would be for little. */
  close(): void {
    this.#threads = 0
    this.#besideCount = 0
  }

  #takeRoom(jobType: string, taken: Map<string, number>): boolean {
    const before = taken.get(jobType) ?? 0
    if (this.#beside === undefined || before >= this.#beside.roomOf(jobType)) return false
    taken.set(jobType, before + 1)
    return true
  }
}
