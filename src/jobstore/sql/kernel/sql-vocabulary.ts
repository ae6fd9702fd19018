import type { TriggerFamilies } from '../../../triggers/families/trigger-families.ts'
import type { SqlDialect } from './sql-dialect.ts'
import type { SqlNames } from './sql-names.ts'

/** How statements are written: the words of the engine, the names of the tables, whose rows they are. */
export interface SqlVocabulary {
  readonly dialect: SqlDialect
  readonly names: SqlNames
  readonly schedulerName: string
  /** Java nodes work on the same tables: what only they can read is left to them. */
  readonly sharedWithJava?: boolean
  /** The families whose triggers this node can read. Default: those of this library. */
  readonly triggerFamilies?: TriggerFamilies
}
