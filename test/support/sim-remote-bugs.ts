import type { SqlProgram, SqlReply } from '../../src/jobstore/sql/kernel/statement.ts'
import type { KnownClusterBug } from './sim-cluster-bugs.ts'

const nothing = { text: 'SELECT 1 WHERE false', values: [] }

const sendsAgain: KnownClusterBug = {
  name: 'A recovery does not see what goes on elsewhere, and runs it again in place of taking it over',
  seed: 93,
  symptom: /the work of .* was sent twice|was sent, and is lost/,
  statement: (statement, lock) =>
    lock === 'cluster' && /^SELECT a\.fire_id, a\.deadline /.test(statement.text) ? nothing : statement,
}

const settledTwice: KnownClusterBug = {
  name: 'A late result settles a firing that has ended',
  symptom: /was tried again twice|was sent twice/,
  statement: (statement) => {
    if (/^(DELETE FROM|UPDATE) qrtz_awaited_results/.test(statement.text)) return nothing
    const isLook = /^SELECT a\..* a\.reference = .* AND EXISTS/s.test(statement.text)
    return isLook
      ? { ...statement, text: statement.text.replace('AND EXISTS', 'OR false AND EXISTS') }
      : statement
  },
  *after(statement, reply): SqlProgram<SqlReply> {
    if (!/^DELETE FROM qrtz_fired_triggers.* qrtz_awaited_results/s.test(statement.text)) return reply
    const found = new Set(reply.rows.map((row) => row['entry_id']))
    const rowsJson = statement.values.find((value) => String(value).startsWith('[')) ?? '[]'
    const asked = JSON.parse(String(rowsJson)) as readonly { readonly entry_id: string }[]
    const missing = asked.map(({ entry_id }) => entry_id).filter((id) => !found.has(id))
    if (missing.length === 0) return reply
    const { rows } = yield {
      text: `SELECT *, 0 AS priority, at AS fired_time, 'DEFAULT' AS job_group FROM ledger
        WHERE kind = 'fired' AND state = 'EXECUTING' AND entry_id IN (SELECT value FROM json_each(?))`,
      values: [JSON.stringify(missing)],
    }
    return { ...reply, rows: [...reply.rows, ...rows] }
  },
}

const sentUnfenced: KnownClusterBug = {
  name: 'A node that was recovered while it stood still writes down what it sends, and sends it',
  seed: 7,
  symptom: /the work of .* was sent twice|was sent, and is/,
  *after(statement, reply): SqlProgram<SqlReply> {
    if (!/^INSERT INTO qrtz_awaited_results/.test(statement.text) || reply.rows.length > 0) return reply
    const rows = statement.values.find((value) => String(value).startsWith('[')) ?? '[]'
    const stored = yield {
      text: `SELECT value ->> 'reference' AS reference, value ->> 'fire_id' AS fire_id FROM json_each(?)`,
      values: [rows],
    }
    return { ...reply, rows: stored.rows }
  },
}

const forgottenPart: KnownClusterBug = {
  name: 'A recovery runs parts of a broadcast again, and does not note under which triggers',
  symptom: /broadcast .* (should not be lost|ended 0 times)/,
  statement: (statement, lock) =>
    lock === 'cluster' && /^INSERT INTO qrtz_split_firings/.test(statement.text) ? nothing : statement,
}

/** Bugs in what goes on elsewhere, which the simulation with remote jobs must find. */
export const knownRemoteBugs: readonly KnownClusterBug[] = [
  sendsAgain,
  settledTwice,
  sentUnfenced,
  forgottenPart,
]
