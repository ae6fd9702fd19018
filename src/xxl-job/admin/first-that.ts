import { SchedulerError } from '../../core/errors.ts'
import type { Clock } from '../../time/clock.ts'
import { settledWithin } from '../../time/settled-within.ts'
import { xxlJobCodes } from '../protocol/reply.ts'
import type { ExecutorAnswer, ExecutorClient } from './executor-client.ts'
import type { ResolvedRun } from './run-options.ts'

/** How many addresses an error names. */
const namedMax = 5

export interface Asking {
  readonly clock: Clock
  /** What is left of the time of the run. */
  readonly leftMs: () => number
  readonly ask: (client: ExecutorClient) => Promise<ExecutorAnswer>
}

/**
 * The first executor with a good answer, within the time of the run. Those that were silent shortly before are asked
 * last: each of them may take seconds.
 *
 * @throws SchedulerError ERR_XXL_JOB_RUN when there is none
 */
export async function firstThat(
  run: ResolvedRun,
  clients: readonly ExecutorClient[],
  { clock, leftMs, ask }: Asking,
): Promise<ExecutorClient> {
  const inTurn = [...clients.filter((each) => !each.isSilent), ...clients.filter((each) => each.isSilent)]
  const silent: string[] = []
  let asked = 0
  for (const client of inTurn) {
    refuseAborted(run)
    const limitMs = leftMs()
    if (limitMs <= 0) break
    asked++
    const asking = ask(client)
    // One that answers later is silent no more.
    const answer = (await settledWithin(clock, limitMs, asking)) ? await asking : null
    if (answer !== null && isGood(answer)) return client
    if (answer?.kind === 'answered') continue
    client.noteSilence()
    silent.push(client.address)
  }
  const wanted = run.route === 'FAILOVER' ? 'answered' : `is idle for job ${run.jobId}`
  const within = leftMs() > 0 ? '' : ` within ${run.resultTimeoutMs} ms (resultTimeoutMs)`
  const message = `No executor of '${run.appName}' ${wanted}${within}; ${asked} were asked.`
  const more = silent.length > namedMax ? ', ...' : ''
  const without = ` Without an answer: ${silent.slice(0, namedMax).join(', ')}${more}.`
  throw noExecutor(silent.length === 0 ? message : `${message}${without}`)
}

export function refuseAborted({ signal }: ResolvedRun): void {
  if (signal?.aborted === true) {
    throw new SchedulerError('ERR_XXL_JOB_RUN', 'The run was interrupted before it was sent.')
  }
}

export function isGood(answer: ExecutorAnswer): boolean {
  return answer.kind === 'answered' && answer.reply.code === xxlJobCodes.success
}

export function noExecutor(message: string): SchedulerError {
  return new SchedulerError('ERR_XXL_JOB_RUN', message)
}
