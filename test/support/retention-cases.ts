import { describe, expect, test, vi } from 'vitest'
import { jobDetail, type Testbed } from '../../src/testing/job-store/testbed.ts'
import { complete, dayMs, entry, open, type RecordStores, status, write, writeLater } from './record-bed.ts'

const job = jobDetail('job', { durable: true })

/** A store deletes beside what it is asked for. A write that comes while it still does does not have it look again. */
async function until(bed: Testbed, holds: () => Promise<void>): Promise<void> {
  await vi.waitFor(
    async () => {
      await writeLater(bed, () => ({}))
      await holds()
    },
    { timeout: 20_000 },
  )
}

/** Fires a trigger after a while, and ends its execution. */
async function runAfter(
  bed: Testbed,
  ms: number,
  changes: Parameters<typeof complete>[2] = { outcome: 'failed' },
): Promise<void> {
  await bed.clock.advance(ms)
  await bed.schedule('t', { job })
  await complete(bed, await bed.start('t'), changes)
}

async function fireTimes(bed: Testbed): Promise<number[]> {
  const { items } = await bed.store.queryExecutions({})
  return items.map(({ fireTimeMs }) => fireTimeMs)
}

async function outcomes(bed: Testbed): Promise<string[]> {
  const { items } = await bed.store.queryExecutions({})
  return items.map(({ outcome }) => outcome)
}

async function audits(bed: Testbed): Promise<string[]> {
  const page = await bed.store.records?.queryAudit({ take: 1000 })
  return (page?.items ?? []).map(({ id }) => id)
}

async function jobsWithStatus(bed: Testbed): Promise<string[]> {
  const page = await bed.store.records?.queryJobStatus({ take: 1000 })
  return (page?.items ?? []).map(({ jobKey }) => jobKey.name)
}

/** What every store has to do about the age and the number of executions, of what people did, and of deleted jobs. */
export function retentionCases(stores: RecordStores): void {
  describe(`how long ${stores.engine} remembers`, () => {
    historyCases(stores)
    auditCases(stores)
    clockAheadCases(stores)
    deletedJobCases(stores)
  })
}

function historyCases(stores: RecordStores): void {
  test('keeps no more executions than it is told, the newest, and one row for each firing', async () => {
    const bed = await open(stores, { history: { maxRows: 5 } })
    const startMs = bed.now()
    for (let count = 0; count < 8; count++) await runAfter(bed, 1000)
    // The same trigger at the same instant, stored anew.
    await runAfter(bed, 0, { outcome: 'failed', errorText: `a \0 and ${'long '.repeat(1000)}` })
    const { items } = await bed.store.queryExecutions({})
    expect(items.map(({ errorText }) => errorText?.length)).toContain(2000)
    await runAfter(bed, 61_000)
    await until(bed, async () => {
      expect(await fireTimes(bed)).toEqual([69_000, 8000, 8000, 7000, 6000].map((ms) => startMs + ms))
    })
  })

  test('forgets executions that are too old', async () => {
    const bed = await open(stores, { history: { maxAgeMs: dayMs } })
    await runAfter(bed, 1000)
    await runAfter(bed, dayMs / 2)
    const middleMs = bed.now()
    await runAfter(bed, dayMs / 2 + 1)
    const lastMs = bed.now()
    await until(bed, async () => {
      expect(await fireTimes(bed)).toEqual([lastMs, middleMs])
    })
  })

  test('forgets executions with an outcome that is kept for a shorter time before the others', async () => {
    const bed = await open(stores, {
      history: {
        record: 'all',
        maxAgeMs: 10 * dayMs,
        maxAgeMsByOutcome: { succeeded: dayMs, vetoed: 2 * dayMs },
      },
    })
    for (const outcome of ['succeeded', 'failed', 'vetoed'] as const) await runAfter(bed, 1000, { outcome })
    expect(await outcomes(bed)).toEqual(['vetoed', 'failed', 'succeeded'])
    await runAfter(bed, dayMs, { outcome: 'interrupted' })
    await until(bed, async () => {
      expect(await outcomes(bed)).toEqual(['interrupted', 'vetoed', 'failed'])
    })
    await runAfter(bed, 1.5 * dayMs, { outcome: 'succeeded' })
    await until(bed, async () => {
      expect(await outcomes(bed)).toEqual(['succeeded', 'interrupted', 'failed'])
    })
    await runAfter(bed, 8 * dayMs, { outcome: 'timedOut' })
    await until(bed, async () => {
      expect(await outcomes(bed)).toEqual(['timedOut', 'interrupted'])
    })
  })
}

