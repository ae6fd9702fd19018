import { postgresDialect } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import type { SqlVocabulary } from '../../src/jobstore/sql/kernel/sql-vocabulary.ts'
import { calendarStatements } from '../../src/jobstore/sql/tables/calendars/calendar-table.ts'
import { rowsAheadStatements, type TimedRows } from '../../src/jobstore/sql/tables/encoding/rows-ahead.ts'
import { awaitedResultStatements } from '../../src/jobstore/sql/tables/firings/awaited-result-table.ts'
import { firedTriggerStatements } from '../../src/jobstore/sql/tables/firings/fired-trigger-table.ts'
import { jobGroupLimitStatements } from '../../src/jobstore/sql/tables/firings/job-group-limits.ts'
import { splitFiringStatements } from '../../src/jobstore/sql/tables/firings/split-firing-table.ts'
import { pausedGroupStatements } from '../../src/jobstore/sql/tables/groups/paused-group-table.ts'
import {
  executionsQuery,
  historyRows,
  historyStatements,
} from '../../src/jobstore/sql/tables/history/history-table.ts'
import { jobStatements } from '../../src/jobstore/sql/tables/jobs/job-table.ts'
import { keyListStatements, listQuery } from '../../src/jobstore/sql/tables/lists/key-lists.ts'
import { jobConditions, triggerConditions } from '../../src/jobstore/sql/tables/lists/list-conditions.ts'
import {
  type ListingPart,
  lastLookedAtQuery,
  listingQuery,
} from '../../src/jobstore/sql/tables/lists/listing-query.ts'
import { listingStatements } from '../../src/jobstore/sql/tables/lists/listings.ts'
import {
  lastWaitingQuery,
  nextTriggerArms,
  nextTriggersQuery,
} from '../../src/jobstore/sql/tables/lists/next-triggers.ts'
import { leaseStatements } from '../../src/jobstore/sql/tables/nodes/lease-statements.ts'
import { schedulerStateStatements } from '../../src/jobstore/sql/tables/nodes/scheduler-state-table.ts'
import { noteStatements } from '../../src/jobstore/sql/tables/notes/note-table.ts'
import { auditQuery, auditRows, auditStatements } from '../../src/jobstore/sql/tables/records/audit-table.ts'
import {
  executionLogRows,
  executionLogStatements,
} from '../../src/jobstore/sql/tables/records/execution-log-table.ts'
import { executionProgressStatements } from '../../src/jobstore/sql/tables/records/execution-progress-table.ts'
import { jobStatusStatements } from '../../src/jobstore/sql/tables/records/job-status-table.ts'
import {
  misfireRows,
  misfireStatements,
  misfiresQuery,
} from '../../src/jobstore/sql/tables/records/misfire-table.ts'
import { dataOfTriggersStatements } from '../../src/jobstore/sql/tables/triggers/data-of-triggers.ts'
import {
  type DuePurpose,
  dueConditions,
  dueQuery,
} from '../../src/jobstore/sql/tables/triggers/due-statements.ts'
import { lockedEndStatements } from '../../src/jobstore/sql/tables/triggers/locked-ends.ts'
import { pauseStatements } from '../../src/jobstore/sql/tables/triggers/pause-table.ts'
import { plainEndStatements } from '../../src/jobstore/sql/tables/triggers/plain-ends.ts'
import { triggerScopeStatements } from '../../src/jobstore/sql/tables/triggers/trigger-scopes.ts'
import { triggerStatements } from '../../src/jobstore/sql/tables/triggers/trigger-statements.ts'
import { statementsOfJava } from '../../src/jobstore/sql/tables/triggers/triggers-of-java.ts'
import { sqliteDialect } from '../../src/jobstore/sqlite/sqlite-dialect.ts'
import {
  beginning,
  indexedAuditQuery,
  indexedExecutionQuery,
  wholeAuditQuery,
  wholeExecutionQuery,
  wholeJobQuery,
  wholeMisfireQuery,
  wholeTriggerQuery,
} from './whole-queries.ts'

