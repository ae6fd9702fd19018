import { expect, test } from 'vitest'
import type { Logger } from '../../../../src/core/logger.ts'
import type { Scheduler } from '../../../../src/scheduler/scheduler.ts'
import { TestCluster } from '../../../support/cluster.ts'

type Warning = readonly [node: string, fields: unknown]

/** Starts a node with such limits that notes what it warns of. */
function starter(cluster: TestCluster, warned: Warning[]) {
  return (instanceId: string, limits?: Readonly<Record<string, number>>): Promise<Scheduler> => {
    const quiet = (): void => {}
    const warn: Logger['warn'] = (fields, message) => {
      expect(message).toMatch(
        /^nodes of this cluster have different jobGroupLimits, .* give all nodes the same$/,
      )
      warned.push([instanceId, fields])
    }
    const jobGroupLimits = limits && { jobGroupLimits: new Map(Object.entries(limits)) }
    const logger = { debug: quiet, info: quiet, warn, error: quiet }
    return cluster.startScheduler(instanceId, { logger, ...jobGroupLimits })
  }
}

test('nodes with different limits for groups of jobs warn once of each start of the other', async () => {
  const cluster = await TestCluster.open()
  const warned: Warning[] = []
  const start = starter(cluster, warned)
  await start('a', { reports: 2, mails: 5 })
  await start('b', { mails: 5, reports: 2 })
  await cluster.clock.advance(10_000)
  expect(warned).toEqual([])
  const other = await start('c', { reports: 3, mails: 5 })
  await cluster.clock.advance(10_000)
  const here = ['a', 'b'].map((node) => [node, { node: 'c', theirs: { reports: 3 }, own: { reports: 2 } }])
  const there = ['a', 'b'].map((node) => ['c', { node, theirs: { reports: 2 }, own: { reports: 3 } }])
  expect(warned.toSorted()).toEqual([...here, ...there])
  warned.length = 0
  await other.shutdown()
  await cluster.clock.advance(10_000)
  await start('c')
  await cluster.clock.advance(10_000)
  expect(warned.filter(([node]) => node !== 'c')).toEqual(
    ['a', 'b'].map((node) => [
      node,
      { node: 'c', theirs: { mails: null, reports: null }, own: { mails: 5, reports: 2 } },
    ]),
  )
})

test('nodes that do not say their limits, as those of older versions, are not warned of', async () => {
  const cluster = await TestCluster.open()
  const warned: Warning[] = []
  await starter(cluster, warned)('a', { reports: 2 })
  const old = { version: '0.1.0', pid: 1, host: 'h', jobTypes: [], locking: null, clockOffsetMs: 0 }
  const rows = [
    { ...old, failedAfterMs: 60_000 },
    { ...old, failedAfterMs: 60_000, jobGroupLimits: [3] },
  ]
  for (const [index, info] of rows.entries()) {
    await cluster.sql(
      `INSERT INTO qrtz_scheduler_state
         (sched_name, instance_name, boot_id, last_checkin_time, checkin_interval, node_info)
       SELECT sched_name, 'old' || ?, 'boot', last_checkin_time, 60000, ? FROM qrtz_scheduler_state LIMIT 1`,
      index,
      JSON.stringify(info),
    )
  }
  await cluster.clock.advance(5_000)
  expect(await cluster.members()).toEqual(['a', 'old0', 'old1'])
  expect(warned).toEqual([])
})
