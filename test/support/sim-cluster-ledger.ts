import type Database from 'better-sqlite3'
import { recoveringJobsGroup, retryingJobsGroup } from '../../src/core/key.ts'

/** One thing that happened to a firing, in the order in which it was committed. */
export interface LedgerRow {
  readonly kind: 'claimed' | 'fired' | 'deleted' | 'stored'
  readonly entry_id: string
  readonly trigger_name: string
  readonly trigger_group: string
  readonly instance_name: string
  readonly sched_time: number
  readonly state: string
  readonly job_name: string
  readonly is_nonconcurrent: number
  readonly requests_recovery: number
  /** Who did it: the process, and the lock of its transaction. */
  readonly process: number
  readonly lock: string
  readonly at: number
}

const firingColumns =
  'entry_id, trigger_name, trigger_group, instance_name, sched_time, state, job_name, ' +
  'is_nonconcurrent, requests_recovery'

/** Lets the database itself write down what is committed to `fired_triggers`: no reply needs to be believed. */
export function keepLedger(database: Database.Database): void {
  database.exec(`CREATE TABLE ledger (id integer PRIMARY KEY, kind text, ${firingColumns}, process integer, lock text,
    at integer)`)
  const note = (kind: string, row: string): string =>
    `BEGIN INSERT INTO ledger (kind, ${firingColumns}, process, lock, at) VALUES ('${kind}',
      ${firingColumns
        .split(', ')
        .map((column) => `${row}.${column}`)
        .join(', ')}, sim_process(), sim_lock(), sim_elapsed()); END`
  database.exec(`CREATE TRIGGER l1 AFTER INSERT ON qrtz_fired_triggers WHEN new.state = 'ACQUIRED'
    ${note('claimed', 'new')}`)
  // Fired where it was found, without a claim.
  database.exec(`CREATE TRIGGER l6 AFTER INSERT ON qrtz_fired_triggers WHEN new.state = 'EXECUTING'
    ${note('fired', 'new')}`)
  database.exec(`CREATE TRIGGER l2 AFTER UPDATE OF state ON qrtz_fired_triggers ${note('fired', 'new')}`)
  database.exec(`CREATE TRIGGER l3 AFTER DELETE ON qrtz_fired_triggers ${note('deleted', 'old')}`)
  database.exec(`CREATE TRIGGER l4 AFTER INSERT ON qrtz_triggers BEGIN
    INSERT INTO ledger (kind, trigger_name, trigger_group, job_name, process, lock, at) VALUES ('stored',
      new.trigger_name, new.trigger_group, new.job_name, sim_process(), sim_lock(), sim_elapsed()); END`)
  // Rescheduled in its place.
  database.exec(`CREATE TRIGGER l5 AFTER UPDATE OF start_time ON qrtz_triggers
    WHEN new.start_time <> old.start_time BEGIN
    INSERT INTO ledger (kind, trigger_name, trigger_group, job_name, process, lock, at) VALUES ('stored',
      new.trigger_name, new.trigger_group, new.job_name, sim_process(), sim_lock(), sim_elapsed()); END`)
}

export interface Firing {
  readonly row: LedgerRow
  end: 'open' | 'completed' | 'recovered'
}

export interface Replay {
  readonly violations: string[]
  /** Executions by fire instance id. */
  readonly firings: ReadonlyMap<string, Firing>
  /** Planned instants that a trigger fired for. */
  readonly instants: ReadonlyMap<string, ReadonlySet<number>>
  readonly stored: ReadonlySet<string>
  /** Recoveries of what an instance had in flight, with the process that did it. */
  readonly recoveries: readonly { readonly instance: string; readonly at: number }[]
}

const lineOf = ({ kind, entry_id, trigger_name, job_name, instance_name, at }: LedgerRow): string =>
  `${at} ${kind} ${entry_id} of ${trigger_name}, job ${job_name}, instance ${instance_name}`

/** Goes through the ledger and says what must not have been committed. */
export function replay(rows: readonly LedgerRow[]): Replay {
  const violations: string[] = []
  const inFlight = new Map<string, LedgerRow>()
  const firings = new Map<string, Firing>()
  const instants = new Map<string, Set<number>>()
  const stored = new Set<string>()
  const recoveries: { instance: string; at: number }[] = []
  const others = (row: LedgerRow): LedgerRow[] =>
    [...inFlight.values()].filter((other) => other.entry_id !== row.entry_id)
  const claimBeside = (row: LedgerRow): LedgerRow | undefined =>
    others(row).find(({ trigger_name, state }) => state === 'ACQUIRED' && trigger_name === row.trigger_name)
  for (const row of rows) {
    const wrong = (message: string): void => {
      violations.push(`${message} [${lineOf(row)}]`)
    }
    switch (row.kind) {
      case 'stored':
        stored.add(`${row.trigger_group}.${row.trigger_name}`)
        // It plans anew.
        instants.delete(`${row.trigger_group}.${row.trigger_name}`)
        break
      case 'claimed': {
        const sameJob = others(row).find(({ job_name }) => job_name === row.job_name)
        if (row.is_nonconcurrent === 1 && sameJob !== undefined) {
          wrong(`a non-concurrent job was claimed beside ${lineOf(sameJob)}`)
        }
        const claim = claimBeside(row)
        if (claim !== undefined) wrong(`a trigger was claimed beside ${lineOf(claim)}`)
        inFlight.set(row.entry_id, row)
        break
      }
      case 'fired': {
        if (row.state !== 'EXECUTING') break
        const sameJob = others(row).find(
          ({ job_name, state }) => state === 'EXECUTING' && job_name === row.job_name,
        )
        if (row.is_nonconcurrent === 1 && sameJob !== undefined) {
          wrong(`a non-concurrent job was fired while ${lineOf(sameJob)} executes`)
        }
        const claim = claimBeside(row)
        if (claim !== undefined) wrong(`a trigger was fired beside ${lineOf(claim)}`)
        const key = `${row.trigger_group}.${row.trigger_name}`
        const before = instants.get(key) ?? new Set()
        if (before.has(row.sched_time)) wrong(`planned instant ${row.sched_time} was fired twice`)
        instants.set(key, before.add(row.sched_time))
        inFlight.set(row.entry_id, row)
        firings.set(row.entry_id, { row, end: 'open' })
        break
      }
      case 'deleted': {
        inFlight.delete(row.entry_id)
        const isRecovery = row.lock === 'cluster'
        if (isRecovery) recoveries.push({ instance: row.instance_name, at: row.at })
        const firing = firings.get(row.entry_id)
        if (firing !== undefined) firing.end = isRecovery ? 'recovered' : 'completed'
        break
      }
    }
  }
  return { violations, firings, instants, stored, recoveries }
}

/** Firings that run something again: their planned instants are those of others. */
export function isRerun({ trigger_group }: LedgerRow): boolean {
  return trigger_group === recoveringJobsGroup || trigger_group === retryingJobsGroup
}
