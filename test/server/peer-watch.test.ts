import { expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { ExecutionSummary } from '../../src/jobstore/queries.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { type PeerEvent, PeerWatch } from '../../src/server/live/peer-watch.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

/** What a server sees of a node that dies while an execution is in flight there, which began at this instant. */
function dyingPeer(fireTimeMs: number): { readonly scheduler: Scheduler; readonly die: () => void } {
  const execution = {
    node: 'n1',
    jobKey: jobKey('long', 'mail'),
    triggerKey: triggerKey('long', 'mail'),
    fireInstanceId: 'n1-1',
    fireTimeMs,
    scheduledFireTimeMs: fireTimeMs,
  }
  const lost: Partial<ExecutionSummary> = { ...execution, outcome: 'lost', finishedTimeMs: null }
  let isAlive = true
  const face = {
    schedulerInstanceId: 'looker',
    isShutdown: false,
    cluster: {
      onChange: () => () => {},
      executingJobs: async () => (isAlive ? [execution] : []),
    },
    queryExecutions: async () => ({ items: isAlive ? [] : [lost], next: null }),
    getExecution: async () => lost,
    getMetaData: () => ({ jobStoreClustered: true, jobStorePersistent: true, runningSince: null }),
  }
  return {
    scheduler: face as unknown as Scheduler,
    die: () => {
      isAlive = false
    },
  }
}

test('the loss of an execution that was in flight for long on another node is told', async () => {
  const clock = new ManualClock()
  const { scheduler, die } = dyingPeer(clock.now() - 600_000)
  const heard: PeerEvent[] = []
  const watch = new PeerWatch(scheduler, { clock, logger: silentLogger }, (event) => {
    heard.push(event)
  })
  await clock.advance(1000)
  die()
  await clock.advance(1000)
  await clock.advance(1000)
  expect(heard).toMatchObject([{ event: 'executionLost', fireInstanceId: 'n1-1', atMs: clock.now() - 1000 }])
  watch.stop()
})
