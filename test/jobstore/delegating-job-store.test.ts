import { describe, expect, test } from 'vitest'
import { InvalidArgumentError } from '../../src/core/errors.ts'
import { JobKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobAndTriggers } from '../../src/jobstore/job-and-triggers.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { jobStoreConformance } from '../../src/testing/job-store/conformance.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { FaultyJobStore } from '../support/faulty-job-store.ts'

describe('a store that delegates conforms as the inner one does', () => {
  const cases = jobStoreConformance({
    name: 'delegating',
    create: () => new FaultyJobStore(new RAMJobStore()),
    capabilities: { persistent: false, clustered: false, history: true, records: true },
  })
  test.each(cases)('$area: $name', ({ run }) => run())
})

test('a store that delegates passes on what watches for changes of others', () => {
  const changes = { watch: () => () => {} }
  expect(new FaultyJobStore(Object.assign(new RAMJobStore(), { changes })).changes).toBe(changes)
  expect(new FaultyJobStore(new RAMJobStore()).changes).toBeNull()
})

test('a store that delegates refuses what the inner one cannot keep, and nothing else', () => {
  const entry = { job: null, triggers: [TriggerBuilder.newTrigger().forJob('j').build()] }
  const refused: JobAndTriggers[] = []
  const requireStorable = (asked: JobAndTriggers): void => {
    refused.push(asked)
    throw new InvalidArgumentError('name', 'No room.')
  }
  const store = new FaultyJobStore(Object.assign(new RAMJobStore(), { requireStorable }))
  expect(() => {
    store.requireStorable(entry)
  }).toThrow('No room.')
  expect(refused).toEqual([entry])
  new FaultyJobStore(new RAMJobStore()).requireStorable(entry)
})

describe('a faulty store', () => {
  const job = new JobKey('job')

  test('fails the next call of the named operation, once', async () => {
    const store = new FaultyJobStore(new RAMJobStore())
    store.failOn({ operation: 'getJob' })
    await expect(store.getTriggersOfJob(job)).resolves.toEqual([])
    await expect(store.getJob(job)).rejects.toMatchObject({ code: 'ERR_JOB_PERSISTENCE' })
    await expect(store.getJob(job)).resolves.toBeNull()
    expect(store.calls).toEqual(['getTriggersOfJob', 'getJob', 'getJob'])
    expect(store.callsOf('getJob')).toBe(2)
  })

  test('fails as many calls from the nth on as it is told, whatever they are', async () => {
    const store = new FaultyJobStore(new RAMJobStore())
    store.failOn({ nth: 2, times: 2, error: new Error('on purpose') })
    await store.getJob(job)
    await expect(store.getCalendarNames()).rejects.toThrow('on purpose')
    await expect(store.getJobKeys(GroupMatcher.anyGroup())).rejects.toThrow('on purpose')
    await store.getCalendarNames()
  })

  test('can do the work and lose the answer', async () => {
    const inner = new RAMJobStore()
    const store = new FaultyJobStore(inner)
    store.failOn({ operation: 'getCalendarNames', when: 'after', times: Number.POSITIVE_INFINITY })
    await expect(store.getCalendarNames()).rejects.toThrow('getCalendarNames')
    await expect(store.getCalendarNames()).rejects.toThrow('getCalendarNames')
    store.heal()
    await expect(store.getCalendarNames()).resolves.toEqual([])
  })
})
