/** An entry matters only while its row is there, which is rare. A forgotten one makes a start wait. */
const givenUpMax = 1000

/** `givenUp`: its scheduler has ended and writes nothing more, but its row may be there still. */
export type LeaseOfThread = 'held' | 'givenUp'

const key = Symbol.for('quartz-ts.leases')
const shared = globalThis as { [key]?: Map<string, LeaseOfThread> | undefined }

/**
 * The leases of schedulers of this thread, by boot id: a process that lives does not show that they fire. All copies of
 * this package in a thread have one list, since a program that is bundled or reloaded may load another copy for its
 * next scheduler. Threads of a process have one each, which ends with them.
 */
function leases(): Map<string, LeaseOfThread> {
  return (shared[key] ??= new Map<string, LeaseOfThread>())
}

/** What is known of a lease; undefined for one that no scheduler of this thread has taken, or whose row is gone. */
export function leaseOfThread(bootId: string): LeaseOfThread | undefined {
  return leases().get(bootId)
}

export function noteLease(bootId: string, lease: LeaseOfThread): void {
  const all = leases()
  all.delete(bootId)
  all.set(bootId, lease)
  if (lease === 'held') return
  const givenUp = [...all].filter(([, each]) => each === 'givenUp')
  const [oldest] = givenUp
  if (oldest !== undefined && givenUp.length > givenUpMax) all.delete(oldest[0])
}

/** The row of this lease is gone. */
export function forgetLease(bootId: string): void {
  leases().delete(bootId)
}
