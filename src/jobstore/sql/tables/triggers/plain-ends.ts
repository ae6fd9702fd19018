import { JobPersistenceError } from '../../../../core/errors.ts'
import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { TriggerFamilies } from '../../../../triggers/families/trigger-families.ts'
import type { Trigger } from '../../../../triggers/trigger.ts'
import type { ScheduleTable } from '../../../../triggers/trigger-family.ts'
import {
  changeRows,
  chunksOf,
  deleteQuery,
  eachQuery,
  isNamed,
  type RowSetQuery,
} from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import { jobKeyColumns, triggerKeyColumns, triggerKeyRows } from '../encoding/key-rows.ts'
import { scheduleTableNames, sqlNameOf } from './schedule-tables.ts'

/** An execution of this node, and what its row says as this node wrote it. */
export interface PlainExecution {
  readonly fireInstanceId: string
  readonly trigger: Trigger
  readonly jobKey: JobKey
}

/**
 * Deletes rows only if they are as this node wrote them, each by one statement that says how: nothing is locked or read
 * before. That is for engines where a transaction excludes all other writers. Rows that were changed are left for
 * programs that read them.
 */
export class PlainEnds {
  readonly #scheduler: string
  readonly #instance: string
  readonly #families: TriggerFamilies
  readonly #statements: PlainEndStatements

  constructor(vocabulary: SqlVocabulary, instanceId: string) {
    this.#scheduler = vocabulary.schedulerName
    this.#instance = instanceId
    this.#families = vocabulary.triggerFamilies ?? TriggerFamilies.ofLibrary
    this.#statements = plainEndStatements(vocabulary)
  }

  /** Deletes the rows of executions; answers those whose row was there and as expected. */
  *endExecutions<Execution extends PlainExecution>(
    executions: readonly Execution[],
  ): SqlProgram<readonly Execution[]> {
    const rows = executions.map(({ fireInstanceId, jobKey: { name, group } }) => ({
      sched_name: this.#scheduler,
      entry_id: fireInstanceId,
      instance_name: this.#instance,
      job_name: name,
      job_group: group,
    }))
    return yield* changedOf(executions, rows, this.#statements.endExecution)
  }

  /** Deletes triggers that have fired for the last time, with their sub-rows; answers those that were deleted. */
  *deleteTriggers<Execution extends PlainExecution>(
    executions: readonly Execution[],
  ): SqlProgram<readonly Execution[]> {
    const deleted: Execution[] = []
    for (const table of scheduleTableNames) {
      const ofTable = executions.filter(({ trigger }) => this.#families.of(trigger).table === table)
      if (ofTable.length === 0) continue
      const rows = ofTable.map(({ trigger, jobKey }) => ({
        sched_name: this.#scheduler,
        trigger_name: trigger.key.name,
        trigger_group: trigger.key.group,
        trigger_type: this.#families.of(trigger).storedType,
        job_name: jobKey.name,
        job_group: jobKey.group,
      }))
      // A sub-row goes first, because Quartz's own script has it refer to its trigger.
      const ended = yield* changedOf(ofTable, rows, this.#statements.deleteSubRow[table])
      yield* changeRows(triggerKeyRows(this.#scheduler, keysOf(ended)), this.#statements.deleteTrigger)
      deleted.push(...ended)
    }
    return deleted
  }

  /**
   * Deletes jobs that are not durable, ask for no recovery and have no trigger left; answers those that were deleted.
   */
  *deleteJobs(keys: readonly JobKey[]): SqlProgram<readonly JobKey[]> {
    // In the order of the keys, as the answer counts; keys of stored jobs all have a row.
    const rows = keys.map(({ name, group }) => ({
      sched_name: this.#scheduler,
      job_name: name,
      job_group: group,
    }))
    return yield* changedOf(keys, rows, this.#statements.deleteJob)
  }
}

function keysOf(executions: readonly PlainExecution[]): TriggerKey[] {
  return executions.map(({ trigger }) => trigger.key)
}

/** Runs a statement for each row; answers the items, which are as many, whose rows it changed. */
function* changedOf<Item>(
  items: readonly Item[],
  rows: readonly object[],
  query: RowSetQuery,
): SqlProgram<readonly Item[]> {
  const changes: number[] = []
  for (const some of chunksOf(rows)) {
    const { changesOfEach } = yield query(some)
    if (changesOfEach === undefined) throw noChangesOfEach()
    changes.push(...changesOfEach)
  }
  return items.filter((_, index) => changes[index] === 1)
}

function noChangesOfEach(): JobPersistenceError {
  return new JobPersistenceError(
    "The reply to a statement with 'each' has no 'changesOfEach'. Have the runner of the SqlDatabase answer there " +
      'how many rows each run has changed.',
  )
}

interface PlainEndStatements {
  readonly endExecution: RowSetQuery
  readonly deleteSubRow: Readonly<Record<ScheduleTable, RowSetQuery>>
  readonly deleteTrigger: RowSetQuery
  readonly deleteJob: RowSetQuery
}

const executionColumns = ['sched_name', 'entry_id', 'instance_name', 'job_name', 'job_group'] as const
const triggerColumns = [
  'sched_name',
  'trigger_name',
  'trigger_group',
  'trigger_type',
  'job_name',
  'job_group',
] as const

export function plainEndStatements(vocabulary: SqlVocabulary): PlainEndStatements {
  const { dialect, names } = vocabulary
  const named = (columns: readonly string[], alias = ''): string =>
    columns.map((column) => `${alias}${column} = :${column}`).join(' AND ')
  return {
    endExecution: eachQuery(
      dialect,
      `DELETE FROM ${names.firedTriggers} WHERE ${named(executionColumns)}
         AND state = 'EXECUTING' AND is_nonconcurrent = false`,
      executionColumns,
    ),
    deleteSubRow: {
      simple_triggers: deleteSubRow('simple_triggers'),
      cron_triggers: deleteSubRow('cron_triggers'),
      simprop_triggers: deleteSubRow('simprop_triggers'),
    },
    deleteTrigger: deleteQuery(vocabulary, names.triggers, triggerKeyColumns),
    deleteJob: eachQuery(
      dialect,
      `DELETE FROM ${names.jobs} AS j WHERE ${isNamed(jobKeyColumns, 'j.')}
         AND j.is_durable = false AND j.requests_recovery = false AND NOT EXISTS (
           SELECT 1 FROM ${names.triggers} AS t WHERE t.sched_name = j.sched_name
             AND t.job_name = j.job_name AND t.job_group = j.job_group)`,
      ['job_name', 'job_group', 'sched_name'],
    ),
  }

  function deleteSubRow(table: ScheduleTable): RowSetQuery {
    const keyColumns = triggerColumns.slice(0, 3)
    return eachQuery(
      dialect,
      `DELETE FROM ${sqlNameOf(names, table)} AS s WHERE ${named(keyColumns, 's.')} AND EXISTS (
         SELECT 1 FROM ${names.triggers} AS t
         WHERE t.sched_name = s.sched_name AND t.trigger_name = s.trigger_name
           AND t.trigger_group = s.trigger_group AND ${named(triggerColumns.slice(3), 't.')}
           AND t.trigger_state = 'COMPLETE' AND t.next_fire_time IS NULL)`,
      triggerColumns,
    )
  }
}
