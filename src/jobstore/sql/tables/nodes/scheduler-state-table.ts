import type { EpochMs } from '../../../../time/clock.ts'
import { instantMaxMs } from '../../../../triggers/invalid-trigger.ts'
import { asciiJson } from '../../kernel/poor-encoding.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'
import { type SqlQuery, type SqlRow, type SqlStatement, sqlQuery } from '../../kernel/statement.ts'
import { isAwaited } from '../encoding/awaited-firings.ts'
import { anyText, instant, integer, readable, text, textOrNull } from '../encoding/columns.ts'
import { failedAfterMaxMs, type NodeInfo, type NodeRow, parseNodeInfo } from './node-row.ts'

/** The row that a node writes. */
export interface OwnRow {
  readonly instanceId: string
  readonly bootId: string
  readonly checkInIntervalMs: number
  readonly info: NodeInfo
}

/** All nodes, at one instant. */
export interface Roll {
  readonly rows: readonly NodeRow[]
  /** On the time of the check-ins. */
  readonly nowMs: EpochMs
}

/**
 * The rows of `scheduler_state`. Check-ins have the database's time, or the node's where the database has none:
 * `clockMs` is used only there.
 */
export class SchedulerStateTable {
  /** Whether check-ins are on the database's time. */
  readonly isOnDatabaseTime: boolean
  readonly #statements: SchedulerStateStatements
  readonly #scheduler: string

  constructor(vocabulary: SqlVocabulary) {
    this.#statements = schedulerStateStatements(vocabulary)
    this.#scheduler = vocabulary.schedulerName
    this.isOnDatabaseTime = vocabulary.dialect.nowMs !== null
  }

  /** All nodes: {@link readRoll} reads the reply. */
  load(clockMs: EpochMs): SqlStatement {
    return this.#statements.load({ scheduler: this.#scheduler, now: clockMs })
  }

  /** The same, without the instances that have no row. */
  loadRegistered(clockMs: EpochMs): SqlStatement {
    return this.#statements.loadRegistered({ scheduler: this.#scheduler, now: clockMs })
  }

  /** Changes one row when there was none of this instance. */
  insert(own: OwnRow, clockMs: EpochMs): SqlStatement {
    return this.#statements.insert({ ...this.#values(own), now: clockMs })
  }

  /** Changes the row of this start, if it still exists. */
  checkIn(own: OwnRow, clockMs: EpochMs): SqlStatement {
    return this.#statements.checkIn({ ...this.#values(own), now: clockMs })
  }

  /** Deletes one row if it has not changed since it was read, so that a node that has checked in meanwhile stays. */
  deleteAsSeen({ instanceId, bootId, lastCheckInTimeMs }: NodeRow): SqlStatement {
    return this.#statements.deleteAsSeen({
      scheduler: this.#scheduler,
      instance: instanceId,
      boot: bootId ?? '',
      last: lastCheckInTimeMs,
    })
  }

  /**
   * Deletes this node's row, unless firings of it are left, which peers recover when the row is overdue. Those that go
   * on elsewhere need no node, and peers take them over without a row.
   */
  leave({ instanceId, bootId }: OwnRow): SqlStatement {
    return this.#statements.leave({ scheduler: this.#scheduler, instance: instanceId, boot: bootId })
  }

  #values(own: OwnRow): OwnValues {
    return {
      scheduler: this.#scheduler,
      instance: own.instanceId,
      boot: own.bootId,
      interval: own.checkInIntervalMs,
      info: asciiJson(own.info),
    }
  }
}

/** Reads the reply to {@link SchedulerStateTable.load}, which always has a row that holds the time. */
export function readRoll(rows: readonly SqlRow[]): Roll {
  let nowMs: EpochMs | null = null
  const nodes: NodeRow[] = []
  for (const row of rows) {
    const kind = text(row, 'kind')
    if (kind === 'time') {
      nowMs = integer(row, 'last_checkin_time')
      continue
    }
    nodes.push({
      instanceId: anyText(row, 'instance_name'),
      bootId: readable(textOrNull, row, 'boot_id', null),
      // A node with an unreadable time has failed, unless it checks in.
      lastCheckInTimeMs: readable(instant, row, 'last_checkin_time', 0),
      checkInIntervalMs: checkInIntervalOf(row),
      info: parseNodeInfo(readable(textOrNull, row, 'node_info', null)),
      isOrphan: kind === 'orphan',
    })
  }
  return { rows: nodes, nowMs: nowMs ?? 0 }
}

