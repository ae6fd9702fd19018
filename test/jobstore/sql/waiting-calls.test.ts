import { expect, test } from 'vitest'
import type { JobAndTriggers } from '../../../src/jobstore/job-and-triggers.ts'
import { WaitingCalls } from '../../../src/jobstore/sql/programs/scheduling/waiting-calls.ts'
import { jobDetail } from '../../../src/testing/job-store/testbed.ts'
import { TriggerBuilder } from '../../../src/triggers/families/trigger-builder.ts'

const jobs = (...names: readonly string[]): JobAndTriggers[] =>
  names.map((name) => ({ job: jobDetail(name), triggers: [] }))

const triggerOf = (job: string, name: string): JobAndTriggers => {
  const trigger = TriggerBuilder.newTrigger().withIdentity(name).forJob(jobDetail(job)).build()
  return { job: null, triggers: [trigger] }
}

function callsThatWait() {
  const calls = new WaitingCalls()
  const names = new Map<Promise<void>, string>()
  const deletions: (() => void)[] = []
  /** Adds a call; answers the names of those that it waits for. */
  const wait = (name: string, ...entries: readonly JobAndTriggers[]): readonly string[] => {
    const ahead = calls.ahead({ entries }).map((end) => names.get(end) ?? '?')
    const end = Promise.resolve()
    names.set(end, name)
    calls.add({ entries }, end)
    deletions.push(() => {
      calls.delete({ entries }, end)
    })
    return ahead
  }
  return { calls, wait, deletions }
}

test('each of many calls for a job waits for the one before it, also behind a call that waits for several', () => {
  const { wait } = callsThatWait()
  wait('a', ...jobs('a'))
  wait('b', ...jobs('b'))
  expect(wait('call 0', ...jobs('a', 'b'))).toEqual(['a', 'b'])
  for (let call = 1; call < 300; call++) {
    expect(wait(`call ${call}`, ...jobs('a'))).toEqual([`call ${call - 1}`])
  }
})

test('calls that name a job wait for the one that stores it, and the next that stores it waits for them', () => {
  const { wait } = callsThatWait()
  wait('stores', ...jobs('a'))
  expect(wait('names', triggerOf('a', 't1'))).toEqual(['stores'])
  expect(wait('names too', triggerOf('a', 't2'))).toEqual(['stores'])
  expect(wait('stores again', ...jobs('a'))).toEqual(['stores', 'names', 'names too'])
  expect(wait('of another job', triggerOf('other', 't1'))).toEqual(['names'])
})

test('nothing waits for calls that have ended', () => {
  const { calls, wait, deletions } = callsThatWait()
  wait('first', ...jobs('a', 'b'))
  wait('second', triggerOf('a', 't'))
  wait('third', ...jobs('a'), triggerOf('b', 't'))
  expect(calls.isEmpty).toBe(false)
  for (const endCall of deletions) endCall()
  expect(calls.isEmpty).toBe(true)
})
