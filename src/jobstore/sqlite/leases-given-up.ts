/** An entry matters only while its row is there, which is rare. A forgotten one refuses a start, as a holder does. */
const keptMax = 1000

const key = Symbol.for('quartz-ts.leases-given-up')
const shared = globalThis as { [key]?: Set<string> | undefined }

/**
 * The boot ids of leases whose schedulers in this process have ended, and whose rows may be there still: a process that
 * lives does not show that they fire. All copies of this package in a process have one list, since a program that is
 * bundled or reloaded may load another copy for its next scheduler.
 */
function givenUp(): Set<string> {
  return (shared[key] ??= new Set())
}

/** The scheduler of this lease writes nothing more. */
export function giveUp(bootId: string): void {
  const bootIds = givenUp()
  const [oldest] = bootIds
  if (oldest !== undefined && bootIds.size >= keptMax) bootIds.delete(oldest)
  bootIds.add(bootId)
}

export function isGivenUp(bootId: string): boolean {
  return givenUp().has(bootId)
}

/** The row of this lease is gone. */
export function forgetGivenUp(bootId: string): void {
  givenUp().delete(bootId)
}
