import { describe, expect, test } from 'vitest'
import { type LeftFor, PassedTriggers } from '../../../../src/jobstore/sql/session/passed-triggers.ts'
import { jobDetail, namesOf } from '../../../../src/testing/job-store/testbed.ts'
import { TestCluster } from '../../../support/cluster.ts'

const types: LeftFor = { unknownJobTypes: ['a'], fullGroups: [], node: null, unread: [] }
const both: LeftFor = { ...types, fullGroups: ['g'] }

function passed(leftFor: LeftFor, untilMs = 500): PassedTriggers {
  const triggers = new PassedTriggers()
  triggers.note(untilMs, leftFor, 1000, triggers.version)
  return triggers
}

describe('triggers that searches pass over', () => {
  test('are begun behind by a search that leaves as much, and by no other', () => {
    expect(passed(types).endFor(types, 1000)).toBe(500)
    expect(passed(types).endFor(both, 1000)).toBe(500)
    expect(passed(both).endFor(types, 1000)).toBeNull()
    expect(passed({ ...types, node: 'n' }).endFor(types, 1000)).toBeNull()
    expect(passed({ ...types, unknownJobTypes: [] }).endFor(types, 1000)).toBeNull()
  })

  test('that Java wrote and this node never reads are begun behind by every search', () => {
    const ofJava = { ...types, unknownJobTypes: [], unread: [{ zone: 'GMT+02:00', expression: null }] }
    expect(passed(ofJava).endFor(types, 1000)).toBe(500)
    expect(passed(types).endFor(ofJava, 1000)).toBeNull()
  })

  test('are never those that are due now or later', () => {
    expect(passed(types, 5000).endFor(types, 1000)).toBe(999)
  })

  test('are looked at again after five seconds, also when the end was moved or the clock put back', () => {
    const triggers = passed(types)
    triggers.note(4000, types, 5000, triggers.version)
    expect([5999, 6000, 999].map((nowMs) => triggers.endFor(types, nowMs))).toEqual([4000, null, null])
  })

  test('end before what becomes available', () => {
    const triggers = passed(types)
    triggers.takeBack(700, 1000)
    expect(triggers.endFor(types, 1000)).toBe(500)
    triggers.takeBack(400, 1000)
    expect(triggers.endFor(types, 1000)).toBe(399)
    triggers.takeBack(null, 1000)
    expect(triggers.endFor(types, 1000)).toBeNull()
  })

  test('are not noted by a search during which something became available', () => {
    const triggers = new PassedTriggers()
    const { version } = triggers
    triggers.takeBack(400, 1000)
    triggers.note(500, types, 1000, version)
    expect(triggers.endFor(types, 1000)).toBeNull()
  })

  test('hide nothing that was scheduled, resumed or released among them', async () => {
    const cluster = await TestCluster.open()
    const { bed } = await cluster.startNode('a')
    bed.unknownJobTypes.add('foreign')
    const foreign = jobDetail('foreign', { jobType: 'foreign', durable: true })
    await bed.schedule('f', { job: foreign, inMs: 10 })
    await bed.schedule('paused', { inMs: 20 })
    await bed.store.pauseTrigger(bed.trigger('paused').key)
    await cluster.clock.advance(1000)
    expect(await bed.acquireNames()).toEqual([])
    await bed.schedule('new', { inMs: -900 })
    expect(await bed.acquireNames()).toEqual(['new'])
    await bed.store.releaseAllAcquiredTriggers()
    expect(await bed.acquireNames()).toEqual(['new'])
    await bed.store.resumeTrigger(bed.trigger('paused').key)
    expect(namesOf(await bed.acquire())).toEqual(['paused'])
    bed.unknownJobTypes.delete('foreign')
    expect(await bed.acquireNames()).toEqual(['f'])
  })
})
