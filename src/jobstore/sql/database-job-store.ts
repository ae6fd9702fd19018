import type { JobStore } from '../job-store.ts'

/** A job store over a database. */
export interface DatabaseJobStore extends JobStore {
  /**
   * Makes the tables or brings them up to date, on a connection of its own; answers the versions that were applied,
   * the newest also when part of it was missing and was made again. Stores do so when they start unless `migrate` is
   * `'never'`. Any number of processes may do so at once.
   *
   * @throws JobPersistenceError ERR_SCHEMA_TOO_NEW when a newer release has made them, ERR_SCHEMA_TOO_OLD for a
   * table that lacks what cannot be made again
   */
  migrate(): Promise<readonly number[]>
}