const tables = 'src/jobstore/sql/tables/'
const listedParts: readonly ListingPart[] = ['default', 'before', 'behind', 'few']
const dueMethods = { lock: 'lockDue', types: 'dueJobTypes', look: 'lookAhead' } as const
const duePurposes = ['lock', 'types', 'look'] as const
export const schedulerName = 'QuartzScheduler'
export const names = sqlNames('statements', {})

export interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL' | 'PostgreSQL, quartzLocks'
  readonly vocabulary: SqlVocabulary
}

export const sqlite: Engine = { name: 'SQLite', vocabulary: { dialect: sqliteDialect, names, schedulerName } }
export const postgres: Engine = {
  name: 'PostgreSQL',
  vocabulary: { dialect: postgresDialect, names, schedulerName },
}
export const quartzLocks: Engine = {
  name: 'PostgreSQL, quartzLocks',
  vocabulary: { ...postgres.vocabulary, sharedWithJava: true },
}

/** A statement that has conditions as they are asked for. */
interface Composed {
  readonly name: string
  /** What of it is shown. */
  readonly shown: string
  /** The methods of the table that run it. */
  readonly methods: readonly string[]
  readonly make: (vocabulary: SqlVocabulary) => { readonly namedText: string }
}

export interface Table {
  /** What programs call it: its name in a session first. */
  readonly names: readonly string[]
  readonly about: string
  /** Where the class is that runs the statements. */
  readonly path: string
  readonly engines?: readonly Engine[]
  readonly statements: (vocabulary: SqlVocabulary) => object
  readonly composed?: readonly Composed[]
  /** Who runs them, where that is no program. */
  readonly user?: string
}

