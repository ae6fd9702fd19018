import type { JobStoreContext } from './job-store.ts'

/**
 * Failures in a row of something that a store tries again and again. The first one is reported; each further one is
 * logged for debugging, because trouble that lasts a night would be thousands of errors, and as many alerts.
 */
export class FailureSeries {
  readonly #context: Pick<JobStoreContext, 'logger' | 'signaler'>
  #count = 0

  constructor(context: Pick<JobStoreContext, 'logger' | 'signaler'>) {
    this.#context = context
  }

  add(message: string, error: unknown): void {
    const { logger, signaler } = this.#context
    this.#count++
    if (this.#count === 1) signaler.storeError(message, error)
    else logger.debug({ err: error, failures: this.#count }, message)
  }

  /** It has succeeded, which the log says when it had failed before. */
  end(message: string): void {
    if (this.#count > 0) this.#context.logger.info({ failures: this.#count }, message)
    this.#count = 0
  }
}
