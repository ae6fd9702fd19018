import { checkName, checkOneOf, checkOptions } from '../core/arguments.ts'
import { type JobKey, jobKeyOf, type TriggerKey } from '../core/key.ts'
import { checkGroupMatcher, type GroupMatcher } from '../core/matcher.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
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
import type { PausedGroups } from '../jobstore/pauses.ts'
import type {
  ExecutionCursor,
  ExecutionDetails,
  ExecutionQuery,
  ExecutionSummary,
  FirePlace,
  GroupCount,
  JobQuery,
  JobSummary,
  NextTriggerQuery,
  Page,
  TriggerCounts,
  TriggerQuery,
  TriggerSummary,
} from '../jobstore/queries.ts'
import type { Calendar } from '../triggers/calendars/calendar.ts'
import type { Trigger } from '../triggers/trigger.ts'
import {
  auditQuery,
  checkJobKeys,
  checkTriggerKeys,
  executionLogQuery,
  executionQuery,
  jobQuery,
  jobStatusQuery,
  misfireCountQuery,
  misfireQuery,
  nextTriggerQuery,
  triggerQuery,
} from './scheduler-arguments.ts'

/** The part of a scheduler that answers questions, whatever the store keeps: checks arguments and asks the store. */
export abstract class ReadingScheduler {
  readonly #open: () => JobStore

  /** `open` throws once the scheduler has been shut down. */
  constructor(open: () => JobStore) {
    this.#open = open
  }

  async getPausedGroups(): Promise<PausedGroups> {
    return this.#open().getPausedGroups()
  }
  async getPausedTriggerGroups(): Promise<readonly string[]> {
    const { triggerGroups } = await this.#open().getPausedGroups()
    return triggerGroups.map(({ group }) => group)
  }
  async getPausedJobGroups(): Promise<readonly string[]> {
    const { jobGroups } = await this.#open().getPausedGroups()
    return jobGroups.map(({ group }) => group)
  }
  async getJobGroupNames(): Promise<readonly string[]> {
    return this.#open().getJobGroupNames()
  }
  async getTriggerGroupNames(): Promise<readonly string[]> {
    return this.#open().getTriggerGroupNames()
  }
  async getJobKeys(matcher: GroupMatcher): Promise<readonly JobKey[]> {
    checkGroupMatcher('getJobKeys', 'matcher', matcher)
    return this.#open().getJobKeys(matcher)
  }
  async getTriggerKeys(matcher: GroupMatcher): Promise<readonly TriggerKey[]> {
    checkGroupMatcher('getTriggerKeys', 'matcher', matcher)
    return this.#open().getTriggerKeys(matcher)
  }
  async queryJobs(query: JobQuery = {}): Promise<Page<JobSummary, JobKey>> {
    checkOptions('queryJobs', query, jobQuery, 'query')
    return this.#open().queryJobs(query)
  }
  async queryTriggers(query: TriggerQuery = {}): Promise<Page<TriggerSummary, TriggerKey>> {
    checkOptions('queryTriggers', query, triggerQuery, 'query')
    return this.#open().queryTriggers(query)
  }
  async queryNextTriggers(query: NextTriggerQuery = {}): Promise<Page<TriggerSummary, FirePlace>> {
    checkOptions('queryNextTriggers', query, nextTriggerQuery, 'query')
    return this.#open().queryNextTriggers(query)
  }
  async getJobDetails(jobKeys: readonly JobKey[]): Promise<readonly JobDetail[]> {
    checkJobKeys('getJobDetails', 'jobKeys', jobKeys)
    return this.#open().getJobs(jobKeys)
  }
  async getTriggers(triggerKeys: readonly TriggerKey[]): Promise<readonly Trigger[]> {
    checkTriggerKeys('getTriggers', 'triggerKeys', triggerKeys)
    return this.#open().getTriggers(triggerKeys)
  }
  async getTriggerCounts(): Promise<TriggerCounts> {
    return this.#open().getTriggerCounts()
  }
  async getGroupCounts(of: 'jobs' | 'triggers'): Promise<readonly GroupCount[]> {
    checkOneOf(['jobs', 'triggers'])('getGroupCounts', 'of', of)
    const counts = await this.#open().getGroupCounts(of)
    return [...counts].sort((a, b) => (a.group < b.group ? -1 : 1))
  }
  async getEarliestDueTime(): Promise<Date | null> {
    const dueMs = await this.#open().earliestDueMs()
    return dueMs === null ? null : new Date(dueMs)
  }
  async getCalendar(name: string): Promise<Calendar | null> {
    checkName('getCalendar', 'name', name)
    return this.#open().getCalendar(name)
  }
  async getCalendarNames(): Promise<readonly string[]> {
    return this.#open().getCalendarNames()
  }
  async queryExecutions(query: ExecutionQuery = {}): Promise<Page<ExecutionSummary, ExecutionCursor>> {
    checkOptions('queryExecutions', query, executionQuery, 'query')
    return this.#open().queryExecutions(query)
  }
  async getExecution(fireInstanceId: string): Promise<ExecutionDetails | null> {
    checkName('getExecution', 'fireInstanceId', fireInstanceId)
    return (await this.#open().records?.getExecution(fireInstanceId)) ?? null
  }
  async queryExecutionLog(
    id: string,
    query: ExecutionLogQuery = {},
  ): Promise<Page<ExecutionLogLine, number>> {
    checkName('queryExecutionLog', 'fireInstanceId', id)
    checkOptions('queryExecutionLog', query, executionLogQuery, 'query')
    return (await this.#open().records?.queryExecutionLog(id, query)) ?? { items: [], next: null }
  }
  async queryMisfires(query: MisfireQuery = {}): Promise<Page<Misfire, MisfireCursor>> {
    checkOptions('queryMisfires', query, misfireQuery, 'query')
    return (await this.#open().records?.queryMisfires(query)) ?? { items: [], next: null }
  }
  async getMisfireCounts(query: MisfireCountQuery = {}): Promise<MisfireCounts> {
    checkOptions('getMisfireCounts', query, misfireCountQuery, 'query')
    return (await this.#open().records?.countMisfires(query)) ?? misfireCounts([])
  }
  async queryJobStatus(query: JobStatusQuery = {}): Promise<Page<JobStatus, JobKey>> {
    checkOptions('queryJobStatus', query, jobStatusQuery, 'query')
    return (await this.#open().records?.queryJobStatus(query)) ?? { items: [], next: null }
  }
  async getJobStatus(jobKey: JobKey | string): Promise<JobStatus | null> {
    const key = jobKeyOf('getJobStatus', 'jobKey', jobKey)
    const found = await this.#open().records?.queryJobStatus({ jobKeys: [key], days: statusDaysMax })
    return found?.items[0] ?? null
  }
  async queryAudit(query: AuditQuery = {}): Promise<Page<AuditEntry, AuditCursor>> {
    checkOptions('queryAudit', query, auditQuery, 'query')
    return (await this.#open().records?.queryAudit(query)) ?? { items: [], next: null }
  }
}
