import { describe, expect, inject, test, vi } from 'vitest'
import { doubledWith, judge } from './fire-history.ts'
import { mixedLoad } from './mixed-load.ts'
import { type PlannedJob, type PlannedTrigger, recordJobType } from './plans.ts'
import { TestCluster } from './test-cluster.ts'

const hasJava = inject('javaClassPath') !== null

/** How long a mixed load lasts; where faults happen for longer than by default, as in CI, so does it. */
const lastsMs = Number(process.env['QUARTZ_TS_CHAOS_SECONDS'] ?? 30) >= 60 ? 60_000 : 40_000

/** Sleeps until it is killed; its recovery does not. */
const endless: PlannedJob = {
  name: 'endless',
  group: 'shared',
  type: recordJobType,
  durable: true,
  recovery: true,
  data: { bodyMs: '600000', note: 'of the job' },
}

function once(name: string, job: PlannedJob): PlannedTrigger {
  const data = { note: `of ${name}: é=ж` }
  const schedule = { type: 'simple', repeatCount: 0, intervalMs: 0 } as const
  return { name, group: 'shared', job, schedule, startMs: Date.now(), data }
}

const everyWay = ['simple', 'cron', 'calendarInterval', 'dailyTimeInterval']
  .flatMap((type) => ['Java', 'Node'].map((by) => `${type} trigger of ${by}`))
  .flatMap((trigger) => ['Java', 'Node'].map((on) => `${trigger} on ${on}`))
  .sort()

// Where there is no Java Quartz the set-up has said so.
describe('a cluster of Java and Node', { skip: !hasJava }, () => {
  test.each([
    ['under its lock', true],
    ['without its lock, as is its default', false],
  ])('fires every planned instant once, Java acquiring %s, from either side', async (_what, locks) => {
    await using cluster = await TestCluster.create()
    const java = await cluster.java('java', { acquireWithinLock: locks })
    await java.ask('createTables')
    await java.openAndStart()
    const one = await (await cluster.node('one')).openAndStart()
    const two = await (await cluster.node('two')).openAndStart()
    const nodes = [java, one, two]

    const load = await mixedLoad(nodes, cluster.history, { count: 200, lastsMs })
    // What Java reads without its lock and takes later may have fired meanwhile: that is left, and is Java's to mend.
    const spoilt = locks ? new Set<string>() : doubledWith('java', load.lines)
    const sound = load.lines.filter(({ trigger }) => !spoilt.has(trigger))
    const planned = new Map([...load.planned].filter(([trigger]) => !spoilt.has(trigger)))
    expect(judge(sound, { ...load, planned })).toEqual([])
    expect(spoilt.size).toBeLessThan(load.planned.size / 20)
    const kindOf = (instanceId: string): string => (instanceId === 'java' ? 'Java' : 'Node')
    const ways = new Set<string>()
    for (const { trigger, node, note } of load.lines) {
      const origin = load.origins.get(trigger)
      expect(note).toBe(origin?.note)
      if (origin !== undefined) {
        ways.add(`${origin.type} trigger of ${kindOf(origin.scheduledBy)} on ${kindOf(node)}`)
      }
    }
    expect([...ways].sort()).toEqual(everyWay)
    for (const { instanceId } of nodes) {
      expect(load.lines.filter(({ node }) => node === instanceId).length).toBeGreaterThan(50)
    }
    for (const node of nodes) await node.stop()
    expect(await cluster.database.query('SELECT * FROM qrtz_fired_triggers')).toEqual([])
    expect(await cluster.database.query('SELECT * FROM qrtz_triggers')).toEqual([])
  })

  test.each([
    ['Java', 'Node'],
    ['Node', 'Java'],
  ])('recovers on the other side what %s was killed in', async (dying) => {
    await using cluster = await TestCluster.create()
    const java = await cluster.java('java')
    await java.ask('createTables')
    const node = await cluster.node('node')
    const [victim, heir] = dying === 'Java' ? [java, node] : [node, java]
    await victim.openAndStart()
    const [planned] = await victim.schedule(once('cut', endless), endless)
    const begun = await cluster.line(({ trigger }) => trigger === 'shared.cut')
    expect(begun).toMatchObject({ kind: 'started', node: victim.instanceId, planned })

    await heir.openAndStart()
    await victim.kill()
    const recovery = await cluster.line(({ recovering, kind }) => recovering !== null && kind === 'ended')
    expect(recovery).toMatchObject({
      node: heir.instanceId,
      job: 'shared.endless',
      recovering: 'shared.cut',
      planned,
      note: 'of cut: é=ж',
    })
    expect(recovery.trigger).toMatch(new RegExp(`^RECOVERING_JOBS\\.recover_${victim.instanceId}_`))
    await heir.stop()
    expect(await cluster.database.query('SELECT * FROM qrtz_fired_triggers')).toEqual([])
    expect(await cluster.database.query('SELECT * FROM qrtz_triggers')).toEqual([])
    expect((await cluster.lines()).filter(({ kind }) => kind === 'started')).toHaveLength(2)
  })

  test('is joined by Java on tables that this package made', async () => {
    await using cluster = await TestCluster.create()
    const node = await (await cluster.node('node')).open()
    const java = await (await cluster.java('java')).openAndStart()
    const job: PlannedJob = { name: 'quick', group: 'shared', type: recordJobType }
    await node.schedule(once('by node', job), job)
    expect(await cluster.line(({ kind }) => kind === 'ended')).toMatchObject({
      node: 'java',
      note: 'of by node: é=ж',
    })
    await java.stop()
    expect(await cluster.database.query('SELECT * FROM qrtz_job_details')).toEqual([])
  })

  test('leaves triggers with a calendar of Java to Java, and says so', async () => {
    await using cluster = await TestCluster.create()
    const java = await cluster.java('java')
    await java.ask('createTables')
    await java.open()
    const node = await (await cluster.node('node')).openAndStart()
    await java.ask('addHoliday', { calendar: 'feast', day: String(Date.UTC(2030, 0, 1)) })
    const job: PlannedJob = { name: 'quick', group: 'shared', type: recordJobType }
    await java.schedule({ ...once('feast', job), calendar: 'feast' }, job)
    await java.schedule({ ...once('plain', { ...job, name: 'plain' }) }, { ...job, name: 'plain' })
    // The node is at work, and fires what has no calendar.
    expect(await cluster.line(({ trigger }) => trigger === 'shared.plain')).toMatchObject({ node: 'node' })
    const report = await vi.waitUntil(
      async () =>
        ((await node.ask('events')) as { error?: string }[]).find(({ error }) => error !== undefined),
      { timeout: 30_000 },
    )
    expect(report.error).toBe(
      "Trigger 'shared.feast' is left to Java nodes: Java serialized its calendar 'feast'.",
    )
    await java.ask('start')
    const runs = await cluster.line(({ trigger, kind }) => trigger === 'shared.feast' && kind === 'ended')
    expect(runs).toMatchObject({ node: 'java' })
    expect((await cluster.lines()).filter(({ trigger }) => trigger === 'shared.feast')).toHaveLength(2)
  })

  test('refuses a node that does not take the locks that Java takes', async () => {
    await using cluster = await TestCluster.create()
    const java = await cluster.java('java')
    await java.ask('createTables')
    await java.openAndStart()
    const stranger = await cluster.node('stranger', { locking: 'skipLocked' })
    await expect(stranger.openAndStart()).rejects.toThrow(/ERR_MIXED_LOCKING.*quartzLocks/s)
    const guest = await (await cluster.node('guest')).openAndStart()
    await guest.stop()
  })
})
