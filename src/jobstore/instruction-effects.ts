import type { JobKey } from '../core/key.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { CompletedExecutionInstruction, JobCompletion } from './job-store.ts'
import { isMadeByScheduler } from './own-triggers.ts'

/** What the end of an execution does to the trigger that fired, or to all triggers of its job. */
interface InstructionEffect {
  readonly action: 'delete' | 'complete' | 'fail'
  readonly isForAll: boolean
}

/** By the instruction of the completion; null: nothing. */
export const instructionEffects: Readonly<Record<CompletedExecutionInstruction, InstructionEffect | null>> = {
  noop: null,
  reExecuteJob: null,
  deleteTrigger: { action: 'delete', isForAll: false },
  setTriggerComplete: { action: 'complete', isForAll: false },
  setAllJobTriggersComplete: { action: 'complete', isForAll: true },
  setTriggerError: { action: 'fail', isForAll: false },
  setAllJobTriggersError: { action: 'fail', isForAll: true },
}

/** Whether a trigger that ended while it ran was rescheduled meanwhile, so that it is not deleted, nor completed. */
export function isRescheduled({ trigger }: JobCompletion, stored: Pick<Trigger, 'nextFireTimeMs'>): boolean {
  return trigger.nextFireTimeMs === null && stored.nextFireTimeMs !== null
}

/**
 * Whether the trigger that fired goes with its execution, unless it was rescheduled. One that the scheduler made itself
 * is not kept as complete, nor the last of a job that was declared to go with its run: both would stay for good.
 */
export function endsOwnTrigger({ instruction, trigger, jobDetail }: JobCompletion): boolean {
  const action = instructionEffects[instruction]?.action
  if (action !== 'complete') return action === 'delete'
  const goesWithRun = jobDetail.plan !== null && !jobDetail.durable
  return trigger.nextFireTimeMs === null && (goesWithRun || isMadeByScheduler(trigger))
}

/** Why triggers of a job are in error. */
export function notCarriedOut(jobKey: JobKey): string {
  return `An execution of job '${jobKey.toString()}' could not be carried out.`
}
