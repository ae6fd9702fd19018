import assert from 'node:assert/strict'
import { JobKey, TriggerKey } from '../../core/key.ts'
import type { ExecutionLogLine } from '../../jobstore/execution-log.ts'
import type { ExecutionReport } from '../../jobstore/execution-report.ts'
import type { ExecutionDetails, ExecutionQuery, ExecutionSummary } from '../../jobstore/queries.ts'
import { area, type StoreCase } from './store-case.ts'
import { jobDetail, only, type Testbed } from './testbed.ts'

/** Runs a trigger of a name once; its execution failed unless the changes say otherwise. Answers its id. */
async function run(
  bed: Testbed,
  name: string,
  { group = 'DEFAULT', ...changes }: Partial<ExecutionReport> & { readonly group?: string } = {},
): Promise<string> {
  const job = jobDetail('job', { durable: true, group })
  await bed.schedule(name, { job })
  const bundle = await bed.start(name)
  const report: ExecutionReport = {
    outcome: 'failed',
    errorText: `error of ${name}`,
    triggerKey: bundle.trigger.key,
    scheduledFireTimeMs: bundle.scheduledFireTimeMs,
    fireTimeMs: bundle.fireTimeMs,
    finishedTimeMs: bundle.fireTimeMs + 20,
    attempt: 1,
    recovering: false,
    acquiredTimeMs: bundle.acquiredTimeMs ?? null,
    beganTimeMs: bundle.fireTimeMs + 5,
    ...changes,
  }
  await bed.complete(bundle, 'deleteTrigger', { report })
  await bed.clock.advance(1000)
  return bundle.fireInstanceId
}

async function search(bed: Testbed, query: ExecutionQuery): Promise<string[]> {
  const found: ExecutionSummary[] = []
  for (let after = query.after; ; ) {
    const page = await bed.store.queryExecutions({ ...query, ...(after && { after }) })
    found.push(...page.items)
    if (page.next === null) return found.map(({ triggerKey }) => triggerKey.name)
    after = page.next
  }
}

async function get(bed: Testbed, id: string): Promise<ExecutionDetails> {
  const found = await bed.store.records?.getExecution(id)
  assert.ok(found)
  return found
}

const history = area(
  'history',
  {
    'holds all that is reported of an execution': async (bed) => {
      const startMs = bed.now()
      const texts = { progressText: '50', resultText: '{"sent":3}', dataText: '{"to":"ops"}' }
      const id = await run(bed, 't', {
        manual: true,
        triggeredBy: 'ann',
        previousFireInstanceId: 'before',
        attempt: 2,
        texts,
      })
      const summary: ExecutionSummary = {
        fireInstanceId: id,
        jobKey: new JobKey('job'),
        jobType: 'noop',
        triggerKey: new TriggerKey('t'),
        node: bed.context.instanceId,
        scheduledFireTimeMs: startMs,
        fireTimeMs: startMs,
        finishedTimeMs: startMs + 20,
        acquiredTimeMs: startMs,
        beganTimeMs: startMs + 5,
        attempt: 2,
        recovering: false,
        outcome: 'failed',
        errorText: 'error of t',
        manual: true,
        triggeredBy: 'ann',
        previousFireInstanceId: 'before',
        shard: null,
      }
      assert.deepEqual(only((await bed.store.queryExecutions({})).items), summary)
      assert.deepEqual(await get(bed, id), { ...summary, ...texts, attempts: [summary] })
      assert.equal(await bed.store.records?.getExecution('none'), null)
    },
    'names the attempts at one firing in order': async (bed) => {
      const firing = { triggerKey: new TriggerKey('origin'), scheduledFireTimeMs: bed.now() - 60_000 }
      const ids: string[] = []
      for (const attempt of [1, 2, 3]) ids.push(await run(bed, `t${attempt}`, { ...firing, attempt }))
      await run(bed, 'other', { ...firing, scheduledFireTimeMs: bed.now() })
      const { attempts } = await get(bed, ids[1] ?? '')
      assert.deepEqual(
        attempts.map(({ fireInstanceId }) => fireInstanceId),
        ids,
      )
    },
    'names an attempt that fired before its planned instant, because the clock was set back': async (bed) => {
      const plannedMs = bed.now() + 1_800_000
      const firing = { triggerKey: new TriggerKey('origin'), scheduledFireTimeMs: plannedMs }
      const first = await run(bed, 't1', { ...firing, fireTimeMs: plannedMs })
      const second = await run(bed, 't2', { ...firing, attempt: 2 })
      for (const id of [first, second]) {
        assert.deepEqual(
          (await get(bed, id)).attempts.map(({ fireInstanceId }) => fireInstanceId),
          [first, second],
        )
      }
    },
    'is searched by outcome, time, error, data and origin': async (bed) => {
      const texts = { progressText: null, resultText: null }
      await run(bed, 'a', { texts: { ...texts, dataText: '{"to":"ops","n":12}' } })
      await run(bed, 'b', { outcome: 'timedOut', errorText: null, manual: true })
      await run(bed, 'c', { outcome: 'interrupted', finishedTimeMs: bed.now() + 5000, group: 'mail' })
      await run(bed, 'd', {
        scheduledFireTimeMs: bed.now() - 10_000,
        texts: { ...texts, dataText: '[{"n":1}]' },
      })
      assert.deepEqual(await search(bed, {}), ['d', 'c', 'b', 'a'])
      assert.deepEqual(await search(bed, { outcome: 'timedOut' }), ['b'])
      assert.deepEqual(await search(bed, { outcome: ['timedOut', 'interrupted'] }), ['c', 'b'])
      assert.deepEqual(await search(bed, { outcome: [] }), [])
      assert.deepEqual(await search(bed, { laterThanMs: 9999 }), ['d'])
      assert.deepEqual(await search(bed, { laterThanMs: 10_000 }), [])
      assert.deepEqual(await search(bed, { tookLongerThanMs: 15 }), ['c'])
      assert.deepEqual(await search(bed, { tookLongerThanMs: 14 }), ['d', 'c', 'b', 'a'])
      assert.deepEqual(await search(bed, { errorContains: 'of a' }), ['a'])
      assert.deepEqual(await search(bed, { errorContains: '%' }), [])
      assert.deepEqual(await search(bed, { manual: true }), ['b'])
      assert.deepEqual(await search(bed, { manual: false, jobGroup: 'DEFAULT' }), ['d', 'a'])
      assert.deepEqual(await search(bed, { data: { key: 'to', value: 'ops' } }), ['a'])
      assert.deepEqual(await search(bed, { data: { key: 'n', value: '12' } }), ['a'])
      assert.deepEqual(await search(bed, { data: { key: 'n', value: '1' } }), ['d'])
      assert.deepEqual(await search(bed, { node: 'nowhere' }), [])
      assert.deepEqual(await search(bed, { jobKey: new JobKey('job', 'mail'), outcome: 'interrupted' }), [
        'c',
      ])
      assert.deepEqual(await search(bed, { outcome: ['failed', 'interrupted'], take: 1 }), ['d', 'c', 'a'])
      assert.deepEqual(await search(bed, { jobKey: new JobKey('job'), take: 1 }), ['d', 'b', 'a'])
    },
  },
  { history: true, records: true },
)

