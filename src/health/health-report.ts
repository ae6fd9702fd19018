/** Why something is not well. */
export const healthCodes = [
  'shutDown',
  'takenOver',
  'stopping',
  'notStarted',
  'storeUnavailable',
  'notFiring',
  'notEnding',
  'notCheckingIn',
  'noSuccess',
  'firingLate',
  'ruleFailed',
] as const
/**
 * Why something is not well: `takenOver` is a process whose work another one has taken over for good; `stopping` is
 * before and during a shutdown; `notFiring` is a store that answers and takes no change, such as one on a full disk, or
 * that leaves the loop without an answer; `notEnding` is one that takes no end of an execution, such as one whose table
 * is locked; `ruleFailed` is a rule of your own, or one that could not be checked.
 */
export type HealthCode = (typeof healthCodes)[number]

export interface HealthReason {
  readonly code: HealthCode
  /** For people: what is the matter, and since when or by how much. */
  readonly message: string
}

/** The answer to a question of health. */
export interface HealthReport {
  readonly isOk: boolean
  /** Empty when it is well. */
  readonly reasons: readonly HealthReason[]
}

export function reportOf(reasons: readonly HealthReason[]): HealthReport {
  return { isOk: reasons.length === 0, reasons }
}
