import { checkName, checkOneOf, checkOptions } from '../core/arguments.ts'
import type { JobKey, TriggerKey } from '../core/key.ts'
import { checkGroupMatcher, type GroupMatcher } from '../core/matcher.ts'
import type { JobDetail } from '../jobs/job-detail.ts'
import type { AuditCursor, AuditEntry, AuditQuery } from '../jobstore/audit.ts'
import type { ExecutionLogLine, ExecutionLogQuery } from '../jobstore/execution-log.ts'
import type { JobStatus, JobStatusQuery } from '../jobstore/job-status.ts'
import type { JobStore } from '../jobstore/job-store.ts'
import type {
  Misfire,
  MisfireCountQuery,
  MisfireCounts,
  MisfireCursor,
  MisfireQuery,
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
import { Remembered } from './remembered.ts'
import {
  checkJobKeys,
  checkTriggerKeys,
  jobQuery,
  nextTriggerQuery,
  triggerQuery,
} from './scheduler-arguments.ts'

/** The part of a scheduler that answers questions: checks arguments and asks the store. */
export abstract class ReadingScheduler {
  readonly #open: () => JobStore
  readonly #remembered: Remembered

  /** `open` throws once the scheduler has been shut down. */
  constructor(open: () => JobStore) {
    this.#open = open
    this.#remembered = new Remembered(open)
  }

  async getPausedGroups(): Promise<PausedGroups> {
    return this.#open().getPausedGroups()
  }
  async getPausedTriggerGroups(): Promise<readonly string[]> {
    return this.#open().getPausedTriggerGroups()
  }
  async getPausedJobGroups(): Promise<readonly string[]> {
    return this.#open().getPausedJobGroups()
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
  queryExecutions(query: ExecutionQuery = {}): Promise<Page<ExecutionSummary, ExecutionCursor>> {
    return this.#remembered.executions(query)
  }
  getExecution(fireInstanceId: string): Promise<ExecutionDetails | null> {
    return this.#remembered.execution(fireInstanceId)
  }
  queryExecutionLog(id: string, query: ExecutionLogQuery = {}): Promise<Page<ExecutionLogLine, number>> {
    return this.#remembered.log(id, query)
  }
  queryMisfires(query: MisfireQuery = {}): Promise<Page<Misfire, MisfireCursor>> {
    return this.#remembered.misfires(query)
  }
  getMisfireCounts(query: MisfireCountQuery = {}): Promise<MisfireCounts> {
    return this.#remembered.misfireCounts(query)
  }
  queryJobStatus(query: JobStatusQuery = {}): Promise<Page<JobStatus, JobKey>> {
    return this.#remembered.jobStatuses(query)
  }
  getJobStatus(jobKey: JobKey): Promise<JobStatus | null> {
    return this.#remembered.jobStatus(jobKey)
  }
  queryAudit(query: AuditQuery = {}): Promise<Page<AuditEntry, AuditCursor>> {
    return this.#remembered.audit(query)
  }
}
