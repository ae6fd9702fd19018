import type Database from 'better-sqlite3'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import type { SimClock } from './sim-clock.ts'
import type { GuestKind, SimGuests } from './sim-guests.ts'
import type { SimRandom } from './sim-random.ts'
import { SimRemotes } from './sim-remotes.ts'
import { SimShards } from './sim-shards.ts'

interface GuestWorld {
  readonly clock: SimClock
  readonly random: SimRandom
  readonly database: Database.Database
  /** The schedulers of nodes that are up. */
  readonly nodes: () => readonly Scheduler[]
}

export function invitedGuests(
  kind: GuestKind | null,
  { clock, random, ...world }: GuestWorld,
): SimGuests | null {
  if (kind === null) return null
  return kind === 'shards' ? new SimShards(clock, random) : new SimRemotes(clock, random, world)
}