export const allTables: readonly Table[] = [
  {
    names: ['triggers'],
    about: 'triggers, simple_triggers, cron_triggers, simprop_triggers, blob_triggers',
    path: `${tables}triggers/trigger-table.ts`,
    statements: triggerStatements,
    composed: duePurposes.flatMap((purpose) => dueStatements(purpose, dueMethods[purpose])),
  },
  {
    names: ['triggerData'],
    about: 'data of triggers, without their schedules',
    path: `${tables}triggers/data-of-triggers.ts`,
    statements: dataOfTriggersStatements,
  },
  {
    names: ['scopes'],
    about: 'triggers that one action reaches: all, one, those of a job, those of groups',
    path: `${tables}triggers/trigger-scopes.ts`,
    statements: triggerScopeStatements,
  },
  {
    names: ['triggersOfJava'],
    about: 'triggers that only Java nodes can run',
    path: `${tables}triggers/triggers-of-java.ts`,
    engines: [quartzLocks],
    statements: statementsOfJava,
  },
  { names: ['jobs'], about: 'job_details', path: `${tables}jobs/job-table.ts`, statements: jobStatements },
  {
    names: ['firedTriggers'],
    about: 'fired_triggers: claims (ACQUIRED) and executions in flight (EXECUTING)',
    path: `${tables}firings/fired-trigger-table.ts`,
    statements: firedTriggerStatements,
  },
  {
    names: ['plainEnds'],
    about: 'ends of executions whose rows are as they were written, with their triggers and jobs',
    path: `${tables}triggers/plain-ends.ts`,
    engines: [sqlite],
    statements: plainEndStatements,
  },
  {
    names: ['lockedEnds'],
    about: 'the same, where other transactions write as well',
    path: `${tables}triggers/locked-ends.ts`,
    engines: [postgres],
    statements: lockedEndStatements,
  },
  {
    names: ['splitFirings'],
    about: 'split_firings: firings of sharded jobs that have not ended',
    path: `${tables}firings/split-firing-table.ts`,
    statements: splitFiringStatements,
  },
  {
    names: ['awaitedResults'],
    about: 'awaited_results: executions in flight that go on elsewhere',
    path: `${tables}firings/awaited-result-table.ts`,
    statements: awaitedResultStatements,
  },
  {
    names: ['groupLimits', 'limits', '#limits'],
    about: 'how many jobs of a group may run, where that is limited',
    path: `${tables}firings/job-group-limits.ts`,
    statements: jobGroupLimitStatements,
  },
  {
    names: ['pausedGroups'],
    about: 'paused_trigger_grps, paused_job_grps',
    path: `${tables}groups/paused-group-table.ts`,
    statements: pausedGroupStatements,
  },
  {
    names: ['pauses'],
    about: 'pauses: why something is paused',
    path: `${tables}triggers/pause-table.ts`,
    statements: pauseStatements,
  },
  {
    names: ['calendars'],
    about: 'calendars',
    path: `${tables}calendars/calendar-table.ts`,
    statements: calendarStatements,
  },
  {
    names: ['jobStatus'],
    about: 'job_status, job_days',
    path: `${tables}records/job-status-table.ts`,
    statements: jobStatusStatements,
  },
  {
    names: ['executionLog', 'bounded'],
    about: 'execution_log',
    path: `${tables}records/execution-log-table.ts`,
    statements: executionLogStatements,
  },
  {
    names: ['executionProgress'],
    about: 'execution_progress',
    path: `${tables}records/execution-progress-table.ts`,
    statements: executionProgressStatements,
  },
  {
    names: ['misfires', 'bounded'],
    about: 'misfires',
    path: `${tables}records/misfire-table.ts`,
    statements: misfireStatements,
    composed: [
      {
        name: 'find',
        shown: 'with every condition that a query may have',
        methods: ['find'],
        make: (vocabulary) => misfiresQuery(vocabulary, wholeMisfireQuery).query,
      },
      {
        name: 'place',
        shown: 'the last row that such a page looks at, when it holds less than was asked for',
        methods: ['find'],
        make: (vocabulary) => misfiresQuery(vocabulary, wholeMisfireQuery).place,
      },
    ],
  },
  {
    names: ['audit', 'bounded'],
    about: 'audit: who did what',
    path: `${tables}records/audit-table.ts`,
    statements: auditStatements,
    composed: [
      {
        name: 'find',
        shown: 'with every condition that a query may have',
        methods: ['find'],
        make: (vocabulary) => auditQuery(vocabulary, wholeAuditQuery).query,
      },
      {
        name: 'find',
        shown: 'with every condition that the key serves',
        methods: ['find'],
        make: (vocabulary) => auditQuery(vocabulary, indexedAuditQuery).query,
      },
      {
        name: 'place',
        shown: 'the last row that such a page looks at, when it holds less than was asked for',
        methods: ['find'],
        make: (vocabulary) => auditQuery(vocabulary, wholeAuditQuery).place,
      },
    ],
  },
  {
    names: ['history', 'bounded'],
    about: 'execution_history',
    path: `${tables}history/history-table.ts`,
    statements: historyStatements,
    composed: [
      {
        name: 'find',
        shown: 'with every condition that a query may have',
        methods: ['find'],
        make: (vocabulary) => executionsQuery(vocabulary, wholeExecutionQuery).query,
      },
      {
        name: 'find',
        shown: 'with every condition that an index serves',
        methods: ['find'],
        make: (vocabulary) => executionsQuery(vocabulary, indexedExecutionQuery).query,
      },
      {
        name: 'place',
        shown: 'the last row that such a page looks at, when it holds less than was asked for',
        methods: ['find'],
        make: (vocabulary) => executionsQuery(vocabulary, wholeExecutionQuery).place,
      },
    ],
  },
  rowsAhead('execution_history', historyRows),
  rowsAhead('execution_log', executionLogRows),
  rowsAhead('misfires', misfireRows),
  rowsAhead('audit', auditRows),
  {
    names: ['keyLists'],
    about: 'which keys and groups there are',
    path: `${tables}lists/key-lists.ts`,
    statements: keyListStatements,
    composed: (['jobKeys', 'triggerKeys', 'jobGroups', 'triggerGroups'] as const).map((subject) => ({
      name: subject,
      shown: 'of a matcher that names the beginning of the group',
      methods: [subject],
      make: (vocabulary) => listQuery(vocabulary, subject, beginning).query,
    })),
  },
  {
    names: ['listings'],
    about: 'what users list and count',
    path: `${tables}lists/listings.ts`,
    statements: listingStatements,
    composed: [...listingParts('jobs'), ...listingParts('triggers')],
  },
  {
    names: ['nextTriggers'],
    about: 'triggers in the order in which they fire',
    path: `${tables}lists/next-triggers.ts`,
    statements: () => ({}),
    composed: [
      {
        name: 'lastWaiting',
        shown: 'the last trigger that one page looks at, where it leaves some out',
        methods: ['first'],
        make: lastWaitingQuery,
      },
      ...nextTriggerArms.map((arm) => ({
        name: arm,
        shown: 'with every condition that a query may have',
        methods: ['first'],
        make: (vocabulary: SqlVocabulary) =>
          nextTriggersQuery(vocabulary, triggerConditions(vocabulary, wholeTriggerQuery, null), arm, {
            isBounded: true,
          }),
      })),
    ],
  },
  {
    names: ['nodes', 'table', '#table'],
    about: 'scheduler_state: the nodes of a cluster',
    path: `${tables}nodes/scheduler-state-table.ts`,
    engines: [postgres],
    statements: schedulerStateStatements,
  },
  {
    names: ['notes'],
    about: 'notes: small texts that nodes share',
    path: `${tables}notes/note-table.ts`,
    statements: noteStatements,
    user: 'jobstore/sql/sql-notes.ts (SqlNotes)',
  },
  {
    names: ['lease'],
    about: 'scheduler_state: the one scheduler that fires on a SQLite database',
    path: `${tables}nodes/lease-statements.ts`,
    engines: [sqlite],
    statements: leaseStatements,
    user: 'jobstore/sqlite/scheduler-lease.ts (SchedulerLease)',
  },
]

