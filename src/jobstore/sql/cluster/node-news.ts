import { FailureSeries } from '../../failure-series.ts'
import type { JobStoreContext } from '../../job-store.ts'
import type { NodeRow } from '../tables/nodes/node-row.ts'

/** What was told of one node. A null is a node that reports no start. */
interface Told {
  readonly failed: Set<string | null>
  readonly locking: Set<string | null>
  readonly limits: Set<string | null>
  readonly recovery: FailureSeries
}

/** What a node has told of its cluster, so that each thing is told once. */
export class NodeNews {
  /** Failures to compare its firings with those that the database has of it. */
  readonly comparing: FailureSeries
  /** Failures to end the items that only nodes that are gone might run. */
  readonly settling: FailureSeries
  /** Failures to look for triggers without their claim or execution. */
  readonly sweeping: FailureSeries
  readonly #context: Pick<JobStoreContext, 'logger' | 'signaler'>
  readonly #told = new Map<string, Told>()

  constructor(context: Pick<JobStoreContext, 'logger' | 'signaler'>) {
    this.#context = context
    this.comparing = new FailureSeries(context)
    this.settling = new FailureSeries(context)
    this.sweeping = new FailureSeries(context)
  }

  /** True once for each start of a node. */
  isNews({ instanceId, bootId }: NodeRow, what: 'failed' | 'locking' | 'limits'): boolean {
    const told = this.#of(instanceId)[what]
    if (told.has(bootId)) return false
    told.add(bootId)
    return true
  }

  /** Recoveries of a node that fail. */
  recovery({ instanceId }: NodeRow): FailureSeries {
    return this.#of(instanceId).recovery
  }

  /** Forgets the nodes that are gone. */
  keep(rows: readonly NodeRow[]): void {
    for (const told of this.#told.keys()) {
      if (!rows.some(({ instanceId }) => instanceId === told)) this.#told.delete(told)
    }
  }

  #of(instanceId: string): Told {
    const told = this.#told.get(instanceId) ?? {
      failed: new Set(),
      locking: new Set(),
      limits: new Set(),
      recovery: new FailureSeries(this.#context),
    }
    this.#told.set(instanceId, told)
    return told
  }
}
