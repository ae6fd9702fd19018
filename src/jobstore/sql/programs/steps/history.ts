import { type JobDataMap, triggeredByKey } from '../../../../core/job-data-map.ts'
import { type JobKey, recoveringJobsGroup } from '../../../../core/key.ts'
import { attemptOriginOf } from '../../../attempt-origin.ts'
import type { ExecutionReport } from '../../../execution-report.ts'
import type { JobCompletion } from '../../../job-store.ts'
import { isManualTriggerKey } from '../../../manual-trigger.ts'
import type { ShardPlace } from '../../../queries.ts'
import type { SqlProgram } from '../../kernel/statement.ts'
import type { SqlTransaction } from '../../session/sql-session.ts'
import type { FiredRow } from '../../tables/firings/fired-rows.ts'
import type { HistoryEntry } from '../../tables/history/history-rows.ts'

/** Writes ended executions of this node into the history, if its options say so. */
export function* recordEnded(tx: SqlTransaction, completions: readonly JobCompletion[]): SqlProgram<void> {
  const { history, context } = tx.session
  const entries: HistoryEntry[] = []
  for (const { fireInstanceId, jobDetail, report } of completions) {
    if (report === undefined || !history.keeps(report.outcome)) continue
    entries.push(entryOf(report, { fireInstanceId, jobDetail, node: context.instanceId }))
  }
  if (entries.length > 0) yield* history.insert(entries)
}

/** Field by field: spreading the report would take ten times as long, for each execution. */
function entryOf(
  report: ExecutionReport,
  { fireInstanceId, jobDetail, node }: Pick<JobCompletion, 'fireInstanceId' | 'jobDetail'> & { node: string },
): Required<HistoryEntry> {
  return {
    fireInstanceId,
    triggerKey: report.triggerKey,
    jobKey: jobDetail.key,
    jobType: jobDetail.jobType,
    node,
    scheduledFireTimeMs: report.scheduledFireTimeMs,
    fireTimeMs: report.fireTimeMs,
    finishedTimeMs: report.finishedTimeMs,
    attempt: report.attempt,
    outcome: report.outcome,
    errorText: report.errorText,
    recovering: report.recovering,
    acquiredTimeMs: report.acquiredTimeMs ?? null,
    beganTimeMs: report.beganTimeMs ?? null,
    manual: report.manual ?? false,
    triggeredBy: report.triggeredBy ?? null,
    previousFireInstanceId: report.previousFireInstanceId ?? null,
    shard: report.shard ?? null,
    texts: report.texts ?? null,
    logLines: report.logLines ?? null,
  }
}

/** Keeps what executions logged whose ends write nothing else, because their firings are not this node's any more. */
export function* recordLogOfFenced(
  { session }: SqlTransaction,
  completions: readonly JobCompletion[],
): SqlProgram<void> {
  const chunks = completions.flatMap(({ fireInstanceId, report }) => {
    return report?.logLines === undefined ? [] : [{ fireInstanceId, lines: report.logLines }]
  })
  yield* session.executionLog.write(chunks)
}

/** Writes executions that were lost with their node, and are not run again, into the history. */
export function* recordLost(
  tx: SqlTransaction,
  rows: readonly FiredRow[],
  {
    jobTypeOf,
    dataOf,
    shardOf,
  }: {
    readonly jobTypeOf: (jobKey: JobKey) => string | null
    readonly dataOf: (row: FiredRow) => JobDataMap
    readonly shardOf: (row: FiredRow) => ShardPlace | null
  },
): SqlProgram<void> {
  const { history } = tx.session
  if (rows.length === 0 || !history.keeps('lost')) return
  const entries = rows.flatMap((row): HistoryEntry[] => {
    const { jobKey, triggerKey: key, plannedTimeMs } = row
    if (jobKey === null) return []
    const jobDataMap = dataOf(row)
    const origin = attemptOriginOf({ trigger: { key, jobDataMap }, scheduledFireTimeMs: plannedTimeMs })
    const by = jobDataMap[triggeredByKey]
    return [
      {
        ...origin,
        fireInstanceId: row.fireInstanceId,
        jobKey,
        jobType: jobTypeOf(jobKey),
        node: row.instanceId,
        fireTimeMs: row.firedTimeMs,
        finishedTimeMs: null,
        outcome: 'lost',
        errorText: null,
        recovering: key.group === recoveringJobsGroup,
        manual: isManualTriggerKey(origin.triggerKey),
        triggeredBy: typeof by === 'string' ? by : null,
        shard: shardOf(row),
      },
    ]
  })
  yield* history.insert(entries)
}
