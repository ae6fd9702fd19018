import type { JobExecutionError } from '../core/errors.ts'
import type { CompletedExecutionInstruction } from '../jobstore/job-store.ts'
import type { TriggerListener } from '../listeners/trigger-listener.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { ExecutionContext } from './execution-context.ts'
import type { Notifier, Told } from './notifier.ts'

// What listeners and events are told of one execution, in the order in which it happens.

/** Calls the trigger listeners and asks them for a veto; null when there are none. */
export function askForVeto(context: ExecutionContext, notifier: Notifier): Promise<boolean> | null {
  const { trigger } = context
  if (notifier.events.has('triggerFired')) notifier.events.emit('triggerFired', { trigger, context })
  const listeners = notifier.triggerListenersFor(trigger.key)
  return listeners.length === 0 ? null : vetoOf(listeners, context, notifier)
}

async function vetoOf(
  listeners: readonly TriggerListener[],
  context: ExecutionContext,
  notifier: Notifier,
): Promise<boolean> {
  const { trigger } = context
  let vetoed = false
  for (const listener of listeners) {
    await notifier.callEach('triggerFired', [listener], () => listener.triggerFired?.(trigger, context))
    await notifier.callEach('vetoJobExecution', [listener], async () => {
      const answer: unknown = await listener.vetoJobExecution?.(trigger, context)
      if (answer === true) vetoed = true
      // What counts as true elsewhere was meant as a veto.
      else if (Boolean(answer)) notifier.noVeto(listener, answer)
    })
  }
  return vetoed
}

export function tellVetoed(context: ExecutionContext, notifier: Notifier): Told {
  notifier.events.emit('jobExecutionVetoed', { context })
  const listeners = notifier.jobListenersFor(context.jobKey)
  return notifier.callEach('jobExecutionVetoed', listeners, (listener) =>
    listener.jobExecutionVetoed?.(context),
  )
}

export function tellToBeExecuted(context: ExecutionContext, notifier: Notifier): Told {
  if (notifier.events.has('jobToBeExecuted')) notifier.events.emit('jobToBeExecuted', { context })
  const listeners = notifier.jobListenersFor(context.jobKey)
  return notifier.callEach('jobToBeExecuted', listeners, (listener) => listener.jobToBeExecuted?.(context))
}

export function tellWasExecuted(
  error: JobExecutionError | null,
  context: ExecutionContext,
  notifier: Notifier,
): Told {
  if (notifier.events.has('jobWasExecuted')) notifier.events.emit('jobWasExecuted', { context, error })
  const listeners = notifier.jobListenersFor(context.jobKey)
  return notifier.callEach('jobWasExecuted', listeners, (listener) =>
    listener.jobWasExecuted?.(context, error),
  )
}

export function tellComplete(
  instruction: CompletedExecutionInstruction,
  context: ExecutionContext,
  notifier: Notifier,
): Told {
  const { trigger } = context
  if (notifier.events.has('triggerComplete')) {
    notifier.events.emit('triggerComplete', { trigger, context, instruction })
  }
  const listeners = notifier.triggerListenersFor(trigger.key)
  return notifier.callEach('triggerComplete', listeners, (listener) =>
    listener.triggerComplete?.(trigger, context, instruction),
  )
}

export function tellFinalized({ trigger }: ExecutionContext, notifier: Notifier): Told {
  if (trigger.mayFireAgain()) return null
  return notifier.tell('triggerFinalized', { trigger }, (listener) => listener.triggerFinalized?.(trigger))
}

export function tellRetry(retry: Trigger, context: ExecutionContext, notifier: Notifier): void {
  notifier.events.emit('jobRetryScheduled', {
    context,
    attempt: context.attempt + 1,
    retryTime: retry.startTime,
    triggerKey: retry.key,
  })
}
