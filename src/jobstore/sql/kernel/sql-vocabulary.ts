import type { TriggerFamilies } from '../../../triggers/families/trigger-families.ts'
import type { SqlDialect } from './sql-dialect.ts'
import type { SqlNames } from './sql-names.ts'

/** What statements are made of: the engine's dialect, the names of the tables, the scheduler's name. */
export interface SqlVocabulary {
  readonly dialect: SqlDialect
  readonly names: SqlNames
  readonly schedulerName: string
  /** Java nodes work on the same tables: rows that only they can read are left to them. */
  readonly sharedWithJava?: boolean
  /** The families whose triggers this node can read. Default: those of this library. */
  readonly triggerFamilies?: TriggerFamilies
}
