import { describe, expect, test } from 'vitest'
import { createScheduler } from '../../src/index.ts'
import { DelegatingJobStore } from '../../src/jobstore/delegating-job-store.ts'
import type { JobStoreCapabilities } from '../../src/jobstore/job-store-capabilities.ts'
import { ramJobStore } from '../../src/jobstore/ram/ram-job-store.ts'

/** A store that says of itself that several nodes may share it. */
class SharedStore extends DelegatingJobStore {
  override get capabilities(): JobStoreCapabilities {
    return { ...this.inner.capabilities, clustered: true }
  }
}

describe('a scheduler that is given no instance id', () => {
  test('has the name of Quartz where nodes are alone', async () => {
    await using scheduler = await createScheduler()
    expect(scheduler.getMetaData().schedulerInstanceId).toBe('NON_CLUSTERED')
  })

  test('has one of its own where nodes share a store', async () => {
    await using first = await createScheduler({ jobStore: new SharedStore(ramJobStore()) })
    await using second = await createScheduler({ jobStore: new SharedStore(ramJobStore()) })
    expect(first.getMetaData().schedulerInstanceId).not.toBe(second.getMetaData().schedulerInstanceId)
    expect(first.getMetaData().schedulerInstanceId.length).toBeLessThanOrEqual(54)
  })
})
