import type { RecordBatch } from 'quartz-ts/spi'
import { describe, expect, test, vi } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import type { Misfire } from '../../src/jobstore/misfires.ts'
import { jobDetail, type Testbed } from '../../src/testing/job-store/testbed.ts'
import { complete, dayMs, open, type RecordStores, status, write, writeLater } from './record-bed.ts'
import { retentionCases } from './retention-cases.ts'

function misfire(bed: Testbed, id: string): Misfire {
  return {
    id,
    noticedTimeMs: bed.now(),
    triggerKey: new TriggerKey('t'),
    jobKey: null,
    cause: 'late',
    policy: null,
    fromMs: 0,
    toMs: 0,
    count: 1,
    node: 'n',
  }
}

function line(bed: Testbed, fireInstanceId: string): RecordBatch {
  const logged = { line: 1, timeMs: bed.now(), level: 'info', message: 'x', fieldsText: null } as const
  return { logs: [{ fireInstanceId, lines: [logged] }] }
}

async function ids(bed: Testbed): Promise<string[]> {
  const page = await bed.store.records?.queryMisfires({ take: 1000 })
  return (page?.items ?? []).map(({ id }) => id)
}

async function linesOf(bed: Testbed, ...executions: readonly string[]): Promise<number[]> {
  const counts: number[] = []
  for (const id of executions) {
    const page = await bed.store.records?.queryExecutionLog(id, {})
    counts.push(page?.items.length ?? 0)
  }
  return counts
}

/** An execution that has logged a line before its end; answers how to complete it with further ones. */
async function startLogging(
  bed: Testbed,
): Promise<{ id: string; complete: (line: number) => Promise<void> }> {
  await bed.schedule('t', { job: jobDetail('job', { durable: true }) })
  const bundle = await bed.start('t')
  const id = bundle.fireInstanceId
  await write(bed, line(bed, id))
  return {
    id,
    complete: (number) => {
      const { fireTimeMs: timeMs } = bundle
      const logLine = { line: number, timeMs, level: 'info', message: 'x', fieldsText: null } as const
      return complete(bed, bundle, { logLines: [logLine] })
    },
  }
}

/** What every store has to do about the age and the number of what it remembers. */
export function recordCases(stores: RecordStores): void {
  describe(`what ${stores.engine} remembers`, () => {
    test('forgets misfires that are too old', async () => {
      const bed = await open(stores, { misfires: { maxAgeMs: 3600_000 } })
      await write(bed, { misfires: [misfire(bed, 'a')] })
      await writeLater(bed, () => ({ misfires: [misfire(bed, 'b')] }), 3600_000)
      await writeLater(bed, () => ({ misfires: [misfire(bed, 'c')] }))
      await vi.waitFor(
        async () => {
          expect(await ids(bed)).toEqual(['c', 'b'])
        },
        { timeout: 10_000 },
      )
    })

    test('keeps no more misfires than it is told, the newest, also when all came at once', async () => {
      const bed = await open(stores, { misfires: { maxRows: 700 } })
      const many = Array.from({ length: 2000 }, (_, index) => misfire(bed, String(index).padStart(5, '0')))
      await write(bed, { misfires: many })
      await writeLater(bed, () => ({ misfires: [misfire(bed, 'last')] }))
      await vi.waitFor(
        async () => {
          expect(await ids(bed)).toHaveLength(700)
        },
        { timeout: 10_000 },
      )
      expect((await ids(bed)).slice(0, 2)).toEqual(['last', '01999'])
      expect((await ids(bed)).at(-1)).toBe('01301')
    })
  })
  retentionCases(stores)
  logAndStatusCases(stores)
  lastLinesCases(stores)
}

