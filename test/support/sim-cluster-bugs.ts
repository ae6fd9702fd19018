import {
  run,
  type SqlProgram,
  type SqlReply,
  type SqlStatement,
} from '../../src/jobstore/sql/kernel/statement.ts'
import type { StatementBug } from './sim-cluster-node.ts'

export interface KnownClusterBug extends StatementBug {
  readonly name: string
  /** The first seed that found it, where that takes long; it is tried first. */
  readonly seed?: number
  /** What must be said about it. */
  readonly symptom: RegExp
}

const deletesOwn =
  /^DELETE FROM qrtz_fired_triggers AS f WHERE \(entry_id, sched_name\) IN .* f\.instance_name = \? AND f\.state = \?/

const locksOwn =
  /^SELECT f\.entry_id, .* CROSS JOIN qrtz_fired_triggers AS f WHERE .* = r\.entry_id .* f\.instance_name = \?/
const endsOwn =
  /^DELETE FROM qrtz_fired_triggers AS t WHERE t\.rowid IN \(SELECT f\.rowid .* f\.instance_name = \?/

/** The fire instance ids that a statement names. */
function idsOf({ values }: SqlStatement): string[] {
  const json = values.find((value): value is string => typeof value === 'string' && value.startsWith('['))
  return (JSON.parse(json ?? '[]') as { readonly entry_id: string }[]).map((row) => row.entry_id)
}

const releaseWithoutLook: KnownClusterBug = {
  name: 'A claim that is released, or cannot fire any more, lets its trigger wait whatever its state is by now',
  symptom: /WAITING while its job runs|WAITING unlike its claim|claimed beside|fired twice/,
  *after(statement, reply): SqlProgram<SqlReply> {
    const isRelease = deletesOwn.test(statement.text) && statement.values.includes('ACQUIRED')
    if (!isRelease && !locksOwn.test(statement.text)) return reply
    const held = new Set(isRelease ? [] : reply.rows.map((row) => row['entry_id']))
    yield* run({
      text: `UPDATE qrtz_triggers SET trigger_state = 'WAITING' WHERE trigger_state IN ('ACQUIRED', 'BLOCKED')
        AND trigger_name IN (SELECT trigger_name FROM ledger WHERE entry_id IN (SELECT value FROM json_each(?)))`,
      values: [JSON.stringify(idsOf(statement).filter((id) => !held.has(id)))],
    })
    return reply
  },
}

/** Asks for the jobs of firings in flight. */
const looksForFirings = /^SELECT f\.job_name, f\.job_group, f\.state /

const nothing: SqlStatement = { text: 'SELECT 1 WHERE false', values: [] }

const recoveryKeepsBlocked: KnownClusterBug = {
  name: 'A recovery does not unblock the triggers of non-concurrent jobs that it ended',
  symptom: /BLOCKED by nobody/,
  statement: (statement, lock) =>
    lock === 'cluster' && statement.text.includes(`WHEN 'BLOCKED' THEN 'WAITING'`) ? nothing : statement,
}

const claimsUnseen: KnownClusterBug = {
  name: 'A claim does not look at what other nodes hold of a non-concurrent job',
  symptom: /a non-concurrent job was claimed beside/,
  statement: (statement) => {
    if (looksForFirings.test(statement.text) && !statement.text.includes('EXECUTING')) {
      return { ...statement, text: `${statement.text} AND false` }
    }
    const look = 'AND (NOT COALESCE(j.is_nonconcurrent, false) OR'
    const text = statement.text.replace(look, look.replace('NOT', 'true OR NOT'))
    return { ...statement, text }
  },
}

const completionUnfenced: KnownClusterBug = {
  name: 'A completion is written although the execution was recovered',
  seed: 151,
  symptom: /the counter ran \d+ times and counted/,
  *after(statement, reply): SqlProgram<SqlReply> {
    if (!endsOwn.test(statement.text) || !statement.values.includes('EXECUTING')) return reply
    const found = new Set(reply.rows.map((row) => row['entry_id']))
    const missing = idsOf(statement).filter((id) => !found.has(id))
    if (missing.length === 0) return reply
    const { rows } = yield {
      text: `SELECT *, 0 AS priority, at AS fired_time, 'DEFAULT' AS job_group FROM ledger
        WHERE kind = 'fired' AND entry_id IN (SELECT value FROM json_each(?))`,
      values: [JSON.stringify(missing)],
    }
    return { ...reply, rows: [...reply.rows, ...rows] }
  },
}

const recoveryForgetsClaims: KnownClusterBug = {
  name: 'A recovery deletes the claims of a node and leaves their triggers acquired',
  seed: 29,
  symptom: /ACQUIRED unlike its claim/,
  statement: (statement, lock) =>
    lock === 'cluster' && /^UPDATE qrtz_triggers SET trigger_state = \? WHERE/.test(statement.text)
      ? nothing
      : statement,
}

const executionsForgotten: KnownClusterBug = {
  name: 'A job that wants recovery goes with its last trigger, whatever is in flight of it',
  seed: 44,
  symptom: /should have run again/,
  statement: (statement) => {
    const looksForExecutions = looksForFirings.test(statement.text) && statement.text.includes('EXECUTING')
    const isOfShortLivedJob = statement.values.some((value) => String(value).includes('"recoverable-f'))
    return looksForExecutions && isOfShortLivedJob ? nothing : statement
  },
}

const looksUpJobs = /^SELECT j\.job_name, j\.job_group, j\.job_class_name/

const lockedTakenForGone: KnownClusterBug = {
  name: 'A job that another session holds is taken for one that is gone when an execution of it ends',
  symptom: /BLOCKED by nobody/,
  statement: (statement, lock) => {
    const { text } = statement
    // An end looks for a job that is gone once more, which waits for the lock.
    const isLastLook = lock === 'rows' && looksUpJobs.test(text) && !text.includes('skip locked')
    return isLastLook || /^SELECT j\.job_name, j\.job_group FROM/.test(text) ? nothing : statement
  },
}

const junkStopsAll: KnownClusterBug = {
  name: 'A row that cannot be read fails the search that meets it',
  symptom: /canary is late behind rows that no node can use/,
  // biome-ignore lint/correctness/useYield: it sends nothing.
  *after(_statement, reply): SqlProgram<SqlReply> {
    const isBlank = reply.rows.some(
      ({ trigger_name: name }) => typeof name === 'string' && name.trim() === '',
    )
    if (isBlank) throw new Error('a key needs a name')
    return reply
  },
}

const sleepsOverWhatItLeft: KnownClusterBug = {
  name: 'A search does not say that it left something, so its loop sleeps out its idle wait',
  seed: 5,
  symptom: /held is late although its job is free again/,
  searched: ({ fired, acquired }) => ({ fired, acquired }),
}

const insertsTriggers = /^INSERT INTO qrtz_triggers \(([^)]*)\)/

