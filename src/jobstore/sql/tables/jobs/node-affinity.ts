import { JobPersistenceError } from '../../../../core/errors.ts'
import type { NodeAffinity } from '../../../../jobs/job-detail.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'

/** As JSON that statements can search: `[true,"a","b"]` for nodes that are required, `[false,"a"]` for preferred. */
export function nodeAffinityText(affinity: NodeAffinity | null): string | null {
  return affinity === null ? null : JSON.stringify([affinity.required, ...affinity.names])
}

/** @throws JobPersistenceError ERR_BROKEN_ROW, SyntaxError */
export function nodeAffinityOf(json: string): NodeAffinity {
  const value: unknown = JSON.parse(json)
  if (Array.isArray(value)) {
    const [required, ...names] = value as unknown[]
    if (
      typeof required === 'boolean' &&
      names.length > 0 &&
      names.every((name) => typeof name === 'string')
    ) {
      return Object.freeze({ names: Object.freeze(names), required })
    }
  }
  throw new JobPersistenceError(`'${json}' does not name nodes.`, { code: 'ERR_BROKEN_ROW' })
}

/** What {@link runsHere} searches for. */
export function quotedNode(instanceId: string): string {
  return JSON.stringify(instanceId)
}

/**
 * The condition that a job `j`, and a trigger `t` of it, may run on the node whose quoted name is bound as `:node`. A
 * node counts as alive while it has a row in the scheduler state: a node that leaves deletes it, and recovery deletes
 * the row of a failed one. A value that does not name nodes is found by every node, so that it is reported as broken. A
 * trigger that was due by `:ownersUntilMs` has waited for the nodes that it prefers for long enough.
 */
export function runsHere(vocabulary: SqlVocabulary): string {
  const hasWaited = `${isPreference(vocabulary)} AND t.next_fire_time <= :ownersUntilMs`
  return `AND (${allows(vocabulary, 'j.node_affinity')})
    AND (${allows(vocabulary, 't.node_affinity')} OR (${hasWaited}))`
}

/**
 * The condition that only its wait for the nodes that it prefers keeps a trigger from this node. As a CASE, so that the
 * planner of PostgreSQL does not know how few such triggers there are: it would read all triggers and sort these.
 */
export function isLeftToOthers(vocabulary: SqlVocabulary): string {
  return `AND CASE WHEN (${allows(vocabulary, 'j.node_affinity')}) AND NOT (${allows(vocabulary, 't.node_affinity')})
    AND ${isPreference(vocabulary)} AND t.next_fire_time > :ownersUntilMs THEN true ELSE false END`
}

function isPreference({ dialect }: SqlVocabulary): string {
  return dialect.startsWith('t.node_affinity', "'[false'")
}

function allows({ dialect, names }: SqlVocabulary, column: string): string {
  const isNamed = dialect.contains(column, `('"' || s.instance_name || '"')`)
  const begins = (text: string): string => dialect.startsWith(column, `'${text}'`)
  const namesNodes = `(${begins('[true,"')} OR ${begins('[false,"')}) AND ${dialect.endsWith(column, `'"]'`)}`
  return `${column} IS NULL OR NOT (${namesNodes}) OR ${dialect.contains(column, ':node')}
    OR (${begins('[false')} AND NOT EXISTS (
      SELECT 1 FROM ${names.schedulerState} AS s WHERE s.sched_name = :scheduler AND ${isNamed}))`
}
