import { emptyJobDataMap, type JobDataMap } from '../../../../core/job-data-map.ts'
import type { JobKey, TriggerKey } from '../../../../core/key.ts'
import { KeyMap } from '../../../../core/key-map.ts'
import { boundRows, isRow, type KeyQuery, runOver, withScheduler } from '../../kernel/row-set.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { type SqlProgram, type SqlRow, sqlQuery } from '../../kernel/statement.ts'
import { brokenRow } from '../encoding/broken-row.ts'
import { bytesOrNull } from '../encoding/columns.ts'
import { isJavaSerialized, readJobData } from '../encoding/job-data-text.ts'
import { jobKeyOf, triggerKeyColumns, triggerKeyOf, triggerKeyRows } from '../encoding/key-rows.ts'

/** What a trigger gives to its executions. */
export interface DataOfTrigger {
  readonly jobKey: JobKey
  /** Empty where they cannot be read. */
  readonly jobDataMap: JobDataMap
  readonly isSerializedByJava: boolean
  /** Why they cannot be read; absent where they can. */
  readonly fault?: Error
}

/** The data of triggers, also of those whose type or schedule this node cannot read. */
export class DataOfTriggers {
  readonly #schedulerName: string
  readonly #statements: { readonly load: KeyQuery }

  constructor(vocabulary: SqlVocabulary) {
    this.#schedulerName = vocabulary.schedulerName
    this.#statements = dataOfTriggersStatements(vocabulary)
  }

  /** Keys that do not exist are left out. */
  *load(keys: readonly TriggerKey[]): SqlProgram<KeyMap<TriggerKey, DataOfTrigger>> {
    const named = triggerKeyRows(this.#schedulerName, keys)
    const found = new KeyMap<TriggerKey, DataOfTrigger>()
    for (const row of yield* runOver(named, (rows) => this.#statements.load({ rows }))) {
      found.set(triggerKeyOf(row), dataIn(row))
    }
    return found
  }
}

export function dataOfTriggersStatements({ dialect, names }: SqlVocabulary): { readonly load: KeyQuery } {
  return {
    load: sqlQuery(
      dialect,
      `SELECT t.trigger_name, t.trigger_group, t.job_name, t.job_group, t.job_data
       FROM ${boundRows(dialect, withScheduler(triggerKeyColumns))} AS r CROSS JOIN ${names.triggers} AS t
       WHERE ${isRow(dialect, 't', triggerKeyColumns)}`,
    ),
  }
}

function dataIn(row: SqlRow): DataOfTrigger {
  const jobKey = jobKeyOf(row)
  let isSerializedByJava = false
  try {
    const bytes = bytesOrNull(row, 'job_data')
    isSerializedByJava = bytes !== null && isJavaSerialized(bytes)
    return { jobKey, jobDataMap: readJobData(bytes), isSerializedByJava }
  } catch (error) {
    const fault = brokenRow('Trigger', triggerKeyOf(row), error)
    return { jobKey, jobDataMap: emptyJobDataMap, isSerializedByJava, fault }
  }
}
