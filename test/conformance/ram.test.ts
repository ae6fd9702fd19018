import { jobStoreConformance } from 'quartz-ts/testing'
import { describe, test } from 'vitest'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'

describe('RAMJobStore conforms', () => {
  const cases = jobStoreConformance({
    name: 'ram',
    create: () => new RAMJobStore(),
    capabilities: {
      persistent: false,
      clustered: false,
      history: true,
      records: true,
      sharding: true,
      awaitedResults: true,
      changesDefinitions: true,
    },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})
