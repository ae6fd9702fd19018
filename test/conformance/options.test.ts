import { expect, test } from 'vitest'
import { jobStoreConformance, threadPoolConformance } from '../../src/testing.ts'

const store = { name: 'mine', create: () => ({}), capabilities: { persistent: false, clustered: false } }
const pool = { create: () => ({}), runsWorkerJobs: false }

test.each([
  ['options', undefined],
  ['name', { ...store, name: undefined }],
  ['create', { ...store, create: 'MyStore' }],
  ['capabilities', { ...store, capabilities: undefined }],
  ['capabilities.persistent', { ...store, capabilities: {} }],
  ['histroy', { ...store, capabilities: { ...store.capabilities, histroy: true } }],
  ['stores', { ...store, stores: 1 }],
])('jobStoreConformance refuses a wrong %s', (field, options) => {
  expect(() => jobStoreConformance(options as never)).toThrow(expect.objectContaining({ field }))
})

test.each([
  ['options', undefined],
  ['create', { ...pool, create: undefined }],
  ['runsWorkerJobs', { create: pool.create }],
  ['pools', { ...pool, pools: 1 }],
])('threadPoolConformance refuses a wrong %s', (field, options) => {
  expect(() => threadPoolConformance(options as never)).toThrow(expect.objectContaining({ field }))
})
