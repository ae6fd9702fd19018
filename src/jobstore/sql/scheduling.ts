import type { Trigger } from '../../triggers/trigger.ts'
import type { SqlTransaction } from './sql-session.ts'
import type { SqlProgram } from './statement.ts'

/**
 * Stores triggers whose jobs exist and are locked, over those of the same keys: they start anew, waiting, paused,
 * blocked or complete as their groups, their job and their fire time say. Notes what may fire.
 */
export declare function storeNewTriggers(tx: SqlTransaction, triggers: readonly Trigger[]): SqlProgram<void>
