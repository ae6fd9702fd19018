import { quartzLocking, skipLockedLocking } from '../../src/jobstore/postgres/locking.ts'
import { postgresDialect } from '../../src/jobstore/postgres/postgres-dialect.ts'
import { sqlNames } from '../../src/jobstore/sql/kernel/sql-names.ts'
import type { TransactionLock } from '../../src/jobstore/sql/kernel/sql-runner.ts'
import type { SqlVocabulary } from '../../src/jobstore/sql/kernel/sql-vocabulary.ts'
import { calendarStatements } from '../../src/jobstore/sql/tables/calendars/calendar-table.ts'
import { awaitedResultStatements } from '../../src/jobstore/sql/tables/firings/awaited-result-table.ts'
import { firedTriggerStatements } from '../../src/jobstore/sql/tables/firings/fired-trigger-table.ts'
import { jobGroupLimitStatements } from '../../src/jobstore/sql/tables/firings/job-group-limits.ts'
import { splitFiringStatements } from '../../src/jobstore/sql/tables/firings/split-firing-table.ts'
import { pausedGroupStatements } from '../../src/jobstore/sql/tables/groups/paused-group-table.ts'
import { executionsQuery, historyStatements } from '../../src/jobstore/sql/tables/history/history-table.ts'
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
import { auditQuery, auditStatements } from '../../src/jobstore/sql/tables/records/audit-table.ts'
import { executionLogStatements } from '../../src/jobstore/sql/tables/records/execution-log-table.ts'
import { executionProgressStatements } from '../../src/jobstore/sql/tables/records/execution-progress-table.ts'
import { jobStatusStatements } from '../../src/jobstore/sql/tables/records/job-status-table.ts'
import { misfireStatements, misfiresQuery } from '../../src/jobstore/sql/tables/records/misfire-table.ts'
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
import { commentOf, formatSql } from './format-sql.ts'
import { StatementUsers } from './statement-users.ts'
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
const schedulerName = 'QuartzScheduler'
const names = sqlNames('statements', {})

interface Engine {
  readonly name: 'SQLite' | 'PostgreSQL' | 'PostgreSQL, quartzLocks'
  readonly vocabulary: SqlVocabulary
}

const sqlite: Engine = { name: 'SQLite', vocabulary: { dialect: sqliteDialect, names, schedulerName } }
export const postgres: Engine = {
  name: 'PostgreSQL',
  vocabulary: { dialect: postgresDialect, names, schedulerName },
}
export const quartzLocks: Engine = {
  name: 'PostgreSQL, quartzLocks',
  vocabulary: { ...postgres.vocabulary, sharedWithJava: true },
}

