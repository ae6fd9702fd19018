import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { ClusterNode } from './cluster-node.ts'
import { exclusiveJobType, type PlannedJob, type PlannedTrigger, recordJobType } from './plans.ts'
import { TestCluster } from './test-cluster.ts'

const startMs = Date.UTC(2030, 0, 31, 8, 30)
const endMs = Date.UTC(2035, 5, 1)

/** Everything that the text of `.properties` files has a sign for. */
const data = {
  plain: 'text',
  empty: '',
  ' key = with : signs ': '  leading and trailing  ',
  '#not a comment': '!either\\or',
  lines: 'one\ntwo\r\n\tthree',
  letters: 'é Ж 漢 🚲 \u007f',
}

const job: PlannedJob = {
  name: 'job',
  group: 'rows',
  type: recordJobType,
  description: 'What it is for: été',
  durable: true,
  recovery: true,
  data,
}

type Plan = Omit<PlannedTrigger, 'name' | 'group' | 'job'>

const plans: Record<string, Plan> = {
  'a simple trigger for ever': {
    schedule: { type: 'simple', repeatCount: -1, intervalMs: 1500 },
    startMs,
    misfire: 4,
    priority: 9,
    description: 'all day',
    data,
  },
  'a one-shot': { schedule: { type: 'simple', repeatCount: 0, intervalMs: 0 }, startMs, misfire: -1 },
  'a simple trigger that ends': {
    schedule: { type: 'simple', repeatCount: 7, intervalMs: 86_400_000 },
    startMs,
    endMs,
    misfire: 1,
  },
  'a cron trigger': {
    schedule: { type: 'cron', expression: '0 0/15 8-17 ? * MON-FRI', zone: 'America/New_York' },
    startMs,
    misfire: 2,
    data,
  },
  'a cron trigger of last days, in lower case': {
    schedule: { type: 'cron', expression: '30 10 2 lw * ? 2030-2034', zone: 'Europe/Paris' },
    startMs,
    endMs,
    misfire: 0,
  },
  'a calendar-interval trigger': {
    schedule: {
      type: 'calendarInterval',
      interval: 3,
      unit: 'WEEK',
      zone: 'Europe/Paris',
      preserveHour: true,
      skipDay: true,
    },
    startMs,
    endMs,
    misfire: 1,
    data,
  },
  'a daily-time-interval trigger': {
    schedule: {
      type: 'dailyTimeInterval',
      interval: 72,
      unit: 'MINUTE',
      repeatCount: -1,
      from: 28_805,
      to: 61_200,
      days: '2,3,6',
    },
    startMs,
    misfire: 2,
    data,
  },
  'a daily-time-interval trigger that counts': {
    schedule: {
      type: 'dailyTimeInterval',
      interval: 10,
      unit: 'SECOND',
      repeatCount: 12,
      from: 0,
      to: 86_399,
      days: '1,2,3,4,5,6,7',
    },
    startMs,
    misfire: 1,
  },
}

const hasJava = inject('javaClassPath') !== null

// Where there is no Java Quartz the set-up has said so.
describe('rows of one side are read alike by the other', { skip: !hasJava }, () => {
  let cluster: TestCluster
  let java: ClusterNode
  let node: ClusterNode

  beforeAll(async () => {
    cluster = await TestCluster.create()
    java = await cluster.java('java')
    await java.ask('createTables')
    // It has used its tables before they are adopted.
    await java.open()
    await java.schedule(plannedAs('before', plans['a one-shot'] as Plan), job)
    node = await (await cluster.node('node')).open()
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  function plannedAs(name: string, plan: Plan): PlannedTrigger {
    return { ...plan, name, group: 'rows', job }
  }

  test.each(Object.entries(plans))('%s', async (name, plan) => {
    const fromJava = await java.schedule(plannedAs(`${name}, by Java`, plan), null)
    const fromNode = await node.schedule(plannedAs(`${name}, by Node`, plan), null)
    expect(fromNode).toEqual(fromJava)

    const stored = ['Java', 'Node'].map((by) => ({ name: `${name}, by ${by}`, group: 'rows' }))
    for (const key of stored) {
      const read = await java.readTrigger(key)
      expect(read).toMatchObject({
        key: `rows.${key.name}`,
        data: plan.data ?? {},
        misfireInstruction: plan.misfire,
      })
      expect(await node.readTrigger(key)).toEqual(read)
    }
  })

  test.each([recordJobType, exclusiveJobType] as const)('a job of %s', async (type) => {
    for (const by of [java, node]) {
      const planned: PlannedJob = { ...job, name: `${type} by ${by.instanceId}`, type }
      await by.addJob(planned)
      const read = await java.readJob(planned)
      expect(read).toMatchObject({ jobType: type, durable: true, requestsRecovery: true, data })
      expect(await node.readJob(planned)).toEqual(read)
    }
  })

  test('pausing and resuming', async () => {
    const key = { name: 'before', group: 'rows' }
    const states = async (): Promise<unknown[]> => [
      await java.ask('state', key),
      await node.ask('state', key),
    ]
    await node.ask('pause', key)
    expect(await states()).toEqual(['PAUSED', 'PAUSED'])
    await java.ask('resume', key)
    expect(await states()).toEqual(['NORMAL', 'NORMAL'])
    await java.ask('pause', key)
    await node.ask('resume', key)
    expect(await states()).toEqual(['NORMAL', 'NORMAL'])
  })

  test('what one side deletes is gone for the other', async () => {
    const key = { name: 'a one-shot, by Java', group: 'rows' }
    expect(await node.ask('unschedule', key)).toBe(true)
    expect(await java.readTrigger(key)).toBeNull()
    const other = { name: 'a cron trigger, by Node', group: 'rows' }
    expect(await java.ask('unschedule', other)).toBe(true)
    expect(await node.readTrigger(other)).toBeNull()
    expect(
      await cluster.database.query(
        "SELECT * FROM qrtz_cron_triggers WHERE trigger_name LIKE 'a cron trigger, by N%'",
      ),
    ).toEqual([])
  })
})
