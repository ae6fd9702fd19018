import { firingPartOf } from '../firing-part.ts'
import type { CompletionAnswer, JobCompletion } from '../job-store.ts'
import { eachOrAll } from './kernel/each-or-all.ts'
import type { TransactionOptions } from './kernel/sql-runner.ts'
import type { OpenStore } from './open-store.ts'
import { completeJobs } from './programs/firing/completing.ts'
import { endsInDoubt } from './programs/steps/ends-in-doubt.ts'
import { unlessTakenOver } from './unless-taken-over.ts'

/**
 * Ends executions, those whose rows no other session has locked. When one part failed, the whole operation fails: run
 * again, the parts that were done are passed over.
 */
export async function writeCompletions(
  { connection, transactions }: OpenStore,
  completions: readonly JobCompletion[],
): Promise<CompletionAnswer> {
  const locked: JobCompletion[] = []
  const passedOver: JobCompletion[] = []
  const left = await eachOrAll(completions, async (ended) => {
    const options: TransactionOptions<CompletionAnswer> = {
      ...endsInDoubt(transactions.session, ended),
      lock: ended.some(storesTriggers) ? 'shared' : 'rows',
      whenLocked: 'passOver',
    }
    const write = (): Promise<CompletionAnswer> => transactions.run((tx) => completeJobs(tx, ended), options)
    const answer = await unlessTakenOver(connection, write, { locked: [], passedOver: ended })
    locked.push(...answer.locked)
    passedOver.push(...answer.passedOver)
  })
  for (const { error } of left.failed) throw error
  return { locked: [...locked, ...left.locked], passedOver }
}

function storesTriggers({ retryTrigger, trigger }: JobCompletion): boolean {
  return retryTrigger !== null || firingPartOf(trigger.jobDataMap) !== null
}
