import { checkName, checkOptions } from '../core/arguments.ts'
import { checkJobKey, type JobKey } from '../core/key.ts'
import type { AuditCursor, AuditEntry, AuditQuery } from '../jobstore/audit.ts'
import type { ExecutionLogLine, ExecutionLogQuery } from '../jobstore/execution-log.ts'
import { type JobStatus, type JobStatusQuery, statusDaysMax } from '../jobstore/job-status.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import {
  type Misfire,
  type MisfireCountQuery,
  type MisfireCounts,
  type MisfireCursor,
  type MisfireQuery,
  misfireCounts,
} from '../jobstore/misfires.ts'
import type {
  ExecutionCursor,
  ExecutionDetails,
  ExecutionQuery,
  ExecutionSummary,
  Page,
} from '../jobstore/queries.ts'
import {
  auditQuery,
  executionLogQuery,
  executionQuery,
  jobStatusQuery,
  misfireCountQuery,
  misfireQuery,
} from './scheduler-arguments.ts'

/** What the store remembers of executions, for users: checks arguments, and has an answer for every store. */
export class Remembered {
  readonly #open: () => JobStore

  /** `open` throws once the scheduler has been shut down. */
  constructor(open: () => JobStore) {
    this.#open = open
  }

  async executions(query: ExecutionQuery): Promise<Page<ExecutionSummary, ExecutionCursor>> {
    checkOptions('queryExecutions', query, executionQuery, 'query')
    return this.#open().queryExecutions(query)
  }

  async execution(fireInstanceId: string): Promise<ExecutionDetails | null> {
    checkName('getExecution', 'fireInstanceId', fireInstanceId)
    return (await this.#open().records?.getExecution(fireInstanceId)) ?? null
  }

  async log(fireInstanceId: string, query: ExecutionLogQuery): Promise<Page<ExecutionLogLine, number>> {
    checkName('queryExecutionLog', 'fireInstanceId', fireInstanceId)
    checkOptions('queryExecutionLog', query, executionLogQuery, 'query')
    const { records } = this.#open()
    return (await records?.queryExecutionLog(fireInstanceId, query)) ?? { items: [], next: null }
  }

  async misfires(query: MisfireQuery): Promise<Page<Misfire, MisfireCursor>> {
    checkOptions('queryMisfires', query, misfireQuery, 'query')
    return (await this.#open().records?.queryMisfires(query)) ?? { items: [], next: null }
  }

  async misfireCounts(query: MisfireCountQuery): Promise<MisfireCounts> {
    checkOptions('getMisfireCounts', query, misfireCountQuery, 'query')
    return (await this.#open().records?.countMisfires(query)) ?? misfireCounts([])
  }

  async jobStatuses(query: JobStatusQuery): Promise<Page<JobStatus, JobKey>> {
    checkOptions('queryJobStatus', query, jobStatusQuery, 'query')
    return (await this.#open().records?.queryJobStatus(query)) ?? { items: [], next: null }
  }

  async jobStatus(jobKey: JobKey): Promise<JobStatus | null> {
    checkJobKey('getJobStatus', 'jobKey', jobKey)
    const found = await this.#open().records?.queryJobStatus({ jobKeys: [jobKey], days: statusDaysMax })
    return found?.items[0] ?? null
  }

  async audit(query: AuditQuery): Promise<Page<AuditEntry, AuditCursor>> {
    checkOptions('queryAudit', query, auditQuery, 'query')
    return (await this.#open().records?.queryAudit(query)) ?? { items: [], next: null }
  }
}