/** An impossible interval is ignored, so that the node's work can be recovered. */
function checkInIntervalOf(row: SqlRow): number {
  const intervalMs = readable(integer, row, 'checkin_interval', 0)
  return intervalMs < 0 || intervalMs > failedAfterMaxMs ? 0 : intervalMs
}

interface OwnValues {
  readonly [name: string]: string | number
  readonly scheduler: string
  readonly instance: string
  readonly boot: string
  readonly interval: number
  readonly info: string
}

interface SchedulerStateStatements {
  readonly load: SqlQuery<{ scheduler: string; now: number }>
  readonly loadRegistered: SqlQuery<{ scheduler: string; now: number }>
  readonly insert: SqlQuery<OwnValues & { now: number }>
  readonly checkIn: SqlQuery<OwnValues & { now: number }>
  readonly deleteAsSeen: SqlQuery<{ scheduler: string; instance: string; boot: string; last: number }>
  readonly leave: SqlQuery<{ scheduler: string; instance: string; boot: string }>
}

export function schedulerStateStatements({ dialect, names }: SqlVocabulary): SchedulerStateStatements {
  const state = names.schedulerState
  const fired = names.firedTriggers
  const now = dialect.nowMs ?? 'CAST(:now AS bigint)'
  const own = 'sched_name = :scheduler AND instance_name = :instance AND boot_id = :boot'
  const registered = `SELECT 'node' AS kind, s.instance_name, s.boot_id, s.last_checkin_time, s.checkin_interval,
         s.node_info
       FROM ${state} s WHERE s.sched_name = :scheduler`
  // A row of its own, so that it is read also when there is no node.
  const time = `SELECT 'time', NULL, NULL, ${now}, NULL, NULL`
  return {
    load: sqlQuery(
      dialect,
      `${registered}
       UNION ALL
       SELECT DISTINCT 'orphan', f.instance_name, NULL, CAST(0 AS bigint), CAST(0 AS bigint), NULL
       FROM ${fired} f
       WHERE f.sched_name = :scheduler AND NOT EXISTS (
         SELECT 1 FROM ${state} s
         WHERE s.sched_name = f.sched_name AND s.instance_name = f.instance_name)
       UNION ALL
       ${time}`,
    ),
    loadRegistered: sqlQuery(dialect, `${registered} UNION ALL ${time}`),
    insert: sqlQuery(
      dialect,
      `INSERT INTO ${state} (sched_name, instance_name, boot_id, last_checkin_time, checkin_interval, node_info)
       VALUES (:scheduler, :instance, :boot, ${now}, :interval, :info) ON CONFLICT DO NOTHING`,
    ),
    checkIn: sqlQuery(
      dialect,
      `UPDATE ${state} SET last_checkin_time = ${now}, checkin_interval = :interval, node_info = :info
       WHERE ${own}`,
    ),
    deleteAsSeen: sqlQuery(
      dialect,
      `DELETE FROM ${state}
       WHERE sched_name = :scheduler AND instance_name = :instance AND COALESCE(boot_id, '') = :boot
         AND CASE WHEN last_checkin_time BETWEEN ${String(-instantMaxMs)} AND ${String(instantMaxMs)}
           THEN last_checkin_time ELSE 0 END = :last`,
    ),
    leave: sqlQuery(
      dialect,
      `DELETE FROM ${state} AS s WHERE ${own} AND NOT EXISTS (
         SELECT 1 FROM ${fired} f
         WHERE f.sched_name = s.sched_name AND f.instance_name = s.instance_name
           AND NOT ${isAwaited({ dialect, names })})`,
    ),
  }
}