const line = (bed: Testbed, number: number): ExecutionLogLine => ({
  line: number,
  timeMs: bed.now(),
  level: 'info',
  message: `line ${String(number)} of "it"`,
  fieldsText: number % 2 === 0 ? null : `{"n":${String(number)}}`,
})

async function lines(bed: Testbed, id: string, query: object = {}): Promise<readonly ExecutionLogLine[]> {
  return (await bed.store.records?.queryExecutionLog(id, query))?.items ?? []
}

const log = area(
  'execution log',
  {
    'is kept in order, and read a page at a time': async (bed) => {
      const all = [1, 2, 3, 4, 5].map((number) => line(bed, number))
      await bed.store.records?.write({ logs: [{ fireInstanceId: 'a', lines: all.slice(0, 2) }] })
      await bed.store.records?.write({
        logs: [
          { fireInstanceId: 'b', lines: [line(bed, 1)] },
          { fireInstanceId: 'a', lines: all.slice(2) },
        ],
      })
      assert.deepEqual(await lines(bed, 'a'), all)
      assert.deepEqual(await lines(bed, 'a', { after: 3 }), all.slice(3))
      assert.deepEqual(await lines(bed, 'none'), [])
      const page = await bed.store.records?.queryExecutionLog('a', { take: 2, after: 1 })
      assert.deepEqual(page, { items: all.slice(1, 3), next: 3 })
      const last = await bed.store.records?.queryExecutionLog('a', { take: 2, after: 3 })
      assert.deepEqual(last, { items: all.slice(3), next: null })
    },
    'takes lines that come again, with those that follow': async (bed) => {
      const all = [1, 2, 3].map((number) => line(bed, number))
      await bed.store.records?.write({ logs: [{ fireInstanceId: 'a', lines: all.slice(0, 2) }] })
      await bed.store.records?.write({ logs: [{ fireInstanceId: 'a', lines: all }] })
      assert.deepEqual(await lines(bed, 'a'), all)
    },
  },
  { records: true },
)

const progress = area(
  'progress',
  {
    'of an execution in flight is seen by every node, until it ends': async (bed, { reopen }) => {
      await bed.schedule('t')
      const bundle = await bed.start('t')
      const other = await reopen()
      const seen = async (): Promise<string | null | undefined> =>
        (await other.store.cluster?.executing())?.[0]?.progressText
      assert.equal(await seen(), null)
      const { fireInstanceId } = bundle
      for (const progressText of ['1', '2']) {
        await bed.store.records?.write({ progress: [{ fireInstanceId, progressText }] })
        assert.equal(await seen(), progressText)
      }
      await bed.store.records?.write({ progress: [{ fireInstanceId, progressText: null }] })
      assert.equal(await seen(), null)
    },
  },
  { records: true, clustered: true },
)

export const executionCases: readonly StoreCase[] = [...history, ...log, ...progress]
