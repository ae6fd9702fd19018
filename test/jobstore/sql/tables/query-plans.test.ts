import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { JobKey, TriggerKey } from '../../../../src/core/key.ts'
import type { ExecutionQuery } from '../../../../src/jobstore/queries.ts'
import { resolveRecordOptions } from '../../../../src/jobstore/record-options.ts'
import type { SqlProgram, SqlStatement } from '../../../../src/jobstore/sql/kernel/statement.ts'
import { emptySchema, planMigrations } from '../../../../src/jobstore/sql/migrations/plan-migrations.ts'
import { CalendarTable } from '../../../../src/jobstore/sql/tables/calendars/calendar-table.ts'
import { JobGroupLimits } from '../../../../src/jobstore/sql/tables/firings/job-group-limits.ts'
import { HistoryTable } from '../../../../src/jobstore/sql/tables/history/history-table.ts'
import { JobTable } from '../../../../src/jobstore/sql/tables/jobs/job-table.ts'
import { TriggerTable } from '../../../../src/jobstore/sql/tables/triggers/trigger-table.ts'
import { triggerActions } from '../../../../src/jobstore/trigger-state.ts'
import type { CalendarDefinition } from '../../../../src/triggers/calendars/calendar.ts'
import { calendarFromJSON } from '../../../../src/triggers/calendars/calendar-json.ts'
import { SimpleScheduleBuilder } from '../../../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../../../src/triggers/families/trigger-builder.ts'
import { findOnly } from '../../../support/searches.ts'
import { jobNamed } from '../../../support/sql-tables.ts'
import { sqliteWords } from '../../../support/sqlite.ts'
import { statementsOfStep } from '../../../support/step-statements.ts'

const vocabulary = { ...sqliteWords, schedulerName: 'S' }
const triggers = new TriggerTable(vocabulary, 'json')
const jobs = new JobTable(vocabulary, 'json')
const calendars = new CalendarTable(vocabulary)

const job = new JobKey('work', 'jobs')
const key = new TriggerKey('t')
const repeating = SimpleScheduleBuilder.repeatSecondlyForever()
const trigger = TriggerBuilder.newTrigger().withIdentity(key).forJob(job).withSchedule(repeating).build()
const entry = { trigger, state: 'WAITING' } as const
const weekly = calendarFromJSON({ type: 'weekly', timeZone: 'UTC' } satisfies CalendarDefinition)
const due = { untilMs: 1, limit: 1, unknownJobTypes: [] }
const ahead = { ...due, nowMs: 0 }
const limits = new JobGroupLimits(vocabulary, new Map([['g', 1]]))
const everySubTable = [{ key, storedType: 'of another program' }]

/** Runs a program as on an empty database and answers its statements. */
function statementsOf(program: SqlProgram<unknown>): SqlStatement[] {
  const statements: SqlStatement[] = []
  for (let step = program.next(); step.done !== true; ) {
    statements.push(step.value)
    step = program.next({ rows: [], changes: 0 })
  }
  return statements
}

