import type { ApiClient } from '../api/api-client.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'

/**
 * Nodes and executions of others are known where nodes check in. What is attached to another store would answer that
 * there are none.
 *
 * @throws CommandFailure
 */
export async function requireClusterView(client: ApiClient): Promise<void> {
  const { status, jobStoreClustered } = await client.call('scheduler.get')
  if (status !== 'attached' || jobStoreClustered) return
  throw new CommandFailure(
    exitCodes.failed,
    'Which process has this store, and what runs there, is known to that process alone: ask its server with --server.',
  )
}
