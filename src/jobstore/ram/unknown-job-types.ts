import { type UnknownJobType, unknownJobTypeLimits } from '../queries.ts'
import type { RamSession } from './ram-session.ts'

/** The job types of triggers that were set aside, and of those that an acquisition would set aside now. */
export function findUnknownJobTypes({ data: { queue }, context }: RamSession): readonly UnknownJobType[] {
  const nowMs = context.clock.now()
  const isDue = (atMs: number | null): boolean => atMs !== null && atMs <= nowMs
  queue.unshelve(context.knowsJobType)
  for (let first = queue.first(); first !== null; first = queue.first()) {
    if (!isDue(first.trigger.nextFireTimeMs) || context.knowsJobType(first.job.detail.jobType)) break
    queue.shelve(first)
  }
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