function logAndStatusCases(stores: RecordStores): void {
  describe(`what ${stores.engine} remembers of executions`, () => {
    test('forgets log lines that are too old', async () => {
      const bed = await open(stores, { executionLog: { maxAgeMs: 3600_000 } })
      await write(bed, line(bed, 'a'))
      await writeLater(bed, () => line(bed, 'b'), 3600_000)
      await writeLater(bed, () => line(bed, 'c'))
      await vi.waitFor(
        async () => {
          expect(await linesOf(bed, 'a', 'b', 'c')).toEqual([0, 1, 1])
        },
        {
          timeout: 10_000,
        },
      )
    })

    test('keeps about as many rows of log lines as it is told, the newest', async () => {
      const bed = await open(stores, { executionLog: { maxRows: 2 } })
      for (const id of ['a', 'b', 'c', 'd']) await writeLater(bed, () => line(bed, id), 10)
      await writeLater(bed, () => line(bed, 'e'))
      await vi.waitFor(
        async () => {
          expect(await linesOf(bed, 'a', 'b', 'd', 'e')).toEqual([0, 0, 1, 1])
        },
        {
          timeout: 10_000,
        },
      )
    })

    test('forgets the counts of days that are too long ago', async () => {
      const bed = await open(stores, { jobStatus: { maxDays: 2 } })
      await bed.store.addJob(jobDetail('j', { durable: true }), { replace: false })
      for (let day = 0; day < 5; day++) await writeLater(bed, () => ({ statuses: [status(bed)] }), dayMs)
      await vi.waitFor(
        async () => {
          // A write that comes while the store still deletes does not have it look again.
          await writeLater(bed, () => ({ statuses: [status(bed)] }))
          const page = await bed.store.records?.queryJobStatus({ days: 366 })
          expect(page?.items[0]?.days.length).toBeLessThanOrEqual(3)
        },
        { timeout: 10_000 },
      )
    })
  })
}

function lastLinesCases(stores: RecordStores): void {
  describe(`what ${stores.engine} is told with the end of an execution`, () => {
    test('keeps the last lines of an execution with its end, and those of a late one', async (context) => {
      const bed = await open(stores, { history: { record: 'all' } })
      context.skip(bed.store.records?.takesLogLines !== true, 'this store takes lines in batches only')
      const { id, complete } = await startLogging(bed)
      await complete(2)
      await complete(3)
      const page = await bed.store.records?.queryExecutionLog(id, {})
      expect(page?.items.map((each) => each.line)).toEqual([1, 2, 3])
      const rest = await bed.store.records?.queryExecutionLog(id, { after: 1, take: 1 })
      expect(rest).toMatchObject({ items: [{ line: 2 }], next: 2 })
    })

    test('forgets such lines at their age, while the execution is kept', async (context) => {
      const bed = await open(stores, { history: { record: 'all' }, executionLog: { maxAgeMs: 3600_000 } })
      context.skip(bed.store.records?.takesLogLines !== true, 'this store takes lines in batches only')
      const { id, complete } = await startLogging(bed)
      await complete(2)
      await writeLater(bed, () => line(bed, 'b'), 3000_000)
      expect(await linesOf(bed, id)).toEqual([2])
      await bed.clock.advance(3600_000)
      await vi.waitFor(
        async () => {
          // A look for what is too old may be under way, from before: a later line has it look again.
          await writeLater(bed, () => line(bed, 'c'))
          expect(await linesOf(bed, id)).toEqual([0])
        },
        { timeout: 10_000 },
      )
      expect(await bed.store.records?.getExecution(id)).not.toBeNull()
    })

    test('forgets such lines of an execution that ended after later ones when its end is as old', async (context) => {
      const bed = await open(stores, { history: { record: 'all' }, executionLog: { maxAgeMs: 3600_000 } })
      context.skip(bed.store.records?.takesLogLines !== true, 'this store takes lines in batches only')
      await bed.schedule('long', { job: jobDetail('job', { durable: true }) })
      const long = await bed.start('long')
      await bed.clock.advance(3600_000)
      const short = await startLogging(bed)
      await short.complete(2)
      await bed.clock.advance(3600_000)
      const goesOf = (id: string): Promise<void> =>
        vi.waitFor(
          async () => {
            await writeLater(bed, () => line(bed, 'other'))
            expect(await linesOf(bed, id)).toEqual([0])
          },
          { timeout: 10_000 },
        )
      await goesOf(short.id)
      const endedMs = bed.now()
      const logLine = { line: 1, timeMs: endedMs, level: 'info', message: 'x', fieldsText: null } as const
      await complete(bed, long, { finishedTimeMs: endedMs, logLines: [logLine] })
      await writeLater(bed, () => line(bed, 'other'))
      expect(await linesOf(bed, long.fireInstanceId)).toEqual([1])
      await bed.clock.advance(3600_000)
      await goesOf(long.fireInstanceId)
    })
  })
}