/** Statements, or further statements, by name. */
export interface Statements {
  readonly [name: string]: { readonly namedText: string } | Statements
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

interface Table {
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
    names: ['executionLog'],
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
    names: ['misfires'],
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
    names: ['audit'],
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
    names: ['history'],
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

/** What {@link TransactionLock} is taken for, as docs/internals/sql-store.md says it. */
const locks: Readonly<Record<TransactionLock, string>> = {
  none: 'a check-in',
  rows: 'acquiring, firing, completing, resuming one trigger',
  shared: 'storing, deleting, pausing one trigger or job',
  exclusive: 'groups, calendars, everything',
  cluster: 'recovery',
  schema: 'migrations',
}

const header = `\
-- Every statement of the SQL store, as each engine is sent it, with its parameters by name and the functions that
-- ask for it. Printed by \`npm run statements\` from src/jobstore; a test compares. Tables have their default prefix.
-- What makes the tables is printed by \`quartz-ts migrate --print\`. A statement about one row is sent to PostgreSQL
-- with a value for each column: an INSERT has VALUES, and others SELECT them in place of the set of rows.
`

/** The text of docs/internals/statements.sql. */
export function printStatements(): string {
  const users = new StatementUsers()
  return [header, ...allTables.map((table) => printTable(table, users)), printLocks()].join('\n')
}

function printTable(table: Table, users: StatementUsers): string {
  const engines = table.engines ?? [sqlite, postgres, quartzLocks]
  const title = `-- ${table.names[0] ?? ''}: ${table.about}`
  const blocks = [`${'-'.repeat(title.length)}\n${title}\n${'-'.repeat(title.length)}\n`]
  const all = engines.flatMap((engine) => pathsOf(table.statements(engine.vocabulary) as Statements))
  const paths = new Map(all.map((path) => [path.join('.'), path]))
  for (const path of paths.values()) {
    const methods = users.methodsOf(table.path, path)
    const texts = engines.map((engine) => textAt(table.statements(engine.vocabulary) as Statements, path))
    blocks.push(
      block(`${table.names[0] ?? ''}.${path.join('.')}`, usersOf(table, methods, users), engines, texts),
    )
  }
  for (const { name, shown, methods, make } of table.composed ?? []) {
    const texts = engines.map(({ vocabulary }) => make(vocabulary).namedText)
    blocks.push(
      block(`${table.names[0] ?? ''}.${name}: ${shown}`, usersOf(table, methods, users), engines, texts),
    )
  }
  return blocks.join('\n')
}

function usersOf(table: Table, methods: readonly string[], users: StatementUsers): readonly string[] {
  if (table.user !== undefined) return [table.user]
  return users.callersOf(table.names, methods)
}

export function pathsOf(statements: Statements): string[][] {
  return Object.entries(statements).flatMap(([name, value]) => {
    return isStatement(value) ? [[name]] : pathsOf(value).map((path) => [name, ...path])
  })
}

function isStatement(value: Statements[string]): value is { readonly namedText: string } {
  return typeof value === 'function'
}

/** Null where an engine is not sent the statement. */
export function textAt(statements: Statements, [name = '', ...rest]: readonly string[]): string | null {
  const value = statements[name]
  if (value === undefined) return null
  return isStatement(value) ? value.namedText : textAt(value, rest)
}

/** One statement; engines that are sent the same text share it. */
function block(
  title: string,
  users: readonly string[],
  engines: readonly Engine[],
  texts: readonly (string | null)[],
): string {
  if (users.length === 0) throw new Error(`nothing uses the statement ${title}`)
  const byText = new Map<string, string[]>()
  for (const [index, text] of texts.entries()) {
    if (text !== null) byText.set(text, [...(byText.get(text) ?? []), engines[index]?.name ?? ''])
  }
  const printed = [...byText].map(([text, sent]) => `${nameOf(sent, engines)}${formatSql(text)};\n`)
  return `-- ${title}\n${users.map(commentOf).join('')}${printed.join('\n')}`
}

function nameOf(sent: readonly string[], engines: readonly Engine[]): string {
  if (engines.length === 1) return ''
  if (sent.length === engines.length) return '-- Every engine\n'
  const isPostgres = sent.length === 2 && !sent.includes(sqlite.name)
  return `-- ${isPostgres ? postgres.name : sent.join(' and ')}\n`
}

function printLocks(): string {
  const scope = { names, schedulerName }
  const strategies = [skipLockedLocking(scope), quartzLocking(scope)]
  const title = `-- Locks that a transaction takes on PostgreSQL when it begins, for a scheduler named ${schedulerName}`
  const blocks = [`${'-'.repeat(title.length)}\n${title}\n${'-'.repeat(title.length)}\n`]
  for (const [lock, use] of Object.entries(locks)) {
    for (const strategy of strategies) {
      const taken = strategy.take(lock as TransactionLock).map((text) => `${formatSql(text)};\n`)
      blocks.push(
        `-- ${lock}, for ${use}: ${strategy.name}\n${taken.length === 0 ? '-- nothing\n' : taken.join('')}`,
      )
    }
  }
  return blocks.join('\n')
}
