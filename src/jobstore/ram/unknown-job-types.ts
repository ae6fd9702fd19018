import { type UnknownJobType, unknownJobTypeLimits } from '../queries.ts'
import type { RamSession } from './ram-session.ts'
import type { TriggerRecord } from './records.ts'

/** The job types of triggers that were set aside, and of those among the first that are due which would be. */
export function findUnknownJobTypes({ data: { queue }, context }: RamSession): readonly UnknownJobType[] {
  const nowMs = context.clock.now()
  const isDue = (atMs: number | null): boolean => atMs !== null && atMs <= nowMs
  queue.unshelve(context.knowsJobType)
  const unknown: TriggerRecord[] = []
  let looked = 0
  for (const record of queue.dueBy(nowMs)) {
    if (!context.knowsJobType(record.job.detail.jobType)) unknown.push(record)
    if (++looked === unknownJobTypeLimits.triggers) break
  }
  for (const record of unknown) queue.shelve(record)
  const found: UnknownJobType[] = []
  for (const [jobType, shelf] of queue.shelves) {
    if (found.length === unknownJobTypeLimits.types) break
    const due = [...shelf].filter(({ trigger }) => isDue(trigger.nextFireTimeMs))
    if (due.length === 0) continue
    const first = due
      .slice(0, unknownJobTypeLimits.triggersOfType)
      .map(({ trigger, job }) => ({ triggerKey: trigger.key, jobKey: job.detail.key }))
    found.push({ jobType, waiting: due.length, first })
  }
  return found
}