const waitsThoughFired: KnownClusterBug = {
  name: 'A trigger that was fired as it was stored is stored as one that waits',
  symptom: /was fired twice/,
  statement: (statement, lock) => {
    const columns = insertsTriggers.exec(statement.text)?.[1]?.split(', ') ?? []
    if (lock !== 'shared' || statement.each === undefined || columns.length === 0) return statement
    const place = (column: string): number => columns.indexOf(column)
    const each = statement.each.map((row) => {
      if (row[place('trigger_state')] !== 'COMPLETE') return row
      const next = row[place('prev_fire_time')] ?? null
      return row.with(place('trigger_state'), 'WAITING').with(place('next_fire_time'), next)
    })
    return { ...statement, each }
  },
}

const firingUntold: KnownClusterBug = {
  name: 'A firing that was made as its trigger was stored does not reach the pool',
  symptom: /never ended/,
  scheduled: () => null,
}

export const knownClusterBugs: readonly KnownClusterBug[] = [
  releaseWithoutLook,
  recoveryKeepsBlocked,
  claimsUnseen,
  completionUnfenced,
  recoveryForgetsClaims,
  executionsForgotten,
  junkStopsAll,
  sleepsOverWhatItLeft,
  lockedTakenForGone,
  waitsThoughFired,
  firingUntold,
]
