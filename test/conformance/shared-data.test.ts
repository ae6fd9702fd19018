import { describe, test } from 'vitest'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreContext } from '../../src/jobstore/job-store.ts'
import type { JobStoreCapabilities } from '../../src/jobstore/job-store-capabilities.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { storeInUse } from '../../src/jobstore/refusals.ts'
import { jobStoreConformance } from '../../src/testing/job-store/conformance.ts'

const capabilities: JobStoreCapabilities = {
  persistent: true,
  clustered: true,
  changesDefinitions: true,
}

/** Several stores over one RAM store that outlives them: as much of a database as the suite can see. */
class SharedRamStore extends DelegatingJobStore {
  readonly #data: { isInitialized: boolean }
  #hasOwner = false

  constructor(inner: RAMJobStore, data: { isInitialized: boolean }) {
    super(inner)
    this.#data = data
  }
  override get capabilities(): JobStoreCapabilities {
    return capabilities
  }
  /** Nodes would see each other's, as in a database, only with more than a RAM store has. */
  override get records(): null {
    return null
  }
  override async initialize(context: JobStoreContext): Promise<void> {
    if (this.#hasOwner) throw storeInUse(this.name, context.schedulerName)
    this.#hasOwner = true
    if (this.#data.isInitialized) return
    this.#data.isInitialized = true
    await super.initialize(context)
  }
  override async shutdown(): Promise<void> {}
}

describe('stores over shared data conform', () => {
  const databases = new Map<string, { inner: RAMJobStore; isInitialized: boolean }>()
  const cases = jobStoreConformance({
    name: 'shared',
    create: (dataId) => {
      const data = databases.get(dataId) ?? { inner: new RAMJobStore(), isInitialized: false }
      databases.set(dataId, data)
      return new SharedRamStore(data.inner, data)
    },
    destroy: (dataId) => {
      databases.delete(dataId)
    },
    capabilities,
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})
