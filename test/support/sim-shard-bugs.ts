import { run, type SqlProgram, type SqlReply } from '../../src/jobstore/sql/kernel/statement.ts'
import type { KnownClusterBug } from './sim-cluster-bugs.ts'

const nothing = { text: 'SELECT 1 WHERE false', values: [] }

const settledTwice: KnownClusterBug = {
  name: 'A firing that has ended is written down, and its row stays',
  symptom: /was settled [2-9] times|is never over|was told [2-9] times/,
  statement: (statement) => (/^DELETE FROM qrtz_split_firings/.test(statement.text) ? nothing : statement),
}

const claimedByTwo: KnownClusterBug = {
  name: 'The trigger of an item waits again as soon as a node has claimed it',
  symptom: /claimed beside|overlaps itself|unlike its claim|fired twice/,
  *after(statement, reply): SqlProgram<SqlReply> {
    if (!/INSERT INTO qrtz_fired_triggers/.test(statement.text)) return reply
    yield* run({
      // Three times each, or one node would claim it until the end.
      text: `UPDATE qrtz_triggers SET trigger_state = 'WAITING', priority = priority + 1
        WHERE trigger_state = 'ACQUIRED' AND trigger_group = 'SHARDED_JOBS' AND priority < 8`,
      values: [],
    })
    return reply
  },
}

const overlapping: KnownClusterBug = {
  name: 'A firing does not look at the items of earlier ones',
  symptom: /overlaps/,
  statement: (statement, lock) =>
    /^SELECT s\..* qrtz_split_firings AS s/s.test(statement.text) && lock !== 'cluster'
      ? { ...statement, text: `${statement.text} AND s.fired_time > sim_now() - 400` }
      : statement,
}

const leftOfDead: KnownClusterBug = {
  name: 'A recovery runs the items of a dead node again and does not note under which triggers',
  symptom: /should not be lost|is never over|ran to its end [2-9] times/,
  statement: (statement, lock) =>
    lock === 'cluster' && /^INSERT INTO qrtz_split_firings/.test(statement.text) ? nothing : statement,
}

/** Bugs in what follows from firings that are split, which the simulation with sharded jobs must find. */
export const knownShardBugs: readonly KnownClusterBug[] = [
  settledTwice,
  claimedByTwo,
  overlapping,
  leftOfDead,
]
