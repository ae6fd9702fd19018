import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import type { RecordOptions } from '../../src/jobstore/record-options.ts'
import { jobDetail, type Testbed } from '../../src/testing/job-store/testbed.ts'
import { complete, dayMs, entry, open, status, write, writeLater } from '../support/record-bed.ts'
import { postgresStores } from '../support/sql-stores.ts'

// What is too old or too many is deleted also while another session holds some of it, as a query with FOR UPDATE.

const stores = postgresStores()

interface Held {
  readonly bed: Testbed
  /** The number of rows of a table for which a condition holds. */
  readonly count: (table: string, condition?: string) => Promise<number>
  readonly hold: (table: string, condition: string) => Promise<void>
  readonly release: () => Promise<void>
}

async function openHeld(options: RecordOptions): Promise<Held> {
  const bed = await open(stores, options)
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(stores.connection())
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`SET search_path = ${stores.lastSchema()}`)
    return client
  }
  const [reader, holder] = [await connect(), await connect()]
  await holder.query('BEGIN')
  return {
    bed,
    async count(table, condition = 'true') {
      const { rows } = await reader.query<{ found: number }>(
        `SELECT COUNT(*)::int AS found FROM qrtz_${table} WHERE ${condition}`,
      )
      return rows[0]?.found ?? -1
    },
    async hold(table, condition) {
      const { rowCount } = await holder.query(`SELECT 1 FROM qrtz_${table} WHERE ${condition} FOR UPDATE`)
      expect(rowCount, table).toBe(1)
    },
    async release() {
      await holder.query('ROLLBACK')
    },
  }
}

/** A write that comes while the store still deletes does not have it look again, so there are several. */
async function until(bed: Testbed, holds: () => Promise<void>): Promise<void> {
  await vi.waitFor(
    async () => {
      await writeLater(bed, () => ({}))
      await holds()
    },
    { timeout: 5000 },
  )
}

async function run(bed: Testbed, trigger: string): Promise<void> {
  await bed.schedule(trigger, { job: jobDetail('job', { durable: true }) })
  const logLine = { line: 1, timeMs: bed.now(), level: 'info', message: 'x', fieldsText: null } as const
  await complete(bed, await bed.start(trigger), { logLines: [logLine] })
}

test('deletes all executions but a locked one, and that one later', async () => {
  const { bed, count, hold, release } = await openHeld({ history: { record: 'all', maxAgeMs: dayMs } })
  for (let index = 0; index < 600; index++) await run(bed, 'a')
  await hold(
    'execution_history',
    'fire_instance_id = (SELECT MIN(fire_instance_id) FROM qrtz_execution_history)',
  )
  await bed.clock.advance(2 * dayMs)
  await until(bed, async () => {
    expect(await count('execution_history')).toBe(1)
  })
  await release()
  await until(bed, async () => {
    expect(await count('execution_history')).toBe(0)
  })
})

test('deletes executions with an outcome, and log lines of others, but those that are locked', async () => {
  const { bed, count, hold, release } = await openHeld({
    history: { record: 'all', maxAgeMsByOutcome: { vetoed: dayMs } },
    executionLog: { maxAgeMs: dayMs },
  })
  for (const trigger of ['held', 'free']) {
    await run(bed, trigger)
    await bed.schedule(`vetoed-${trigger}`)
    await complete(bed, await bed.start(`vetoed-${trigger}`), { outcome: 'vetoed' })
  }
  for (const trigger of ['held', 'vetoed-held'])
    await hold('execution_history', `trigger_name = '${trigger}'`)
  await bed.clock.advance(2 * dayMs)
  await until(bed, async () => {
    expect(await count('execution_history', "outcome = 'vetoed'")).toBe(1)
    expect(await count('execution_history', 'log_lines IS NOT NULL')).toBe(1)
  })
  await release()
  await until(bed, async () => {
    expect(await count('execution_history', 'log_lines IS NOT NULL')).toBe(0)
  })
})

const ids = ['held', 'free']
const records = {
  misfires: { key: 'misfire_id', held: 'held' },
  audit: { key: 'audit_id', held: 'held' },
  execution_log: { key: 'fire_instance_id', held: 'held' },
  job_days: { key: 'job_name', held: 'held' },
  job_status: { key: 'job_name', held: 'held' },
}

test.each(Object.entries(records))(
  'deletes all rows of %s but a locked one',
  async (table, { key, held }) => {
    const { bed, count, hold } = await openHeld({
      misfires: { maxAgeMs: dayMs },
      audit: { maxAgeMs: dayMs },
      executionLog: { maxAgeMs: dayMs },
      jobStatus: { maxDays: 1 },
    })
    const noticedTimeMs = bed.now()
    for (const id of ids) {
      const detail = jobDetail(id, { durable: true })
      await bed.store.addJob(detail, { replace: false })
      const line = { line: 1, timeMs: noticedTimeMs, level: 'info', message: 'x', fieldsText: null } as const
      await write(bed, {
        audits: [entry(bed, id)],
        logs: [{ fireInstanceId: id, lines: [line] }],
        misfires: [
          {
            id,
            noticedTimeMs,
            triggerKey: new TriggerKey('t'),
            jobKey: null,
            cause: 'late',
            policy: null,
            fromMs: 0,
            toMs: 0,
            count: 1,
            node: 'n',
          },
        ],
        statuses: [status(bed, id)],
      })
      await bed.store.deleteJobs([detail.key])
    }
    expect(await count(table)).toBe(2)
    await hold(table, `${key} = '${held}'`)
    await bed.clock.advance(3 * dayMs)
    await until(bed, async () => {
      for (const each of Object.keys(records)) expect(await count(each), each).toBe(each === table ? 1 : 0)
    })
  },
)
