import type { JobStoreContext } from '../../job-store.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'
import type { OwnRow } from '../tables/nodes/scheduler-state-table.ts'
import type { NodeNews } from './node-news.ts'

type Limits = Readonly<Record<string, unknown>>

/**
 * Warns once for each start of a node that has other limits for groups of jobs than this one: each node goes by its
 * own, so that the highest one holds.
 */
export function warnOfOtherLimits(
  rows: readonly NodeRow[],
  own: OwnRow,
  { logger, news }: Pick<JobStoreContext, 'logger'> & { readonly news: NodeNews },
): void {
  const ownLimits = own.info.jobGroupLimits ?? {}
  for (const row of rows) {
    const limits = limitsOf(row)
    if (limits === null || row.instanceId === own.instanceId) continue
    const groups = [...new Set([...Object.keys(ownLimits), ...Object.keys(limits)])].sort()
    const differing = groups.filter((group) => ownLimits[group] !== limits[group])
    if (differing.length === 0 || !news.isNews(row, 'limits')) continue
    const of = (all: Limits): Limits =>
      Object.fromEntries(differing.map((group) => [group, all[group] ?? null]))
    logger.warn(
      { node: row.instanceId, theirs: of(limits), own: of(ownLimits) },
      'nodes of this cluster have different jobGroupLimits, so more jobs of a group may run than one of them allows: ' +
        'give all nodes the same',
    )
  }
}

/** Null for a node that does not say, as those of older versions and of Java. */
function limitsOf({ info }: NodeRow): Limits | null {
  const limits: unknown = info?.jobGroupLimits
  return typeof limits === 'object' && limits !== null && !Array.isArray(limits) ? (limits as Limits) : null
}
