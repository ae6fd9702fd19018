import type { AcquireAndFireRequest } from '../job-store.ts'
import { RowsLockedError } from './kernel/sql-runner.ts'
import { type SearchResult, searchTriggers } from './programs/firing/acquiring.ts'
import type { SearchManner } from './programs/firing/search.ts'
import { firingInDoubt } from './programs/steps/firing-in-doubt.ts'
import type { SqlTransactor } from './session/sql-transactor.ts'

/**
 * A search passes over locked rows of triggers. Where another session holds only the row of a trigger's schedule, it
 * first locks those rows as well, and passes over them; so does the next search, for as long as there are any. If that
 * does not help, it writes less: it claims what it would fire and leaves late triggers as they are.
 */
export async function searchPastLocks(
  transactor: SqlTransactor,
  request: AcquireAndFireRequest,
  fires: boolean,
): Promise<SearchResult> {
  const inDoubt = firingInDoubt<SearchResult>(transactor.session, ({ fired }) =>
    fired.map(({ fireInstanceId }) => fireInstanceId),
  )
  const attempt = (
    manner: Omit<SearchManner, 'looksAgain'>,
    whenLocked: 'passOver' | 'comeBack',
  ): Promise<SearchResult> =>
    // Only a caller for whom it fires is told when to look again.
    transactor.run((tx) => searchTriggers(tx, request, { ...manner, looksAgain: fires }), {
      lock: 'rows',
      tells: 'none',
      whenLocked,
      ...(manner.fires ? inDoubt : {}),
      withoutFired: (result) => ({ ...result, fired: [] }),
      // A claim that a crash undoes is missed when it is fired.
      mayBeLost: ({ fired }) => fired.length === 0,
    })
  for (const locksSchedules of transactor.session.searchMemory.schedulesAreHeld ? [true] : [false, true]) {
    try {
      return await attempt({ fires, treatsLate: true, locksSchedules }, 'passOver')
    } catch (error) {
      if (!(error instanceof RowsLockedError)) throw error
    }
  }
  return attempt({ fires: false, treatsLate: false, locksSchedules: true }, 'comeBack')
}
