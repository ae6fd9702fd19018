import { describe, expect, test } from 'vitest'
import type { AuditEntry, AuditNote } from '../../src/jobstore/audit.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'

const hourMs = 3_600_000

async function rig() {
  const clock = new ManualClock()
  const jobStore = new RAMJobStore()
  const scheduler = await createScheduler({ clock, jobStore, instanceId: 'n1', logger: false })
  const note = (changes: Partial<AuditNote> = {}): void => {
    scheduler.recordAudit({ operation: 'jobs.put', by: 'ann', ...changes })
  }
  const entries = async (): Promise<readonly AuditEntry[]> => {
    await scheduler.idle()
    return (await scheduler.queryAudit({ take: 1000 })).items
  }
  return { clock, scheduler, note, entries, [Symbol.asyncDispose]: () => scheduler.shutdown() }
}

describe('the audit', () => {
  test('has who did what, without secrets and bounded', async () => {
    await using bed = await rig()
    bed.note({
      address: '10.0.0.1',
      targetGroup: 'reports',
      targetName: 'daily',
      before: { data: { password: 'old' } },
      after: { data: { password: 'new' }, url: 'redis://ann:hunter2@cache' },
    })
    bed.note({ by: 'x'.repeat(300), request: 'y'.repeat(10_000) })
    const [long, entry] = await bed.entries()
    expect(entry).toEqual({
      timeMs: bed.clock.now(),
      id: expect.any(String) as string,
      by: 'ann',
      address: '10.0.0.1',
      node: 'n1',
      operation: 'jobs.put',
      targetGroup: 'reports',
      targetName: 'daily',
      outcome: 'done',
      times: 1,
      errorText: null,
      requestText: null,
      beforeText: '{"data":{"password":"***"}}',
      afterText: '{"data":{"password":"***"},"url":"redis://cache"}',
    })
    expect(long?.by).toHaveLength(200)
    expect(long?.requestText).toHaveLength(4000)
  })

  test('counts what was refused, in one entry an hour for each kind, and shows the last', async () => {
    await using bed = await rig()
    bed.note({ outcome: 'refused', targetName: 'a' })
    bed.note({ outcome: 'refused', targetName: 'b' })
    bed.note({ outcome: 'refused', operation: 'jobs.delete' })
    const entries = await bed.entries()
    expect(entries.map(({ operation, targetName, times }) => [operation, targetName, times])).toEqual(
      expect.arrayContaining([
        ['jobs.put', 'b', 2],
        ['jobs.delete', null, 1],
      ]),
    )
    expect(entries).toHaveLength(2)
    await bed.clock.advance(1000)
    bed.note({ outcome: 'refused', targetName: 'c' })
    expect(await bed.entries()).toHaveLength(2)
    await bed.clock.advance(hourMs)
    bed.note({ outcome: 'refused', targetName: 'd' })
    expect((await bed.entries())[0]).toMatchObject({ targetName: 'd', times: 1 })
    expect(await bed.entries()).toHaveLength(3)
  })

  test('has one entry an hour for all whom nobody knows', async () => {
    await using bed = await rig()
    for (let count = 0; count < 5000; count++) {
      bed.scheduler.recordAudit({ outcome: 'refused', address: `a${count}`, operation: `op${count}` })
    }
    expect(await bed.entries()).toMatchObject([{ by: null, times: 5000, operation: 'op4999' }])
  })

  test('tells failures apart by what they were about, up to a hundred an hour', async () => {
    await using bed = await rig()
    for (let count = 0; count < 300; count++) {
      bed.note({ outcome: 'failed', targetName: `job${String(count % 150)}`, error: 'ERR_NOT_FOUND: none' })
    }
    const entries = await bed.entries()
    expect(entries).toHaveLength(101)
    expect(entries.filter(({ times }) => times === 2)).toHaveLength(100)
    expect(entries.filter(({ times }) => times === 100)).toHaveLength(1)
  })

  test('is written at the shutdown, also of a scheduler that never started', async () => {
    const bed = await rig()
    const written: unknown[] = []
    const store = new RAMJobStore()
    const scheduler = await createScheduler({ jobStore: store, logger: false, clock: bed.clock })
    const { records } = store
    const write = records.write.bind(records)
    records.write = async (batch) => {
      written.push(...(batch.audits ?? []))
      await write(batch)
    }
    scheduler.recordAudit({ operation: 'jobs.run' })
    await scheduler.shutdown()
    expect(written).toMatchObject([{ operation: 'jobs.run', by: null }])
    await bed.scheduler.shutdown()
  })

  test('is not gathered for a store that keeps none, and takes no more after the shutdown', async () => {
    const scheduler = await createScheduler({
      jobStore: new RAMJobStore({ audit: false }),
      logger: false,
    })
    scheduler.recordAudit({ operation: 'jobs.run' })
    await scheduler.idle()
    expect(await scheduler.queryAudit()).toEqual({ items: [], next: null })
    await scheduler.shutdown()
    expect(() => {
      scheduler.recordAudit({ operation: 'jobs.run' })
    }).toThrow(expect.objectContaining({ code: 'ERR_SCHEDULER_SHUTDOWN' }) as Error)
  })
})
