import type { JobStoreContext } from '../job-store.ts'
import type { SqlVocabulary } from './kernel/sql-vocabulary.ts'
import { FiringLedger } from './session/firing-ledger.ts'
import { PassedTriggers } from './session/passed-triggers.ts'
import type { SqlSession } from './session/sql-session.ts'
import { ToldRows } from './session/told-rows.ts'
import type { SqlEngine } from './sql-engine.ts'
import { CalendarTable } from './tables/calendars/calendar-table.ts'
import { columnWidths, requireFits } from './tables/encoding/limits.ts'
import { AwaitedResultTable } from './tables/firings/awaited-result-table.ts'
import { FiredTriggerTable } from './tables/firings/fired-trigger-table.ts'
import { JobGroupLimits } from './tables/firings/job-group-limits.ts'
import { SplitFiringTable } from './tables/firings/split-firing-table.ts'
import { PausedGroupTable } from './tables/groups/paused-group-table.ts'
import { HistoryTable } from './tables/history/history-table.ts'
import { JobTable } from './tables/jobs/job-table.ts'
import { KeyLists } from './tables/lists/key-lists.ts'
import { Listings } from './tables/lists/listings.ts'
import { NextTriggers } from './tables/lists/next-triggers.ts'
import { SchedulerStateTable } from './tables/nodes/scheduler-state-table.ts'
import { NoteTable } from './tables/notes/note-table.ts'
import { AuditTable } from './tables/records/audit-table.ts'
import { ExecutionLogTable } from './tables/records/execution-log-table.ts'
import { ExecutionProgressTable } from './tables/records/execution-progress-table.ts'
import { JobStatusTable } from './tables/records/job-status-table.ts'
import { MisfireTable } from './tables/records/misfire-table.ts'
import { DataOfTriggers } from './tables/triggers/data-of-triggers.ts'
import { LockedEnds } from './tables/triggers/locked-ends.ts'
import { PauseTable } from './tables/triggers/pause-table.ts'
import { PlainEnds } from './tables/triggers/plain-ends.ts'
import { TriggerScopes } from './tables/triggers/trigger-scopes.ts'
import { TriggerTable } from './tables/triggers/trigger-table.ts'
import { TriggersOfJava } from './tables/triggers/triggers-of-java.ts'

/**
 * Makes the session of one scheduler with its tables.
 *
 * @throws InvalidArgumentError for a name or an instance id that is longer than its column
 */
export function openSession(engine: SqlEngine, context: JobStoreContext): SqlSession {
  const { dialect, names, encoding, records, jobGroupLimits, sharedWithJava = false } = engine
  const { schedulerName, instanceId, ids, triggerFamilies } = context
  const owner = { kind: 'Scheduler', identity: schedulerName }
  requireFits(owner, 'schedulerName', schedulerName, columnWidths.schedulerName)
  requireFits(owner, 'instanceId', instanceId, columnWidths.instanceId)
  const vocabulary: SqlVocabulary = { dialect, names, schedulerName, sharedWithJava, triggerFamilies }
  // With a unique name, so that ids of different runs of the process differ. In a cluster the id shows the node; where
  // there is only one, it is as short as can be, because several indexes have it.
  const node = engine.capabilities.clustered ? `${Array.from(instanceId).slice(0, 60).join('')}-` : ''
  const idPrefix = `${node}${ids.uniqueName().slice(0, 18)}-`
  let fireCount = 0
  return {
    context,
    jobs: new JobTable(vocabulary, encoding),
    triggers: new TriggerTable(vocabulary, encoding),
    triggerData: new DataOfTriggers(vocabulary),
    calendars: new CalendarTable(vocabulary),
    pausedGroups: new PausedGroupTable(vocabulary),
    pauses: new PauseTable(vocabulary),
    firedTriggers: new FiredTriggerTable(vocabulary, instanceId),
    plainEnds: plainEndsOf(vocabulary, instanceId),
    splitFirings: new SplitFiringTable(vocabulary),
    awaitedResults: new AwaitedResultTable(vocabulary, instanceId),
    history: new HistoryTable(vocabulary, records.history),
    jobStatus: new JobStatusTable(vocabulary),
    executionLog: new ExecutionLogTable(vocabulary),
    executionProgress: new ExecutionProgressTable(vocabulary),
    misfires: new MisfireTable(vocabulary),
    audit: new AuditTable(vocabulary),
    nodes: new SchedulerStateTable(vocabulary),
    notes: new NoteTable(vocabulary),
    keyLists: new KeyLists(vocabulary),
    listings: new Listings(vocabulary),
    nextTriggers: new NextTriggers(vocabulary),
    scopes: new TriggerScopes(vocabulary),
    toldRows: new ToldRows(context.signaler),
    searchMemory: {
      unknownJobTypes: new Set(),
      affinityIsUsed: false,
      schedulesAreHeld: false,
      passed: new PassedTriggers(),
      misfiresTreatedAtMs: 0,
    },
    clustered: engine.capabilities.clustered,
    groupLimits:
      jobGroupLimits === undefined || jobGroupLimits.size === 0
        ? null
        : new JobGroupLimits(vocabulary, jobGroupLimits),
    triggersOfJava: sharedWithJava ? new TriggersOfJava(vocabulary) : null,
    ledger: new FiringLedger(),
    nodeHealth: { isAlive: () => true, timesRecovered: 0 },
    itemOwners: new Set(),
    nextFireInstanceId: () => {
      fireCount++
      return idPrefix + fireCount.toString(36)
    },
  }
}

function plainEndsOf(vocabulary: SqlVocabulary, instanceId: string): SqlSession['plainEnds'] {
  const { excludesWriters, places } = vocabulary.dialect
  if (excludesWriters === true) return new PlainEnds(vocabulary, instanceId)
  return places === undefined ? null : new LockedEnds(vocabulary, instanceId)
}
