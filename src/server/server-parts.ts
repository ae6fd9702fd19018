import type { AlertsPlugin } from '../alerts/alerts-plugin.ts'
import type { SchedulerHealth } from '../health/scheduler-health.ts'
import type { PrometheusRegistry } from '../metrics/prometheus/prometheus-registry.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock } from '../time/clock.ts'
import type { XxlJobAdmin } from '../xxl-job/admin/admin-face.ts'
import type { Authenticator, Login } from './auth/authenticator.ts'
import type { BulkRuns } from './bulk/bulk-runs.ts'
import type { Access } from './catalogue/role.ts'
import type { ExecutionStatsJson } from './execution-stats.ts'
import type { AuditTeller } from './http/audit-teller.ts'
import type { LiveStreams } from './live/live-streams.ts'
import type { Looks, LooksBack } from './looks.ts'
import type { GroupCounts, Overview } from './overview-look.ts'
import type { MisfireStatsJson } from './wire/misfires.ts'
import type { XxlJobDaysLook, XxlJobsLook } from './xxl-job-looks.ts'

/** What operations share, whatever scheduler they are about. */
export interface ServerParts {
  /** By name; the first one is the default. */
  readonly schedulers: ReadonlyMap<string, Scheduler>
  readonly clock: Clock
  readonly isReadOnly: boolean
  /** That of each scheduler, by its name. */
  readonly health: ReadonlyMap<string, SchedulerHealth>
  /** Of the schedulers that have some, by their name. */
  readonly alerts: ReadonlyMap<string, AlertsPlugin>
  /** Null when there is none. */
  readonly xxlJob: XxlJobAdmin | null
  readonly xxlJobs: Looks<XxlJobsLook>
  readonly xxlJobDays: Looks<XxlJobDaysLook>
  /** Null when nothing is measured. */
  readonly metrics: PrometheusRegistry | null
  /** The ids of the operations that somebody may call, on something at least; null for a client that is not known. */
  readonly operationsFor: (access: Access | null) => readonly string[]
  readonly authenticator: Authenticator
  /** How long a session lasts. */
  readonly sessionMs: number
  readonly streams: LiveStreams
  readonly bulk: BulkRuns
  readonly audit: AuditTeller
  readonly overviews: Looks<Overview>
  readonly groupCounts: Looks<GroupCounts>
  readonly executionStats: LooksBack<ExecutionStatsJson>
  readonly misfireStats: LooksBack<MisfireStatsJson>
  /** The OpenAPI document, made when it is first asked for. */
  readonly openApi: () => Readonly<Record<string, unknown>>
}

/** The request that an operation answers, for the few that need more of it than its values. */
export interface Exchange {
  readonly request: Request
  /** Where it came from. */
  readonly address: string
  /**
   * Whether it changes something only as it was read: what `noteStored` was told must still be stored when the change
   * is.
   */
  readonly isOnlyAsRead: boolean
  /** Counts a login; throws ERR_RATE_LIMITED when there were too many. */
  countLogin(): void
  /** Gives the client a session, or ends the one it has with null. */
  keepSession(login: Login | null): void
  /** What is about to be changed, as it is now: for the audit, where the answer does not have it as `before`. */
  noteBefore(before: unknown): void
  /**
   * What is stored now, as its readers see it; null when nothing is. An answer gets its `ETag`, and a change is refused
   * when the request expects something else. @throws SchedulerError ERR_CHANGED_MEANWHILE
   */
  noteStored(stored: unknown): void
  /**
   * From now on what fails may have been done, at least in part, whatever the database says: what it refuses is not all
   * that there is to do.
   */
  noteBegun(): void
}
