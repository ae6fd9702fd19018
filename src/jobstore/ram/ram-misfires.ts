import {
  type Misfire,
  type MisfireCountQuery,
  type MisfireCounts,
  type MisfireCursor,
  type MisfireQuery,
  misfireCounts,
  misfiresCounted,
  wantedCauses,
} from '../misfires.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'
import { TimedRows } from './timed-rows.ts'

/** Planned instants that did not become runs, in the order in which they were noticed. */
export class RamMisfires extends TimedRows<MisfireCursor, Misfire> {
  constructor({ maxAgeMs, maxRows }: ResolvedRecordOptions['misfires']) {
    super({
      maxAgeMs,
      maxRows,
      timeOf: ({ noticedTimeMs }) => noticedTimeMs,
      cursorOf: ({ noticedTimeMs, id }) => ({ noticedTimeMs, id }),
    })
  }

  /** Those that were noticed last first. */
  query(query: MisfireQuery): Page<Misfire, MisfireCursor> {
    return this.page(query, pageSize('queryMisfires', query), filterOf(query))
  }

  count(query: MisfireCountQuery): MisfireCounts {
    return misfireCounts(this.#counted(query))
  }

  *#counted(query: MisfireCountQuery): Generator<{ cause: Misfire['cause']; rows: number; fires: number }> {
    let rows = 0
    for (const { cause, count } of this.newestFirst(query)) {
      yield { cause, rows: 1, fires: count ?? 1 }
      rows += 1
      if (rows === misfiresCounted) return
    }
  }
}

function filterOf(query: MisfireQuery): (misfire: Misfire) => boolean {
  const { jobGroup, jobKey, triggerKey } = query
  const causes = wantedCauses(query)
  return (misfire) =>
    (triggerKey === undefined || misfire.triggerKey.equals(triggerKey)) &&
    (jobKey === undefined || misfire.jobKey?.equals(jobKey) === true) &&
    (jobGroup === undefined || misfire.jobKey?.group === jobGroup) &&
    (causes === null || causes.includes(misfire.cause))
}