describe('on SQLite, which knows nothing of how many rows there are', () => {
  const database = new Database(':memory:')
  for (const statement of planMigrations(sqliteWords, emptySchema).flatMap(statementsOfStep))
    database.exec(statement)
  const planOf = ({ text, values, each }: SqlStatement): string[] =>
    database
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
      .all(...(each?.[0] ?? values).map((value) => (typeof value === 'boolean' ? Number(value) : value)))
      .map(({ detail }) => detail)

  const programs: Record<string, SqlProgram<unknown>> = {
    'triggers.insert': triggers.insert([entry]),
    'triggers.put': triggers.put([entry]),
    'triggers.advance': triggers.advance([entry]),
    'triggers.load': triggers.load([key]),
    'triggers.loadOfJob': triggers.loadOfJob(job),
    'triggers.lock': triggers.lock([key]),
    'triggers.lockOfJobs': triggers.lockOfJobs([job]),
    'triggers.lockOfCalendar': triggers.lockOfCalendar('c'),
    'triggers.lockDue': triggers.lockDue(due),
    'triggers.lockDue of simple triggers alone': findOnly(
      new TriggerTable(vocabulary, 'json'),
      'SIMPLE',
    ).lockDue(due),
    'triggers.lockDue of cron triggers alone': findOnly(new TriggerTable(vocabulary, 'json'), 'CRON').lockDue(
      due,
    ),
    'triggers.lockDue but for some types': triggers.lockDue({ ...due, unknownJobTypes: ['a'] }),
    'triggers.lockDue but for some jobs': triggers.lockDue({ ...due, leftJobs: [job] }),
    'triggers.lockDue after an instant': triggers.lockDue({ ...due, afterMs: 0 }),
    'triggers.dueJobTypes': triggers.dueJobTypes(due),
    'triggers.lookAhead': triggers.lookAhead(ahead, 'node'),
    'triggers.lookAhead where nodes own items': triggers.lookAhead({ ...ahead, node: 'node' }, 'node'),
    'triggers.lookAhead with full groups': triggers.lookAhead({ ...ahead, fullGroups: ['g'] }, 'node'),
    'triggers.lockDue but for full groups': triggers.lockDue({ ...due, fullGroups: ['g'] }),
    'limits.rooms': limits.rooms(),
    'limits.lock': limits.lock(),
    'limits.earliestOf': limits.earliestOf(['g'], 1),
    'triggers.setStates': triggers.setStates([{ key, state: 'ERROR' }]),
    'triggers.delete': triggers.delete(everySubTable),
    'jobs.insert': jobs.insert([jobNamed('work')]),
    'jobs.put': jobs.put([jobNamed('work')]),
    'jobs.load': jobs.load([job]),
    'jobs.lock': jobs.lock([job]),
    'jobs.tryLock': jobs.tryLock([job]),
    'jobs.tryLockWithData': jobs.tryLockWithData([job]),
    'jobs.writeData': jobs.writeData([{ key: job, data: { a: 1 } }]),
    'jobs.deleteOrphans': jobs.deleteOrphans([job]),
    'jobs.delete': jobs.delete([job]),
    'calendars.load': calendars.load(['c']),
    'calendars.exists': calendars.exists('c'),
    'calendars.put': calendars.put('c', weekly),
    'calendars.delete': calendars.delete('c'),
  }
  for (const action of triggerActions) {
    programs[`triggers.applyToJobs '${action}'`] = triggers.applyToJobs(action, [job])
  }

  it.each(Object.entries(programs))('%s goes to its rows by an index', (_, program) => {
    const statements = statementsOf(program)
    expect(statements.length).toBeGreaterThan(0)
    for (const statement of statements) {
      for (const step of planOf(statement)) {
        // The bound rows are gone through, and the firings in flight and the nodes, which are few; the scheduler's
        // name alone is no key elsewhere.
        if (!/^SEARCH [fs] /.test(step))
          expect(step).not.toMatch(/SCAN (?!json_each|r\b|CONSTANT ROW)|\(sched_name=\?\)/)
      }
    }
  })

  it('no write of a trigger makes a table of values for the condition of an index', () => {
    const written: Readonly<Record<string, SqlProgram<unknown>>> = {
      insert: triggers.insert([entry]),
      advance: triggers.advance([{ ...entry, state: 'COMPLETE' }]),
      setStates: triggers.setStates([{ key, state: 'ERROR' }]),
    }
    for (const [name, program] of Object.entries(written)) {
      const ofTriggers = statementsOf(program).filter(({ text }) => text.includes(' qrtz_triggers '))
      expect(ofTriggers.length, name).toBeGreaterThan(0)
      for (const { text, values, each } of ofTriggers) {
        const bound = (each?.[0] ?? values).map(() => 1)
        const steps = database.prepare<unknown[], { opcode: string }>(`EXPLAIN ${text}`).all(...bound)
        expect(
          steps.map(({ opcode }) => opcode),
          name,
        ).not.toContain('OpenEphemeral')
      }
    }
  })

  const from = new Date(1000)
  const to = new Date(2000)
  const after = { fireTimeMs: 1500, fireInstanceId: 'f' }
  const bounds: Readonly<Record<string, ExecutionQuery>> = {
    all: {},
    'after a place': { after },
    'between instants': { from, to },
    'after a place, between instants': { from, to, after },
  }
  const subjects: Readonly<Record<string, readonly [ExecutionQuery, index: string]>> = {
    'of all jobs': [{}, 'eh_fired'],
    'of a job': [{ jobKey: job }, 'eh_names'],
    'of a trigger': [{ triggerKey: key }, 'eh_names'],
    'that failed': [{ outcome: 'failed' }, 'eh_failed'],
    'of a job that failed': [{ jobKey: job, outcome: 'failed' }, 'eh_names'],
  }
  const executions = Object.entries(subjects).flatMap(([subject, [query, index]]) =>
    Object.entries(bounds).map(([name, bound]) => [subject, name, { ...query, ...bound }, index] as const),
  )
  it.each(executions)('executions %s, %s, are found in their order', (_, __, query, index) => {
    const history = new HistoryTable(vocabulary, resolveRecordOptions('test').history)
    for (const statement of statementsOf(history.find(query, 50))) {
      const [found, ...sorted] = planOf(statement).filter((step) => /\bUSING\b|\bUSE\b/.test(step))
      // Both bounds of the time.
      expect(found).toMatch(new RegExp(`idx_\\w*${index} \\(.*fired_time>\\? AND .*<.*\\)`))
      // Of one job or trigger, only executions of one millisecond are put in order.
      const isOfOne = query.jobKey !== undefined || query.triggerKey !== undefined
      expect(sorted).toEqual(isOfOne ? ['USE TEMP B-TREE FOR LAST TERM OF ORDER BY'] : [])
    }
  })

  it('log lines are found by when their executions ended', () => {
    const history = new HistoryTable(vocabulary, resolveRecordOptions('test').history)
    const [statement] = statementsOf(history.dropLogLines(1000, 500))
    const plan = statement === undefined ? '' : planOf(statement).join()
    expect(plan).toMatch(/SEARCH h USING INDEX \w+_eh_logged \(sched_name=\? AND finished_time<\?\)/)
    expect(plan).not.toContain('ORDER BY')
  })

  it('triggers.lockDue finds them in the order in which they fire', () => {
    const [statement] = statementsOf(triggers.lockDue(due))
    const plan = statement === undefined ? [] : planOf(statement)
    expect(plan[0]).toMatch(
      /SEARCH t USING INDEX \w+ \(sched_name=\? AND next_fire_time>\? AND next_fire_time<\?\)/,
    )
    expect(plan.join()).not.toContain('TEMP B-TREE')
  })
})
