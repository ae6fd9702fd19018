import { type CheckIn, EventLoopCheckIns } from '../../src/jobstore/sql/cluster/check-in.ts'
import { recoverNode } from '../../src/jobstore/sql/cluster/recovery.ts'
import { register } from '../../src/jobstore/sql/cluster/registration.ts'
import { all, run } from '../../src/jobstore/sql/kernel/statement.ts'
import type { NodeRow } from '../../src/jobstore/sql/tables/nodes/node-row.ts'
import {
  type OwnRow,
  readRoll,
  type SchedulerStateTable,
} from '../../src/jobstore/sql/tables/nodes/scheduler-state-table.ts'
import { busy, idle, type Scene, type StoreOperation } from './store-operations.ts'

function ownRow({ bed }: Scene, bootId: string): OwnRow {
  const info = {
    version: '1.0.0',
    pid: 1,
    host: 'localhost',
    jobTypes: ['strict'],
    locking: null,
    clockOffsetMs: null,
    failedAfterMs: 6000,
    witness: null,
    status: null,
    eventLoopLagMs: null,
  }
  return { instanceId: bed.context.instanceId, bootId, checkInIntervalMs: 1500, info }
}

/** Lets the scheduler of the scene be a node of its cluster; answers its row. */
async function takePart(scene: Scene): Promise<{ table: SchedulerStateTable; own: OwnRow; row: NodeRow }> {
  const { bed, transactor } = scene
  const table = transactor.session.nodes
  const own = ownRow(scene, 'boot-1')
  const nowMs = bed.clock.now()
  await transactor.run(() => run(table.insert(own, nowMs)), { lock: 'cluster' })
  const { rows } = readRoll(await transactor.read(() => all(table.load(nowMs))))
  const row = rows.find(({ bootId }) => bootId === own.bootId)
  if (row === undefined) throw new Error('the node takes part')
  return { table, own, row }
}

/** One check-in as the event loop makes it. */
async function checkInOnce(scene: Scene, table: SchedulerStateTable, own: OwnRow): Promise<CheckIn> {
  const { bed, transactor } = scene
  const driver = new EventLoopCheckIns(transactor)
  const nowMs = bed.clock.now()
  const statements = { checkIn: table.checkIn(own, nowMs), look: table.load(nowMs) }
  try {
    return await new Promise<CheckIn>((resolve, reject) => {
      driver.start(
        { checkedIn: resolve, checkInFailed: reject, looked: () => {}, witnessLost: () => {} },
        {
          bootId: own.bootId,
          intervalMs: own.checkInIntervalMs,
          statements: () => statements,
          witness: () => null,
        },
      )
      driver.hurry()
    })
  } finally {
    await driver.stop()
  }
}

/** What a node does for its cluster. */
export const clusterOperations: readonly StoreOperation[] = [
  busy('a check-in', async (scene) => {
    const { table, own } = await takePart(scene)
    return () => checkInOnce(scene, table, own)
  }),
  busy('the recovery of a node that stopped to check in', async (scene) => {
    const { row } = await takePart(scene)
    return () => scene.transactor.run((tx) => recoverNode(tx, row), { lock: 'cluster' })
  }),
  busy('a start in the place of a node that died', async (scene) => {
    const { row } = await takePart(scene)
    const enters = { predecessor: row, isStart: true }
    const own = ownRow(scene, 'boot-2')
    return () => scene.transactor.run((tx) => register(tx, own, enters), { lock: 'cluster' })
  }),
  idle('a leave', async (scene) => {
    const { table, own } = await takePart(scene)
    return () => scene.transactor.run(() => run(table.leave(own)), { lock: 'none', tells: 'none' })
  }),
]
