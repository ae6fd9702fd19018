import assert from 'node:assert/strict'
import { GroupMatcher } from '../../core/matcher.ts'
import { HolidayCalendar } from '../../triggers/calendars/holiday-calendar.ts'
import { area, type StoreCase } from './store-case.ts'
import { pausedJobGroups, pausedTriggerGroups } from './stored.ts'
import { jobDetail, namesOf, refuses } from './testbed.ts'

const survival = area(
  'persistence',
  {
    'keeps jobs, triggers with their progress, and calendars when the store is opened again': async (
      bed,
      { reopen },
    ) => {
      const calendar = new HolidayCalendar({ excludedDates: ['2026-12-25'], timeZone: 'UTC' })
      await bed.store.addCalendar('holidays', calendar, { replace: false, updateTriggers: false })
      await bed.schedule('t', { everyMs: 1000, times: 9, data: { n: 1 }, calendar: 'holidays' })
      await bed.complete(await bed.start('t'))
      const trigger = await bed.stored('t')
      await bed.store.shutdown()
      const again = await reopen()
      assert.deepEqual(await again.stored('t'), trigger)
      assert.deepEqual(await again.store.getJob(bed.job.key), bed.job)
      assert.deepEqual((await again.store.getCalendar('holidays'))?.toJSON(), calendar.toJSON())
    },
    'gives the firings of a later run other ids': async (bed, { reopen }) => {
      await bed.schedule('t', { everyMs: 1000 })
      const first = await bed.start('t')
      await bed.complete(first)
      await bed.store.shutdown()
      const again = await reopen()
      await again.clock.advance(1000)
      assert.notEqual((await again.start('t')).fireInstanceId, first.fireInstanceId)
    },
    'keeps states and remembered pauses when the store is opened again': async (bed, { reopen }) => {
      await bed.scheduleAll([bed.trigger('error', { everyMs: 1000 }), bed.trigger('paused', { inMs: 1000 })])
      await bed.putInError('error')
      await bed.store.pauseAll()
      await bed.store.pauseJobs(GroupMatcher.groupEquals('jobs'))
      await bed.store.shutdown()
      const again = await reopen()
      assert.deepEqual(await again.states('error', 'paused'), ['ERROR', 'PAUSED'])
      assert.deepEqual(await pausedTriggerGroups(again.store), ['DEFAULT'])
      assert.deepEqual(await pausedJobGroups(again.store), ['jobs'])
      await again.schedule('new', { group: 'new' })
      assert.equal(await again.state('new', 'new'), 'PAUSED')
    },
  },
  { persistent: true },
)

const sharing = area(
  'cluster',
  {
    'shows every node what another one stored': async (bed, { reopen }) => {
      const other = await reopen()
      const trigger = await bed.schedule('t')
      assert.deepEqual(await other.stored('t'), trigger)
      await other.store.pauseTrigger(trigger.key)
      assert.equal(await bed.state('t'), 'PAUSED')
    },
    'gives each due trigger to one node': async (bed, { reopen }) => {
      const other = await reopen()
      const names = Array.from({ length: 40 }, (_, index) => `t${String(index)}`)
      await bed.scheduleAll(names.map((name) => bed.trigger(name)))
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? bed : other).acquire({ maxCount: 5 })),
      )
      const rest = [await bed.acquire({ maxCount: 40 }), await other.acquire({ maxCount: 40 })]
      assert.deepEqual([...claims, ...rest].flatMap(namesOf).sort(), names.sort())
    },
    'gives the firings of each node other ids': async (bed, { reopen }) => {
      const other = await reopen()
      const ids: string[] = []
      for (const [name, node] of [
        ['a', bed],
        ['b', other],
        ['c', bed],
        ['d', other],
      ] as const) {
        await bed.schedule(name)
        ids.push((await node.start(name)).fireInstanceId)
      }
      assert.equal(new Set(ids).size, ids.length)
    },
    'says of each node what it does, how late its loop is and how much it runs': async (bed, { reopen }) => {
      bed.nodeReport = { status: 'draining', eventLoopLagMs: 2.5 }
      await bed.schedule('t')
      await bed.store.schedulerStarted()
      await bed.start('t')
      const { cluster } = (await reopen()).store
      // A store may have no view of its nodes.
      if (cluster === null) return
      const shown = (await cluster.nodes()).map(({ isSelf, status, eventLoopLagMs, executing }) => [
        isSelf,
        status,
        eventLoopLagMs,
        executing,
      ])
      assert.deepEqual(shown, [[false, 'draining', 2.5, 1]])
    },
    'does not remove a node that checks in, nor one that is not there': async (bed, { reopen }) => {
      await bed.store.schedulerStarted()
      const { cluster } = (await reopen()).store
      if (cluster === null) return
      const nodes = await cluster.nodes()
      assert.equal(nodes.length, 1)
      for (const { instanceId } of nodes) await refuses(cluster.remove(instanceId), 'ERR_NODE_ALIVE')
      await refuses(cluster.remove('gone'), 'ERR_NOT_FOUND')
    },
    'runs a non-concurrent job on one node at a time': async (bed, { reopen }) => {
      const other = await reopen()
      const job = jobDetail('j', { disallowConcurrentExecution: true })
      await bed.scheduleAll([bed.trigger('a', { job }), bed.trigger('b', { job, inMs: 1 })], job)
      await bed.clock.advance(1)
      const bundle = await bed.start('a')
      assert.deepEqual(await other.acquireNames(), [])
      assert.equal(await other.state('b'), 'BLOCKED')
      await bed.complete(bundle)
      assert.deepEqual(await other.acquireNames(), ['b'])
    },
  },
  { clustered: true },
)

export const sharedDataCases: readonly StoreCase[] = [...survival, ...sharing]
