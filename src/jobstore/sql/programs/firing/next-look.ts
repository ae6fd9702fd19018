import type { EpochMs } from '../../../../time/clock.ts'
import type { AcquiredAndFired } from '../../../job-store.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import { overdueClaimMs } from './overdue-claims.ts'
import { leavingOut, notePassed, ownersTurnMs, roomsToldAheadMs, type Search } from './search.ts'

export interface NextLook extends Pick<AcquiredAndFired, 'lookAgainAtMs'> {
  /** Other nodes have claims that they should have fired by now. */
  readonly hasOverdueClaims: boolean
}

/**
 * When to look again without a signal; with `hasOverdueClaims`, at once. Until then other nodes fire what they have
 * claimed and store its next fire time without a signal, transactions end that have locked due triggers, triggers of
 * limited groups become due, and nodes have had their turn at the items that are theirs.
 */
export function* nextLook(search: Search, untilMs: EpochMs): SqlProgram<NextLook> {
  const { session, nowMs } = search.tx
  const looks: EpochMs[] = search.hasLeft ? [nowMs] : []
  let hasOverdueClaims = false
  if (session.clustered) {
    const request = leavingOut(search, { untilMs })
    const { waitingMs, claimedMs, ownedMs, limitedMs } = yield* session.triggers.lookAhead(
      { ...request, nowMs },
      session.context.instanceId,
    )
    notePassed(search, request, earlierOf(waitingMs, ownedMs))
    // A trigger that this search did not find is being claimed, unless its group is limited.
    const claimIsFiredMs = search.limitedWait ? 0 : overdueClaimMs
    if (waitingMs !== null) looks.push(waitingMs <= nowMs ? nowMs : waitingMs + claimIsFiredMs)
    if (claimedMs !== null && claimedMs <= untilMs) looks.push(claimedMs + overdueClaimMs)
    // For what is due sooner, an end sends a signal. So a full group does not keep the node searching.
    if (limitedMs !== null) looks.push(Math.max(limitedMs, nowMs + roomsToldAheadMs))
    if (ownedMs !== null) looks.push(ownedMs + ownersTurnMs)
    hasOverdueClaims =
      claimedMs !== null && claimedMs + overdueClaimMs <= nowMs && session.triggersOfJava === null
  }
  if (looks.length === 0) return { hasOverdueClaims }
  return { lookAgainAtMs: Math.max(nowMs, Math.min(...looks)), hasOverdueClaims }
}

function earlierOf(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
