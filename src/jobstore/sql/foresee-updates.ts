import type { TriggerKey } from '../../core/key.ts'
import { nextTurn } from '../../time/next-turn.ts'
import type { NamedCalendar } from '../definition-changes.ts'
import type { Page, TriggerSummary } from '../queries.ts'
import { queryTriggers } from './programs/reading/reading.ts'
import { ForeseenUpdates } from './programs/scheduling/foreseen-updates.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'

/** The longest that triggers are looked at before others have their turn. */
const turnMs = 3
const readAtOnce = 1000

/**
 * Looks, before the transaction that stores calendars, at all triggers that name them: in turns, so that the event loop
 * does not wait for what takes long, and without a lock on them.
 */
export async function foreseeUpdates(
  transactor: SqlTransactor,
  calendars: readonly NamedCalendar[],
): Promise<ForeseenUpdates> {
  const { clock } = transactor.session.context
  const foreseen = new ForeseenUpdates(transactor.session.context)
  for (const { name: calendarName, calendar } of calendars) {
    let after: TriggerKey | null = null
    do {
      const query = { calendarName, take: readAtOnce, ...(after !== null && { after }) }
      const page: Page<TriggerSummary, TriggerKey> = await transactor.read((session) =>
        queryTriggers(session, query),
      )
      const { found } = await transactor.read(({ triggers }) =>
        triggers.load(page.items.map(({ key }) => key)),
      )
      let endMs = clock.elapsedMs() + turnMs
      for (const { trigger } of found.values()) {
        foreseen.foresee(trigger, calendar)
        if (clock.elapsedMs() < endMs) continue
        await nextTurn(clock)
        endMs = clock.elapsedMs() + turnMs
      }
      after = page.next
    } while (after !== null)
  }
  return foreseen
}
