import { InvalidArgumentError } from '../../../core/errors.ts'
import { requireInteger } from '../../../core/options.ts'
import { failedAfterMaxMs } from '../tables/nodes/node-row.ts'

/** Options of a node in a cluster. */
export interface ClusterOptions {
  /** How often a node checks in. Milliseconds, 100 to 60,000, default 1,500. */
  readonly checkInIntervalMs?: number
  /**
   * A node that has not checked in for this long has failed, and the others recover its work; time in which they could
   * not have seen it does not count. After the end of the session of its check-ins a sixth of this is enough, at least
   * 1,000. Milliseconds, at least twice `checkInIntervalMs`, at most 3,600,000, default 6,000 or four times
   * `checkInIntervalMs`, whichever is more.
   */
  readonly failedAfterMs?: number
}

export type ResolvedClusterOptions = Required<ClusterOptions>

/** @throws InvalidArgumentError ERR_INVALID_OPTION */
export function resolveClusterOptions(what: string, options: ClusterOptions): ResolvedClusterOptions {
  const checkInIntervalMs = requireInteger(what, 'checkInIntervalMs', options.checkInIntervalMs ?? 1500, {
    min: 100,
    max: 60_000,
  })
  const failedAfterMs = requireInteger(
    what,
    'failedAfterMs',
    options.failedAfterMs ?? Math.max(6000, 4 * checkInIntervalMs),
    { min: 1, max: failedAfterMaxMs },
  )
  if (failedAfterMs < 2 * checkInIntervalMs) {
    throw new InvalidArgumentError(
      'failedAfterMs',
      `${what}: 'failedAfterMs' must be at least twice 'checkInIntervalMs' (${checkInIntervalMs}), so that one ` +
        `late check-in is no failure, got ${failedAfterMs}.`,
      'ERR_INVALID_OPTION',
    )
  }
  return { checkInIntervalMs, failedAfterMs }
}
