import { InvalidArgumentError } from '../../../../core/errors.ts'
import { describeValue, requireInteger } from '../../../../core/options.ts'
import type { EpochMs } from '../../../../time/clock.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { all, first, run, type SqlProgram, type SqlQuery, sqlQuery } from '../../kernel/statement.ts'
import { instantOrNull, integer, readable, text } from '../encoding/columns.ts'
import { groupRows, groupsOf } from '../encoding/groups.ts'
import { columnWidths, fits } from '../encoding/limits.ts'

/** How many jobs of a group may be claimed or executing at once, by group. */
export type JobGroupLimitsByGroup = ReadonlyMap<string, number>

const field = 'jobGroupLimits'

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveJobGroupLimits(
  what: string,
  limits: Readonly<Record<string, number>> = {},
): JobGroupLimitsByGroup {
  const prototype: unknown = isObject(limits) ? Object.getPrototypeOf(limits) : undefined
  if (prototype !== Object.prototype && prototype !== null) {
    throw invalid(
      `${what}: '${field}' must be an object of numbers by job group, got ${describeValue(limits)}.`,
    )
  }
  const entries = Object.entries(limits).map(([group, limit]): [string, number] => {
    if (group === '' || !fits(group, columnWidths.keyPart)) {
      throw invalid(`${what}: '${field}' names ${describeValue(group)}, which cannot be a job group.`)
    }
    return [group, requireInteger(what, `${field}.${group}`, limit, { min: 1, max: 10_000 })]
  })
  return new Map(entries)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function invalid(message: string): InvalidArgumentError {
  return new InvalidArgumentError(field, message, 'ERR_INVALID_OPTION')
}

/** The statements for limits of job groups; all nodes count the same rows. */
export class JobGroupLimits {
  /** How far ahead the nodes are told of triggers when an execution ends; for later ones they look again themselves. */
  toldAheadMs = 30_000
  readonly #limits: JobGroupLimitsByGroup
  readonly #scheduler: string
  readonly #groups: string
  readonly #statements: JobGroupLimitStatements

  constructor(vocabulary: SqlVocabulary, limits: JobGroupLimitsByGroup) {
    this.#limits = limits
    this.#scheduler = vocabulary.schedulerName
    this.#groups = groupRows(limits.keys())
    this.#statements = jobGroupLimitStatements(vocabulary)
  }

  /** As a node tells its peers. */
  get byGroup(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#limits)
  }

  has(group: string): boolean {
    return this.#limits.has(group)
  }

  /** How many more jobs of each limited group may be claimed; less than none after a limit was lowered. */
  *rooms(): SqlProgram<Map<string, number>> {
    const rooms = new Map(this.#limits)
    const values = { scheduler: this.#scheduler, rows: this.#groups }
    for (const row of yield* all(this.#statements.inFlight(values))) {
      const group = text(row, 'job_group')
      rooms.set(group, (rooms.get(group) ?? 0) - integer(row, 'in_flight'))
    }
    return rooms
  }

  /**
   * Until the transaction ends no other node claims jobs of limited groups. There is one lock for all groups: locks of
   * single groups would be taken in the order of the triggers, and two nodes could wait for each other.
   */
  *lock(): SqlProgram<void> {
    const values = { scheduler: this.#scheduler }
    if ((yield* first(this.#statements.lock(values))) !== null) return
    yield* run(this.#statements.makeLock(values))
    yield* first(this.#statements.lock(values))
  }

  /** The earliest fire time of waiting triggers of these groups, as far ahead as the nodes are told of them. */
  *earliestOf(groups: Iterable<string>, nowMs: EpochMs): SqlProgram<EpochMs | null> {
    const values = {
      scheduler: this.#scheduler,
      rows: groupRows(groups),
      untilMs: nowMs + this.toldAheadMs,
    }
    const row = yield* first(this.#statements.earliest(values))
    return row === null ? null : readable(instantOrNull, row, 'next_fire_time', null)
  }
}

interface JobGroupLimitStatements {
  readonly inFlight: SqlQuery<{ scheduler: string; rows: string }>
  readonly lock: SqlQuery<{ scheduler: string }>
  readonly makeLock: SqlQuery<{ scheduler: string }>
  readonly earliest: SqlQuery<{ scheduler: string; rows: string; untilMs: EpochMs }>
}

const lockName = 'JOB_GROUP_LIMITS'

export function jobGroupLimitStatements({ dialect, names }: SqlVocabulary): JobGroupLimitStatements {
  const groups = groupsOf(dialect)
  return {
    inFlight: sqlQuery(
      dialect,
      `SELECT f.job_group, count(*) AS in_flight FROM ${names.firedTriggers} AS f
       WHERE f.sched_name = :scheduler AND f.job_group IN ${groups} GROUP BY f.job_group`,
    ),
    lock: sqlQuery(
      dialect,
      `SELECT l.lock_name FROM ${names.locks} AS l
       WHERE l.sched_name = :scheduler AND l.lock_name = '${lockName}' ${dialect.forUpdate('l')}`,
    ),
    makeLock: sqlQuery(
      dialect,
      `INSERT INTO ${names.locks} (sched_name, lock_name) VALUES (:scheduler, '${lockName}')
       ON CONFLICT DO NOTHING`,
    ),
    // The empty text keeps the planner on the index for acquiring: a full group may have many waiting triggers, and the
    // first of them is found there soon.
    earliest: sqlQuery(
      dialect,
      `SELECT t.next_fire_time FROM ${names.triggers} AS t
       WHERE t.sched_name = :scheduler AND t.trigger_state = 'WAITING'
         AND t.next_fire_time > 0 AND t.next_fire_time <= :untilMs AND (t.job_group || '') IN ${groups}
       ORDER BY t.next_fire_time LIMIT 1`,
    ),
  }
}
