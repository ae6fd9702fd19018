import { isObject } from '../../../core/options.ts'
import type { JobStoreContext } from '../../job-store.ts'
import type { SqlSession } from '../session/sql-session.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'
import type { NodeNews } from './node-news.ts'

type Limits = Readonly<Record<string, unknown>>

/** The limits of a node, as it tells its peers. */
export function limitsToTell({ groupLimits }: SqlSession): Readonly<Record<string, number>> {
  return groupLimits?.byGroup ?? {}
}

/**
 * Warns once for each start of a node that has other limits for groups of jobs than this one: each node goes by its
 * own, so that the highest one holds.
 */
export function warnOfOtherLimits(
  rows: readonly NodeRow[],
  own: { readonly instanceId: string; readonly limits: Limits },
  { logger, news }: Pick<JobStoreContext, 'logger'> & { readonly news: NodeNews },
): void {
  for (const row of rows) {
    const limits = limitsOf(row)
    if (limits === null || row.instanceId === own.instanceId) continue
    const groups = [...new Set([...Object.keys(own.limits), ...Object.keys(limits)])].sort()
    const differing = groups.filter((group) => own.limits[group] !== limits[group])
    if (differing.length === 0 || !news.isNews(row, 'limits')) continue
    const of = (all: Limits): Limits =>
      Object.fromEntries(differing.map((group) => [group, all[group] ?? null]))
    logger.warn(
      { node: row.instanceId, theirs: of(limits), own: of(own.limits) },
      'nodes of this cluster have different jobGroupLimits, so more jobs of a group may run than one of them allows: ' +
        'give all nodes the same',
    )
  }
}

/** Null for a node that does not say, as those of older versions and of Java. */
function limitsOf({ info }: NodeRow): Limits | null {
  const limits: unknown = info?.jobGroupLimits
  return isObject(limits) ? (limits as Limits) : null
}
