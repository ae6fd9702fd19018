import pg from 'pg'
import { onTestFinished } from 'vitest'
import type { TestDatabase } from './postgres-database.ts'

const gate = 4712

/** Waits until the gate opens, however short the waits for other locks of its transaction are. */
const waitAtGate = `CREATE OR REPLACE FUNCTION wait_at_gate() RETURNS void LANGUAGE plpgsql
  SET lock_timeout = 0 AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${gate}); END $$;
  CREATE OR REPLACE FUNCTION row_waits_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM wait_at_gate(); RETURN NEW; END $$`

/** The statement of a program that waits at the gate; put before another statement. */
export const statementAtGate = { text: 'SELECT wait_at_gate()', values: [] }

export interface Gate {
  /** Resolves when a transaction waits at it. */
  reached(): Promise<void>
  /** Resolves when another transaction waits for a lock, as of the one that waits at the gate. */
  isWaitedFor(): Promise<void>
  open(): Promise<void>
}

export interface HeldRows {
  readonly on: 'INSERT' | 'UPDATE'
  readonly table: string
  /** Of which rows `NEW`; as SQL. Default: of all. */
  readonly when?: string
}

/** Closes the gate until the test opens it, or ends; statements that write such rows wait at it. */
export async function closedGate(database: TestDatabase, held?: HeldRows): Promise<Gate> {
  const client = new pg.Client({ connectionString: database.connectionString })
  await client.connect()
  await client.query(waitAtGate)
  if (held !== undefined) {
    await client.query(
      `CREATE TRIGGER waits_at_gate BEFORE ${held.on} ON ${held.table} FOR EACH ROW
         WHEN (${held.when ?? 'true'}) EXECUTE FUNCTION row_waits_at_gate()`,
    )
  }
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${gate})`)
  onTestFinished(async () => {
    await client.query('COMMIT')
    if (held !== undefined) await client.query(`DROP TRIGGER waits_at_gate ON ${held.table}`)
    await client.end()
  })
  const isAtGate = `(l.locktype = 'advisory' AND l.objid = ${gate})`
  return {
    reached: () => untilSomebodyWaits(database, isAtGate),
    isWaitedFor: () => untilSomebodyWaits(database, `NOT ${isAtGate}`),
    open: async () => {
      await client.query('COMMIT')
    },
  }
}

/** Resolves when a session waits for a lock that the condition on a row `l` of `pg_locks` names. */
async function untilSomebodyWaits(database: TestDatabase, condition: string): Promise<void> {
  const waits = `SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE a.datname = current_database() AND NOT l.granted AND ${condition}`
  // Each question is a round trip.
  while ((await database.query(waits)).length === 0);
}
