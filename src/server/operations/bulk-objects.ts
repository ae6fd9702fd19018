import { isMadeByScheduler } from '../../jobstore/own-triggers.ts'
import type { BulkDone, BulkJson } from '../bulk/bulk-runs.ts'
import type { OperationCall } from '../catalogue/operation.ts'
import type { KeyJson } from '../wire/fields.ts'
import { type PauseBody, pauseOptionsOf } from '../wire/pauses.ts'
import { definitionOf } from '../wire/triggers.ts'
import { changesJob, changesTrigger, jobKeyOf, landedIn, runOnce, triggerKeyOf } from './changes.ts'
import { readableJobBefore, unlessUnreadable } from './trigger-details.ts'

export const bulkActions = ['pause', 'resume', 'run', 'delete'] as const
export type BulkAction = (typeof bulkActions)[number]

/** A bulk action, as it was asked for. */
export type BulkCall = OperationCall<
  unknown,
  unknown,
  {
    readonly action: BulkAction
    readonly of: 'jobs' | 'triggers'
    readonly pause: PauseBody
    readonly resume: { readonly withoutMissed: boolean }
  }
>

/** What came of it, and what the audit has of that. */
interface Outcome extends BulkDone {
  readonly before?: unknown
  readonly result?: unknown
}

/** Does it to one of them. One that was changed has an entry of the audit, as if it had been asked for alone. */
export async function carryOut(call: BulkCall, key: KeyJson, id: string): Promise<BulkDone> {
  const { action, of, pause, resume } = call.body
  const done = await (of === 'jobs' ? onJob(call, key) : onTrigger(call, key))
  if (!done.changed) return done
  const sent = { ...(action === 'pause' && pause), ...(action === 'resume' && resume), bulk: id }
  tell(call, { id: `${of}.${action}`, params: { group: key.group, name: key.name }, sent, ...done })
  return done
}

/** Its beginning has an entry like every request. */
export function tellEnd(call: BulkCall, state: BulkJson): void {
  tell(call, {
    id: 'bulk.end',
    params: { id: state.id },
    sent: {},
    changed: state.changed > 0,
    result: state,
  })
}

interface Told extends Outcome {
  readonly id: string
  readonly params: object
  readonly sent: object
}

function tell({ parts, scheduler, access, exchange }: BulkCall, told: Told): void {
  const { id, params, sent, changed, before, result = null } = told
  parts.audit.tell({
    operation: { id, reach: 'data' },
    scheduler,
    principal: access.principal.name,
    address: exchange.address,
    params,
    query: null,
    bodyText: JSON.stringify(sent),
    isDryRun: false,
    status: 200,
    answer: { dryRun: false, changed, landed: landedIn(scheduler, 'data'), result },
    before,
  })
}

async function onJob(call: BulkCall, key: KeyJson): Promise<Outcome> {
  const { scheduler, body, access } = call
  const jobKey = jobKeyOf(key)
  switch (body.action) {
    case 'pause':
    case 'resume': {
      const changes = await changesJob(scheduler, jobKey, body.action, body.pause)
      const by = access.principal.name
      const isFound = await (body.action === 'pause'
        ? scheduler.pauseJob(jobKey, pauseOptionsOf(body.pause, by))
        : scheduler.resumeJob(jobKey, body.resume))
      return { changed: isFound && changes }
    }
    case 'delete': {
      // What cannot be read is deleted as well.
      const job = await unlessUnreadable(() => scheduler.getJobDetail(jobKey))
      const before = await readableJobBefore(scheduler, job)
      return { changed: await scheduler.deleteJob(jobKey), before }
    }
    case 'run': {
      const { result } = await runOnce(call, jobKey, {})
      return { changed: true, paused: result.paused, result }
    }
  }
}

async function onTrigger(call: BulkCall, key: KeyJson): Promise<Outcome> {
  const { scheduler, body, access } = call
  const triggerKey = triggerKeyOf(key)
  switch (body.action) {
    case 'pause':
    case 'resume': {
      const changes = await changesTrigger(scheduler, triggerKey, body.action, body.pause)
      const by = access.principal.name
      const isFound = await (body.action === 'pause'
        ? scheduler.pauseTrigger(triggerKey, pauseOptionsOf(body.pause, by))
        : scheduler.resumeTrigger(triggerKey, body.resume))
      return { changed: isFound && changes }
    }
    case 'delete': {
      const trigger = await unlessUnreadable(() => scheduler.getTrigger(triggerKey))
      const before = trigger && definitionOf(trigger)
      return { changed: await scheduler.unscheduleJob(triggerKey), before }
    }
    case 'run': {
      const trigger = await scheduler.getTrigger(triggerKey)
      if (trigger === null || trigger.jobKey === null || isMadeByScheduler(trigger)) return { changed: false }
      const { result } = await runOnce(call, trigger.jobKey, { ...trigger.jobDataMap })
      return { changed: true, paused: result.paused, result }
    }
  }
}
