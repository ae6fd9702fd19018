import type { SqlConnection } from './sql-engine.ts'

/** Claims and executions from before another process took over belong to that process: their ends are passed over. */
export async function unlessTakenOver<Item>(
  connection: SqlConnection,
  write: () => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  try {
    return await write()
  } catch (error) {
    if (connection.isTakenOver?.() !== true) throw error
    return []
  }
}
