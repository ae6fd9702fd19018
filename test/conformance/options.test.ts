import { expect, test } from 'vitest'
import { ramJobStore } from '../../src/index.ts'
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

test('a case that failed says why, whatever the shutdown says, and leaves nothing behind', async () => {
  const destroyed: string[] = []
  const cases = jobStoreConformance({
    name: 'faulty',
    capabilities: { persistent: false, clustered: false },
    create: () => {
      const store = ramJobStore()
      store.getCalendarNames = () => Promise.reject(new Error('no calendars'))
      store.shutdown = () => Promise.reject(new Error('no shutdown'))
      return store
    },
    destroy: (id) => {
      destroyed.push(id)
    },
  })
  const messages = new Set<string>()
  for (const { run } of cases.filter(({ area }) => area === 'calendars')) {
    await run().catch((error: unknown) => messages.add((error as Error).message))
  }
  expect(messages).toContain('no calendars')
  expect(destroyed.length).toBeGreaterThan(0)
})

test('every store of a case is given names that no other one is given', async () => {
  const given = new Map<string, string[]>()
  const cases = jobStoreConformance({
    name: 'named',
    capabilities: { persistent: true, clustered: true },
    create: (dataId) => {
      const store = ramJobStore()
      const initialize = store.initialize.bind(store)
      store.initialize = (context) => {
        given.set(dataId, [...(given.get(dataId) ?? []), context.ids.uniqueName()])
        return initialize(context)
      }
      return store
    },
  })
  // They fail over data that no two stores share.
  for (const { run } of cases.filter(({ area }) => area === 'cluster')) await run().catch(() => {})
  const ofMany = [...given.values()].filter((names) => names.length > 1)
  expect(ofMany.length).toBeGreaterThan(2)
  for (const names of ofMany) expect(new Set(names).size).toBe(names.length)
})
