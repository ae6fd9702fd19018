import { firingPartOf } from '../firing-part.ts'
import type { CompletionAnswer, JobCompletion } from '../job-store.ts'
import { eachOrAll } from './kernel/each-or-all.ts'
import type { TransactionOptions } from './kernel/sql-runner.ts'
import type { OpenStore } from './open-store.ts'
import { completeJobs } from './programs/firing/completing.ts'
import { endsInDoubt } from './programs/steps/ends-in-doubt.ts'
import { unlessTakenOver } from './unless-taken-over.ts'

/**
 * Ends executions, those whose rows no other session has locked. A part that failed beside others that were committed
 * is answered as locked: were the call to fail, the caller would write the others again and take them for ended by
 * somebody else.
 *
 * @throws what a part has failed with, when none was committed
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
  const [failure] = left.failed
  if (failure !== undefined) {
    if (left.failed.length + left.locked.length === completions.length) throw failure.error
    const message = 'Some of the executions that had ended could not be written; they are tried again.'
    transactions.session.context.signaler.storeError(message, failure.error)
  }
  return { locked: [...locked, ...left.locked, ...left.failed.map(({ item }) => item)], passedOver }
}

function storesTriggers({ retryTrigger, trigger }: JobCompletion): boolean {
  return retryTrigger !== null || firingPartOf(trigger.jobDataMap) !== null
}
