import type { JobStoreCapabilities } from '../../jobstore/job-store-capabilities.ts'
import type { Testbed } from './testbed.ts'

/** Further stores for a case, besides its testbed. */
export interface StoreCaseTools {
  readonly capabilities: JobStoreCapabilities
  /** Another store over the data of the same case, initialized; for stores that are persistent or clustered. */
  readonly reopen: () => Promise<Testbed>
  /** A store over data of its own that was not initialized yet. */
  readonly createRaw: () => Promise<Testbed>
}

export type StoreCaseBody = (bed: Testbed, tools: StoreCaseTools) => Promise<void>

export interface StoreCase {
  readonly area: string
  readonly name: string
  /** Stores without these capabilities do not run the case. */
  readonly needs: Partial<JobStoreCapabilities>
  readonly body: StoreCaseBody
}

/** Makes the cases of one area of a table: sentence -> body. */
export function area(
  name: string,
  cases: Readonly<Record<string, StoreCaseBody>>,
  needs: Partial<JobStoreCapabilities> = {},
): readonly StoreCase[] {
  return Object.entries(cases).map(([sentence, body]) => ({ area: name, name: sentence, needs, body }))
}
