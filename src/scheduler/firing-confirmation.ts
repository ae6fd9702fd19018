import type { JobExecutionError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import { unlessAborted } from '../time/unless-aborted.ts'
import type { ExecutionContext } from './execution-context.ts'
import { toJobExecutionError } from './job-failure.ts'

export interface FiringConfirmationParts {
  readonly jobStore: Pick<JobStore, 'cluster'>
  readonly logger: Logger
}

/**
 * What a job waits for before it begins; undefined while it is certain that its firing is this node's. A node may have
 * stood still since the store marked the firing, or a listener may have waited for long: then others may have recovered
 * it, and run it. Answers why the job is not to begin; null where it is.
 */
export function confirmFiring(
  context: ExecutionContext,
  parts: FiringConfirmationParts,
): Promise<JobExecutionError | null> | undefined {
  const confirming = context.isTakenOver ? Promise.resolve() : parts.jobStore.cluster?.confirmFirings?.()
  return confirming && whyNot(confirming, context, parts)
}

async function whyNot(
  confirming: Promise<void>,
  context: ExecutionContext,
  { logger }: FiringConfirmationParts,
): Promise<JobExecutionError | null> {
  const { fireInstanceId, jobKey } = context
  try {
    await unlessAborted(confirming, context.taskSignal)
    return null
  } catch (error) {
    const what = `Job ${jobKey.toString()} did not begin`
    if (context.isTakenOver) {
      logger.warn({ fireInstanceId }, `${what}: another node has taken over its firing.`)
    } else if (context.interruption === null) {
      logger.warn(
        { fireInstanceId, err: error },
        `${what}: it was not certain any more that this node fires it.`,
      )
      // What happens to it is up to the others.
      context.isTakenOver = true
    }
    return toJobExecutionError(jobKey, error)
  }
}
