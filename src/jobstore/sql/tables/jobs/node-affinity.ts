import { JobPersistenceError } from '../../../../core/errors.ts'
import type { NodeAffinity } from '../../../../jobs/job-detail.ts'
import type { SqlVocabulary } from '../../kernel/sql-vocabulary.ts'

/** As JSON that statements can search: `[true,"a","b"]` for nodes that are required, `[false,"a"]` for preferred. */
export function nodeAffinityText({ names, required }: NodeAffinity): string {
  return JSON.stringify([required, ...names])
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
 * The condition that a job `j` may run on the node whose quoted name is bound as `:node`. A node counts as alive while
 * it has a row in the scheduler state: a node that leaves deletes it, and recovery deletes the row of a failed one. A
 * value that does not name nodes is found by every node, so that it is reported as broken.
 */
export function runsHere({ dialect, names }: SqlVocabulary): string {
  const isNamed = dialect.contains('j.node_affinity', `('"' || s.instance_name || '"')`)
  const begins = (text: string): string => dialect.startsWith('j.node_affinity', `'${text}'`)
  const ends = dialect.endsWith('j.node_affinity', `'"]'`)
  const namesNodes = `(${begins('[true,"')} OR ${begins('[false,"')}) AND ${ends}`
  return `AND (j.node_affinity IS NULL OR NOT (${namesNodes}) OR ${dialect.contains('j.node_affinity', ':node')}
    OR (${dialect.startsWith('j.node_affinity', "'[false'")} AND NOT EXISTS (
      SELECT 1 FROM ${names.schedulerState} AS s WHERE s.sched_name = :scheduler AND ${isNamed})))`
}
