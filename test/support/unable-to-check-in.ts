import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import type { SchedulerServerOptions } from '../../src/server/server-options.ts'
import type { ManualClock } from '../../src/time/manual-clock.ts'
import { type ServerFixture, serverFixture } from './server-fixture.ts'
import { jobOf, shellRig } from './shell-rig.ts'
import { temporaryFolder } from './temporary-folder.ts'

export interface UnableToCheckIn extends ServerFixture {
  readonly clock: ManualClock
  /** From now on the store takes check-ins again. */
  mend(): void
}

/** A server whose node is started and has tried in vain to check in, as on a full disk. */
export async function unableToCheckIn(
  options: Partial<SchedulerServerOptions> = {},
): Promise<UnableToCheckIn> {
  const filename = join(temporaryFolder('quartz-ts-full-'), 'jobs.db')
  const { scheduler, clock } = await shellRig([jobOf(() => {})], { jobStore: sqliteJobStore({ filename }) })
  const fixture = await serverFixture({ served: scheduler, clock, ...options })
  const change = (sql: string): void => {
    const database = new Database(filename)
    database.exec(sql)
    database.close()
  }
  const refused = "qrtz_scheduler_state BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END;"
  change(
    `CREATE TRIGGER no_insert BEFORE INSERT ON ${refused} CREATE TRIGGER no_update BEFORE UPDATE ON ${refused}`,
  )
  const failed = scheduler.events.next('checkInFailed')
  await clock.advance(60_000)
  await failed
  return {
    ...fixture,
    clock,
    mend() {
      change('DROP TRIGGER no_insert; DROP TRIGGER no_update')
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  }
}