function rowsAhead(table: string, rowsOf: (vocabulary: SqlVocabulary) => TimedRows): Table {
  return {
    names: ['ahead'],
    about: `${table}: rows of a clock that was ahead`,
    path: `${tables}encoding/rows-ahead.ts`,
    statements: (vocabulary) => rowsAheadStatements(vocabulary, rowsOf(vocabulary)),
  }
}

function dueStatements(purpose: DuePurpose, method: string): readonly Composed[] {
  const always = ['scheduler', 'untilMs', 'limit']
  const composed = (shown: string, conditions: readonly string[], alone?: 'simple_triggers'): Composed => ({
    name: `due.${purpose}`,
    shown,
    methods: [method],
    make: (vocabulary) => dueQuery(vocabulary, purpose, [...always, ...conditions], alone && [alone]),
  })
  return [
    ...(purpose === 'lock' ? [composed('while only simple triggers are found', [], 'simple_triggers')] : []),
    composed('with no condition besides the time', []),
    composed('with every condition that a search may have', dueConditions),
  ]
}

function listingOf(of: 'jobs' | 'triggers', vocabulary: SqlVocabulary): Parameters<typeof listingQuery>[1] {
  return of === 'jobs'
    ? { subject: 'job', conditions: jobConditions(vocabulary, wholeJobQuery) }
    : { subject: 'trigger', conditions: triggerConditions(vocabulary, wholeTriggerQuery, ['PAUSED']) }
}

function listingParts(of: 'jobs' | 'triggers'): readonly Composed[] {
  const parts: Readonly<Record<ListingPart, string>> = {
    default: 'the group DEFAULT',
    before: 'the groups that sort before DEFAULT',
    behind: 'the groups that sort behind it',
    few: 'all groups, where another index finds the rows',
  }
  return listedParts.flatMap((part) => [
    {
      name: of,
      shown: `${parts[part]}, with every condition that a query may have`,
      methods: [of],
      make: (vocabulary: SqlVocabulary) =>
        listingQuery(vocabulary, listingOf(of, vocabulary), part, { isBounded: true }),
    },
    {
      name: `${of}.last`,
      shown: `${parts[part]}: the last row that one page looks at, where it leaves some out`,
      methods: [of],
      make: (vocabulary: SqlVocabulary) => lastLookedAtQuery(vocabulary, listingOf(of, vocabulary), part),
    },
  ])
}
