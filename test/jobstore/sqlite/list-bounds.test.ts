import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../../src/core/key.ts'
import { awaitedResultStatements } from '../../../src/jobstore/sql/tables/firings/awaited-result-table.ts'
import {
  jobConditions,
  rowsLookedAt,
  triggerConditions,
} from '../../../src/jobstore/sql/tables/lists/list-conditions.ts'
import { lastLookedAtQuery, listingQuery } from '../../../src/jobstore/sql/tables/lists/listing-query.ts'
import { nextTriggersQuery } from '../../../src/jobstore/sql/tables/lists/next-triggers.ts'
import { triggerScopeStatements } from '../../../src/jobstore/sql/tables/triggers/trigger-scopes.ts'
import { sqliteJobStore } from '../../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../../src/scheduler/scheduler.ts'
import { sqliteWords, temporaryFolder } from '../../support/sqlite.ts'

const vocabulary = { ...sqliteWords, schedulerName: 'QuartzScheduler' }
const count = rowsLookedAt + 5000

/** A scheduler on a file with many triggers of one job: half of them paused, the last one called `the last`. */
async function filled(): Promise<{ scheduler: Scheduler; database: Database.Database }> {
  const filename = join(temporaryFolder(), 'jobs.db')
  const scheduler = await createScheduler({ jobStore: sqliteJobStore({ filename }), logger: false })
  await scheduler.getCalendarNames()
  const database = new Database(filename)
  const series = `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count})`
  database.exec(`
    INSERT INTO qrtz_job_details (sched_name, job_name, job_group, job_class_name, is_durable, is_nonconcurrent,
      is_update_data, requests_recovery) VALUES ('QuartzScheduler', 'j', 'g', 'noop', 1, 0, 0, 0);
    INSERT INTO qrtz_triggers (sched_name, trigger_name, trigger_group, job_name, job_group, next_fire_time, priority,
      trigger_state, trigger_type, start_time)
    ${series} SELECT 'QuartzScheduler', CASE WHEN i = ${count} THEN 'the last' ELSE 't' || (100000 + i) END, 'g', 'j',
      'g', 1000 + i, 5, CASE WHEN i % 2 = 0 THEN 'PAUSED' ELSE 'WAITING' END, 'SIMPLE', 1 FROM s`)
  return { scheduler, database }
}

test('a page looks at a bounded number of rows, and the next one goes on behind them', async () => {
  const { scheduler, database } = await filled()
  const first = await scheduler.queryTriggers({ search: 'last' })
  expect(first.items).toEqual([])
  expect(first.next).toEqual(triggerKey(`t${100_000 + rowsLookedAt}`, 'g'))
  const second = await scheduler.queryTriggers({ search: 'last', ...(first.next && { after: first.next }) })
  expect(second.items.map(({ key }) => key.name)).toEqual(['the last'])
  expect(second.next).toBeNull()
  const paused = await scheduler.queryTriggers({ state: 'PAUSED', search: 'none' })
  expect(paused).toEqual({ items: [], next: null })
  database.close()
  await scheduler.shutdown()
})

test('so does a page of those that fire next', async () => {
  const { scheduler, database } = await filled()
  database.exec("UPDATE qrtz_triggers SET trigger_state = 'WAITING'")
  const first = await scheduler.queryNextTriggers({ search: 'last' })
  expect(first.items).toEqual([])
  expect(first.next?.nextFireTimeMs).toBe(1000 + rowsLookedAt)
  const second = await scheduler.queryNextTriggers({
    search: 'last',
    ...(first.next && { after: first.next }),
  })
  expect(second.items.map(({ key }) => key.name)).toEqual(['the last'])
  expect(await scheduler.getTriggerCounts()).toEqual({ NORMAL: count })
  database.close()
  await scheduler.shutdown()
})

test('each statement finds its rows by an index in their order', async () => {
  const { scheduler, database } = await filled()
  const plan = (query: { readonly namedText: string }): string => {
    const names = [...query.namedText.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, 1] as const)
    const rows = database.prepare(`EXPLAIN QUERY PLAN ${query.namedText}`).all(Object.fromEntries(names))
    return rows.map((row) => (row as { detail: string }).detail).join('\n')
  }
  const triggers = (query: object, states: readonly ['PAUSED'] | null = null) =>
    ({ subject: 'trigger', conditions: triggerConditions(vocabulary, query, states) }) as const
  const unbounded = { isBounded: false }
  const behind = 'sched_name=? AND (trigger_group,trigger_name)>(?,?)'
  const inOrder = (query: { readonly namedText: string }): void => {
    expect(plan(query)).not.toContain('ORDER BY')
  }
  const all = listingQuery(vocabulary, triggers({}), 'behind', unbounded)
  expect(plan(all)).toContain(behind)
  inOrder(all)
  const paused = listingQuery(vocabulary, triggers({}, ['PAUSED']), 'behind', { isBounded: true })
  expect(plan(paused)).toContain('idx_qrtz_t_at_rest')
  inOrder(paused)
  const last = lastLookedAtQuery(vocabulary, triggers({ search: 'a' }), 'behind')
  expect(plan(last)).toContain('COVERING INDEX')
  const ofJob = { jobKey: jobKey('j', 'g') }
  expect(plan(listingQuery(vocabulary, triggers(ofJob), 'few', unbounded))).toContain('idx_qrtz_t_job')
  expect(plan(listingQuery(vocabulary, triggers(ofJob, ['PAUSED']), 'few', unbounded))).toContain(
    'idx_qrtz_t_job',
  )
  const next = (query: object): string =>
    plan(nextTriggersQuery(vocabulary, triggerConditions(vocabulary, query, null), 'waiting', unbounded))
  expect(next({})).toContain('idx_qrtz_t_acquire (sched_name=? AND next_fire_time>?)')
  expect(next({})).not.toContain('ORDER BY')
  expect(next(ofJob)).toContain('idx_qrtz_t_job')
  const claims = plan(triggerScopeStatements(vocabulary).earliestBehindStaleClaims)
  expect(claims).toMatch(/SEARCH f [^]*SEARCH t USING .*idx_qrtz_t_job/)
  expect(plan(awaitedResultStatements(vocabulary).keepLate)).toMatch(
    /SEARCH a USING INDEX idx_qrtz_ar_firing/,
  )
  const jobs = { subject: 'job', conditions: jobConditions(vocabulary, {}) } as const
  expect(plan(listingQuery(vocabulary, jobs, 'behind', unbounded))).toContain('(job_group,job_name)>(?,?)')
  database.close()
  await scheduler.shutdown()
})
