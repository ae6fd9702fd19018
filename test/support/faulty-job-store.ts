import { JobPersistenceError } from '../../src/core/errors.ts'
import { DelegatingJobStore, type JobStoreOperation } from '../../src/jobstore/delegating-job-store.ts'

export interface Fault {
  /** Fails calls of this operation only; without it calls of all operations count. */
  readonly operation?: JobStoreOperation
  /** Which of the calls that count from now on fails first; 1 is the next one. Default 1. */
  readonly nth?: number
  /** How many calls fail in a row from there. Default 1; infinite fails for ever. */
  readonly times?: number
  /** `before` fails without doing anything, `after` does it and loses the answer. Default `before`. */
  readonly when?: 'before' | 'after'
  /** What the call rejects with. Default: a JobPersistenceError that names the operation. */
  readonly error?: Error
}

interface ArmedFault extends Fault {
  /** Calls that counted so far. */
  seen: number
}

/** A store that does what the inner one does, except where it was told to fail, and notes every call. */
export class FaultyJobStore extends DelegatingJobStore {
  /** Every operation called so far, in order, failed ones too. */
  readonly calls: JobStoreOperation[] = []
  #faults: ArmedFault[] = []

  failOn(fault: Fault = {}): void {
    this.#faults.push({ ...fault, seen: 0 })
  }

  /** Forgets all faults. */
  heal(): void {
    this.#faults = []
  }

  callsOf(operation: JobStoreOperation): number {
    return this.calls.filter((call) => call === operation).length
  }

  protected override async around<Answer>(
    operation: JobStoreOperation,
    proceed: () => Promise<Answer>,
  ): Promise<Answer> {
    this.calls.push(operation)
    const fault = this.#faultOf(operation)
    if (fault === null) return proceed()
    if (fault.when === 'after') await proceed()
    throw fault.error ?? new JobPersistenceError(`The store failed on purpose at ${operation}.`)
  }

  /** Counts the call for every fault, and answers the first one that strikes. */
  #faultOf(operation: JobStoreOperation): Fault | null {
    let striking: Fault | null = null
    for (const fault of this.#faults) {
      if (fault.operation !== undefined && fault.operation !== operation) continue
      fault.seen++
      const first = fault.nth ?? 1
      const isStruck = fault.seen >= first && fault.seen < first + (fault.times ?? 1)
      if (isStruck) striking ??= fault
    }
    return striking
  }
}
