import type { PauseTarget } from '../jobstore/pauses.ts'
import { DueWatch, type DueWatchParts, type Looked, lookIntervalMs, shortestMs } from './due-watch.ts'
import type { Notifier, Told } from './notifier.ts'

export interface PauseWatchParts extends Pick<DueWatchParts, 'jobStore' | 'clock' | 'logger'> {
  readonly notifier: Notifier
}

/** Has pauses end by themselves. */
export class PauseWatch extends DueWatch {
  constructor(parts: PauseWatchParts) {
    super({
      ...parts,
      what: 'pauses that are over',
      look: () => endSome(parts),
      failed: { nextMs: null, whenDueMs: shortestMs, atMostMs: lookIntervalMs },
    })
  }
}

async function endSome({ jobStore, notifier }: PauseWatchParts): Promise<Looked> {
  const { ended, nextMs } = await jobStore.endPauses()
  // A listener that does not answer holds up the end of no other pause.
  for (const target of ended) notifier.track(tell(notifier, target))
  // One that is over and could not be ended is not tried again at once.
  return { nextMs, whenDueMs: ended.length > 0 ? 0 : shortestMs, atMostMs: Number.POSITIVE_INFINITY }
}

function tell(notifier: Notifier, target: PauseTarget): Told {
  switch (target.scope) {
    case 'trigger': {
      const triggerKey = target.key
      return notifier.tell('triggerResumed', { triggerKey }, (l) => l.triggerResumed?.(triggerKey))
    }
    case 'job': {
      const jobKey = target.key
      return notifier.tell('jobResumed', { jobKey }, (l) => l.jobResumed?.(jobKey))
    }
    case 'triggerGroup':
    case 'all': {
      const group = target.scope === 'all' ? null : target.group
      return notifier.tell('triggersResumed', { group }, (l) => l.triggersResumed?.(group))
    }
    case 'jobGroup': {
      const { group } = target
      return notifier.tell('jobsResumed', { group }, (l) => l.jobsResumed?.(group))
    }
  }
}
