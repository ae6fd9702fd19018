import { expect, onTestFinished, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { type ServerFixture, serverFixture } from '../support/server-fixture.ts'

const key = new JobKey('parts', 'reports')

/** A server whose scheduler has a sharded job of two items. */
async function opened(type: string): Promise<ServerFixture> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  const sharding = { items: 2, parameters: { 1: 'south' } }
  await fixture.scheduler.addJob(
    JobBuilder.newJob(type).withIdentity(key).storeDurably().withSharding(sharding).build(),
  )
  return fixture
}

test('the items of a job are turned off and on, once, and the audit says how they were', async () => {
  const fixture = await opened('echo')
  const { scheduler } = fixture
  const ask = fixture.ask.bind(fixture)
  const shards = '/jobs/reports/parts/shards'
  const off = (options = {}): ReturnType<typeof ask> => ask(`POST ${shards}/1/disable`, options)
  expect((await off()).json).toMatchObject({
    changed: true,
    result: { before: { disabledItems: [] }, after: { disabledItems: [1] } },
  })
  expect((await off()).json).toMatchObject({ changed: false })
  expect((await ask(`GET ${shards}`)).json).toEqual({ firings: [], disabledItems: [1] })
  expect((await ask(`POST ${shards}/1/enable?dryRun=true`)).json).toMatchObject({
    changed: true,
    dryRun: true,
  })
  expect((await scheduler.getShards(key))?.disabledItems).toEqual([1])
  expect((await ask(`POST ${shards}/1/enable`)).json).toMatchObject({ changed: true })
  expect((await scheduler.getShards(key))?.disabledItems).toEqual([])
  expect((await ask(`POST ${shards}/1000/disable`)).status).toBe(400)
  expect((await ask('POST /jobs/reports/none/shards/0/disable')).status).toBe(404)
  expect((await off({ who: 'viewer' })).status).toBe(403)
  await scheduler.idle()
  const { items } = (await ask('GET /audit?operation=jobs.disableShard')).json as {
    items: readonly { beforeText: string; afterText: string }[]
  }
  expect(items.at(-1)).toMatchObject({
    targetName: 'parts',
    beforeText: '{"disabledItems":[]}',
    afterText: '{"disabledItems":[1]}',
  })
})

test('an item that a job does not have is not turned off, and one that it had is turned on', async () => {
  const fixture = await opened('echo')
  const { scheduler } = fixture
  for (const query of ['', '?dryRun=true']) {
    const unknown = await fixture.ask(`POST /jobs/reports/parts/shards/2/disable${query}`)
    expect([unknown.status, unknown.json]).toMatchObject([400, { field: 'item' }])
    const plain = await fixture.ask(`POST /jobs/reports/daily/shards/0/disable${query}`)
    expect([plain.status, plain.json]).toMatchObject([400, { field: 'name' }])
  }
  await scheduler.disableShard(key, 5)
  const turnedOn = await fixture.ask('POST /jobs/reports/parts/shards/5/enable')
  expect(turnedOn.json).toMatchObject({ changed: true, result: { after: { disabledItems: [] } } })
})

test('an open firing is shown with its items, and what ended of it is found by its id', async () => {
  const fixture = await opened('waiting')
  const { scheduler } = fixture
  const ask = fixture.ask.bind(fixture)
  await scheduler.start()
  const began = scheduler.events.next('jobToBeExecuted')
  await scheduler.triggerJob(key)
  await began
  const { firings } = (await ask('GET /jobs/reports/parts/shards')).json as {
    firings: readonly { fireInstanceId: string; items: readonly object[] }[]
  }
  const [firing] = firings
  expect(firing).toMatchObject({ triggerKey: { group: 'DEFAULT' } })
  const owner = scheduler.schedulerInstanceId
  expect(firing?.items).toMatchObject([
    { item: 0, owner, parameter: null, state: 'given', triggerKey: { group: 'SHARDED_JOBS' }, outcome: null },
    { item: 1, owner, parameter: 'south', state: 'given' },
  ])
  const { items: running } = (await ask('GET /executing')).json as { items: readonly { shard: object }[] }
  expect(running[0]?.shard).toEqual({ firingId: firing?.fireInstanceId, item: 0, total: 2 })
  const done = scheduler.events.next('allShardsDone')
  await ask('POST /jobs/reports/parts/interrupt')
  await done
  await scheduler.idle()
  const id = firing?.fireInstanceId ?? ''
  const found = (await ask(`GET /executions?filter=firing:${id}`)).json as {
    items: readonly { shard: { item: number } }[]
  }
  expect(found.items.map(({ shard }) => shard.item).sort()).toEqual([0, 1])
  expect(found.items[0]).toMatchObject({ shard: { firingId: id }, jobKey: { name: 'parts' } })
  expect((await ask(`GET /executions/${id}`)).json).toMatchObject({ shard: null, fireInstanceId: id })
})
