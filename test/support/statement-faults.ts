import { describe, expect, test } from 'vitest'
import { all, type SqlStatement } from '../../src/jobstore/sql/kernel/statement.ts'
import type { SqlEngine } from '../../src/jobstore/sql/sql-engine.ts'
import { SqlJobStore } from '../../src/jobstore/sql/sql-job-store.ts'
import { Testbed } from '../../src/testing/job-store/testbed.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { clusterOperations } from './cluster-operations.ts'
import { type StepRunner, steppedEngine } from './step-runner.ts'
import { type Scene, storeOperations } from './store-operations.ts'

export interface FaultRig extends AsyncDisposable {
  readonly scene: Scene
  readonly runner: StepRunner
  /** All rows of all tables. */
  dump(): Promise<Readonly<Record<string, readonly string[]>>>
}

/** A store on empty tables, whose statements can be made to fail. */
export async function faultRig(engine: SqlEngine): Promise<FaultRig> {
  const stepped = steppedEngine(engine)
  const bed = new Testbed(new SqlJobStore(stepped.engine), new ManualClock(), 'node')
  await bed.store.initialize(bed.context)
  await bed.store.schedulerStarted()
  const runner = stepped.runner()
  const { names } = engine
  const tables = Object.entries(names).flatMap(([what, table]) =>
    ['prefix', 'schema', 'schemaVersion'].includes(what) ? [] : [table as string],
  )
  return {
    scene: { bed, transactor: stepped.transactor() },
    runner,
    async dump() {
      const rows: Record<string, readonly string[]> = {}
      for (const table of tables) {
        const found = await runner.inner.read(() => all({ text: `SELECT * FROM ${table}`, values: [] }))
        rows[table] = found.map((row) => JSON.stringify(row)).sort()
      }
      return rows
    },
    [Symbol.asyncDispose]: () => bed.store.shutdown(),
  }
}

const operations = [...storeOperations, ...clusterOperations]

/** More than any operation here takes. */
const stepsMax = 120

/**
 * For each operation and each n: the n-th statement fails, nothing has changed and nobody was told anything; then the
 * next call does all that the operation has to do.
 */
export function statementFaultCases(engine: () => Promise<SqlEngine>, fault: SqlStatement): void {
  describe('an operation of which one statement fails, whichever it is', () => {
    test.each(operations)('$name', async ({ prepare }) => {
      await using rig = await faultRig(await engine())
      const { runner, scene } = rig
      const call = await prepare(scene)
      scene.bed.signals.clear()
      const silence = JSON.stringify(scene.bed.signals)
      const before = await rig.dump()
      let failures = 0
      for (let n = 1; ; n++) {
        expect(n).toBeLessThan(stepsMax)
        runner.statements = 0
        runner.replace = (step) => (step === n ? fault : null)
        const outcome = await runner.watch(call).then(
          () => 'done',
          (error: unknown) => error,
        )
        runner.replace = null
        if (runner.statements < n) {
          expect(outcome).toBe('done')
          break
        }
        failures++
        expect(outcome, `statement ${n}`).toMatchObject({ name: 'JobPersistenceError' })
        expect(await rig.dump(), `statement ${n}`).toEqual(before)
        expect(JSON.stringify(scene.bed.signals), `statement ${n}`).toBe(silence)
      }
      expect(failures).toBeGreaterThan(0)
    })
  })
}

/**
 * For each operation and each n: the n-th statement fails for reasons that pass, one after the other. The operation is
 * carried out again from its beginning, as often as it is needed, and once in effect.
 */
export function passingFaultCases(
  engine: () => Promise<SqlEngine>,
  { passing, lasting }: { readonly passing: readonly SqlStatement[]; readonly lasting: SqlStatement },
): void {
  const writing = operations.filter(({ isReading }) => isReading !== true)
  describe('an operation of which one statement fails for reasons that pass, whichever it is', () => {
    test.each(writing)('$name', async ({ prepare }) => {
      await using rig = await faultRig(await engine())
      const { runner, scene } = rig
      const call = await prepare(scene)
      const before = await rig.dump()
      // A read is sent again by itself, and would be the fault again.
      runner.passesReads = true
      for (let n = 1; ; n++) {
        expect(n).toBeLessThan(stepsMax)
        let ends = 0
        const struck: SqlStatement[] = []
        runner.replace = (step) => {
          const fault = step === n ? passing[struck.length] : undefined
          if (fault === undefined) return null
          struck.push(fault)
          // The next attempt counts from its beginning.
          runner.statements = 0
          return fault
        }
        // An attempt that came to its end is undone there, so that the next n finds everything as it was.
        runner.atEnd = () => {
          ends++
          return struck.length > 0 ? lasting : null
        }
        runner.statements = 0
        const outcome = await runner.watch(call).then(
          () => 'done',
          () => 'failed',
        )
        runner.replace = null
        runner.atEnd = null
        if (struck.length === 0) {
          expect([outcome, ends]).toEqual(['done', 1])
          break
        }
        expect([outcome, ends, struck.length], `statement ${n}`).toEqual(['failed', 1, passing.length])
        expect(await rig.dump(), `statement ${n}`).toEqual(before)
      }
      expect(await rig.dump()).not.toEqual(before)
    })
  })
}
