import { isGeneratedKey } from '../core/key.ts'
import type { Logger } from '../core/logger.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { Clock } from '../time/clock.ts'
import type { Trigger } from '../triggers/trigger.ts'

export interface NamelessParts {
  readonly isPersistent: boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** A trigger that fires within this time has most likely fired before the program starts again. */
const soonMs = 60_000

/**
 * Warns once when a job or trigger with a generated name is stored in a persistent store: each start of the program
 * would store it again under another name. A trigger that fires once and soon is deleted afterwards and needs no name.
 */
export class Nameless {
  readonly #parts: NamelessParts
  #isTold = false

  constructor(parts: NamelessParts) {
    this.#parts = parts
  }

  /** Called with what was stored; triggers have their first fire time. */
  note(job: JobDetail | null, triggers: readonly Trigger[]): void {
    const { isPersistent, logger } = this.#parts
    if (this.#isTold || !isPersistent) return
    const trigger = triggers.find((each) => isGeneratedKey(each.key) && !this.#runsOnceSoon(each))
    const hasNamelessJob = job?.durable === true && isGeneratedKey(job.key)
    if (trigger === undefined && !hasNamelessJob) return
    this.#isTold = true
    const what =
      trigger === undefined ? `Job ${job?.key.toString() ?? ''}` : `Trigger ${trigger.key.toString()}`
    logger.warn(
      {},
      `${what} has a generated name and lasts in the store: the next start of this program stores another one ` +
        'beside it. Give jobs and triggers names with withIdentity.',
    )
  }

  #runsOnceSoon(trigger: Trigger): boolean {
    const firstMs = trigger.nextFireTimeMs
    if (firstMs === null || firstMs > this.#parts.clock.now() + soonMs) return false
    return trigger.fireTimeAfterMs(firstMs, 1) === null
  }
}
