import { beforeEach, describe, expect, it } from 'vitest'
import { JobKey, TriggerKey } from '../../../../../src/core/key.ts'
import { CommitNotes } from '../../../../../src/jobstore/sql/kernel/commit-notes.ts'
import { TriggersOfJava } from '../../../../../src/jobstore/sql/tables/triggers/triggers-of-java.ts'
import { TriggerBuilder } from '../../../../../src/triggers/families/trigger-builder.ts'
import { SqlTables } from '../../../../support/sql-tables.ts'
import { sqliteWords } from '../../../../support/sqlite.ts'

const dueMs = 1_000_000

describe('the look for triggers that only Java can run', () => {
  let tables: SqlTables
  let ofJava: TriggersOfJava
  let nowMs: number
  beforeEach(async () => {
    tables = await SqlTables.open()
    await tables.addJobs('work')
    ofJava = new TriggersOfJava({ ...sqliteWords, schedulerName: 'S' })
    nowMs = 10 * dueMs
  })

  /** Stores due triggers, of which those from `fromJava` on are of a type that only Java knows. */
  async function store(count: number, fromJava: number): Promise<void> {
    const triggers = Array.from({ length: count }, (_, index) =>
      TriggerBuilder.newTrigger()
        .withIdentity(new TriggerKey(String(index).padStart(5, '0')))
        .forJob(new JobKey('work', 'jobs'))
        .startAt(new Date(dueMs))
        .build()
        .computeFirstFireTime(null),
    )
    await tables.run(tables.triggers.insert(triggers.map((trigger) => ({ trigger, state: 'WAITING' }))))
    const first = String(fromJava).padStart(5, '0')
    await tables.query(`UPDATE qrtz_triggers SET trigger_type = 'BLOB' WHERE trigger_name >= '${first}'`)
  }

  async function look(): Promise<number> {
    const notes = new CommitNotes()
    const found = await tables.run(ofJava.newlyDue(nowMs, nowMs, notes))
    notes.apply()
    nowMs += 1000
    return found.length
  }

  it('reports each of more than are reported at once', async () => {
    await store(250, 0)
    expect([await look(), await look(), await look(), await look(), await look()]).toEqual([
      100, 100, 50, 0, 0,
    ])
  })

  it('goes through a backlog a part at a time, and begins anew behind its end', async () => {
    await store(2500, 2400)
    expect([await look(), await look(), await look(), await look()]).toEqual([0, 0, 100, 0])
    await tables.query("UPDATE qrtz_triggers SET trigger_type = 'BLOB' WHERE trigger_name = '00000'")
    expect([await look(), await look(), await look()].filter((count) => count === 1)).toHaveLength(1)
  })
})
