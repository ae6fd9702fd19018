import type { EpochMs } from '../time/clock.ts'
import type { PageRequest } from './queries.ts'

export const auditOutcomes = ['done', 'refused', 'failed'] as const
/** What became of a request: `done`; `refused` to who asked; `failed` for another reason. */
export type AuditOutcome = (typeof auditOutcomes)[number]

/** What somebody did, or was not allowed to do. */
export interface AuditNote {
  /** What was asked for, such as `jobs.put`. Cut at 200 characters, as are the two below. */
  readonly operation: string
  /** Who asked. Default: somebody who is not known. */
  readonly by?: string
  /** Where the request came from. Default: not known. */
  readonly address?: string
  /** The group and the name of what it was about, as far as it has them. Cut at 500 characters. */
  readonly targetGroup?: string
  readonly targetName?: string
  /** Default `done`. */
  readonly outcome?: AuditOutcome
  /** Why it was refused or failed. Cut at 2,000 characters. */
  readonly error?: string
  /** What was sent; kept as JSON, as are the two below. */
  readonly request?: unknown
  /** What the request changed, as it was before. */
  readonly before?: unknown
  /** The same afterwards. */
  readonly after?: unknown
}

/** The place of an entry in the audit. */
export interface AuditCursor {
  readonly timeMs: EpochMs
  readonly id: string
}

/** One entry of the audit. Texts of JSON show `***` for secrets and end with `…` where cut, at 4,000 characters. */
export interface AuditEntry extends AuditCursor {
  /** Null for somebody who has not said who it is. */
  readonly by: string | null
  /** Null where it is not known. */
  readonly address: string | null
  /** The instance id of the node that was asked. */
  readonly node: string
  readonly operation: string
  readonly targetGroup: string | null
  readonly targetName: string | null
  readonly outcome: AuditOutcome
  /**
   * 1, or more for an entry of many requests that were refused or failed: it has the instant of the first and shows the
   * last.
   */
  readonly times: number
  readonly errorText: string | null
  readonly requestText: string | null
  readonly beforeText: string | null
  readonly afterText: string | null
}

/** All conditions must hold. */
export interface AuditQuery extends PageRequest<AuditCursor> {
  readonly by?: string
  readonly operation?: string
  readonly targetGroup?: string
  readonly targetName?: string
  readonly outcome?: AuditOutcome
  /** The instance id of the node that was asked. */
  readonly node?: string
  /** At or after this instant. */
  readonly from?: Date
  /** Before this instant. */
  readonly to?: Date
}

/** How many entries a page of a query with further conditions looks at. */
export const auditScanned = 20_000

/** The conditions that no order of entries serves. */
export const auditConditions = ['by', 'operation', 'targetGroup', 'targetName', 'outcome', 'node'] as const

/** Whether a query has to try entry after entry. */
export function isAuditScan(query: AuditQuery): boolean {
  return auditConditions.some((condition) => query[condition] !== undefined)
}
