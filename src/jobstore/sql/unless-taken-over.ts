import type { SqlConnection } from './sql-engine.ts'

/**
 * Claims and executions from before another process took over belong to that process: their ends are passed over.
 *
 * @param passedOver what is answered then
 */
export async function unlessTakenOver<Answer>(
  connection: SqlConnection,
  write: () => Promise<Answer>,
  passedOver: NoInfer<Answer>,
): Promise<Answer> {
  try {
    return await write()
  } catch (error) {
    if (connection.isTakenOver?.() !== true) throw error
    return passedOver
  }
}