function auditCases(stores: RecordStores): void {
  test('forgets what people did when it is too old', async () => {
    const bed = await open(stores, { audit: { maxAgeMs: dayMs } })
    await write(bed, { audits: [entry(bed, 'a')] })
    await writeLater(bed, () => ({ audits: [entry(bed, 'b')] }), dayMs)
    await writeLater(bed, () => ({ audits: [entry(bed, 'c')] }))
    await until(bed, async () => {
      expect(await audits(bed)).toEqual(['c', 'b'])
    })
  })

  test('keeps about as many entries of what people did as it is told, the newest', async () => {
    const bed = await open(stores, { audit: { maxRows: 600 } })
    const written = Array.from({ length: 1500 }, (_, index) => ({
      ...entry(bed, String(index).padStart(5, '0')),
      timeMs: bed.now() + index,
    }))
    await write(bed, { audits: written })
    await writeLater(bed, () => ({ audits: [entry(bed, 'last')] }))
    await until(bed, async () => {
      expect(await audits(bed)).toHaveLength(600)
    })
    expect((await audits(bed)).slice(0, 2)).toEqual(['last', '01499'])
  })
}

function clockAheadCases(stores: RecordStores): void {
  test('keeps what came last, where there are too many of a clock that was ahead', async () => {
    const bed = await open(stores, { history: { record: 'all', maxRows: 7 }, audit: { maxRows: 7 } })
    const record = async (...names: readonly string[]): Promise<void> => {
      for (const name of names) {
        await runAfter(bed, 1000)
        await write(bed, { audits: [entry(bed, name)] })
      }
    }
    const startMs = bed.now()
    const keeps = async (...names: readonly string[]): Promise<void> => {
      await until(bed, async () => {
        const kept = await audits(bed)
        expect(kept).toHaveLength(7)
        expect(kept.filter((name) => !name.startsWith('ahead'))).toEqual(names)
        const fired = await fireTimes(bed)
        expect(fired).toHaveLength(7)
        expect(fired.filter((ms) => ms < startMs + dayMs)).toHaveLength(names.length)
      })
    }
    await record('a', 'b')
    bed.clock.jump(dayMs)
    await record('ahead-1', 'ahead-2', 'ahead-3', 'ahead-4', 'ahead-5')
    bed.clock.jump(-dayMs)
    await record('c', 'd', 'e')
    await keeps('e', 'd', 'c', 'b', 'a')
    await record('f', 'g')
    await keeps('g', 'f', 'e', 'd', 'c', 'b', 'a')
    // None is ahead any more: the oldest one goes.
    await record('h')
    await keeps('h', 'g', 'f', 'e', 'd', 'c', 'b')
  })
}

function deletedJobCases(stores: RecordStores): void {
  test('forgets the status of a job that was deleted when it has not run for as long as days are kept', async () => {
    const bed = await open(stores, { jobStatus: { maxDays: 3 } })
    for (const name of ['deleted', 'kept']) {
      const detail = jobDetail(name, { durable: true })
      await bed.store.addJob(detail, { replace: false })
      await write(bed, { statuses: [status(bed, name)] })
      if (name === 'deleted') await bed.store.deleteJobs([detail.key])
    }
    await bed.store.addJob(jobDetail('other', { durable: true }), { replace: false })
    await writeLater(bed, () => ({ statuses: [status(bed, 'other')] }), 2 * dayMs)
    expect(await jobsWithStatus(bed)).toEqual(['deleted', 'kept', 'other'])
    await writeLater(bed, () => ({ statuses: [status(bed, 'other')] }), 2 * dayMs)
    await until(bed, async () => {
      expect(await jobsWithStatus(bed)).toEqual(['kept', 'other'])
    })
  })
}
