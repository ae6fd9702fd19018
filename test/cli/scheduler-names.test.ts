import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { systemClock } from '../../src/time/clock.ts'
import { filledScheduler } from '../support/server-fixture.ts'
import { temporaryFolder } from '../support/sqlite.ts'
import { run as runCommand, temporaryFile } from './fake-host.ts'

const run = (args: readonly string[]): ReturnType<typeof runCommand> =>
  runCommand(args, { clock: systemClock })

describe('a store', () => {
  test('has the scheduler that is named, or says which ones it has', async () => {
    const store = join(temporaryFolder(), 'jobs.db')
    const stored = async (schedulerName: string): Promise<void> => {
      const scheduler = await filledScheduler({
        jobStore: sqliteJobStore({ filename: store }),
        schedulerName,
      })
      await scheduler.shutdown()
    }
    await stored('shop')
    await stored('billing')
    const err = /nothing of a scheduler 'typo'. It has 'billing', 'shop': name one with --scheduler/
    const typo = ['--store', store, '--scheduler', 'typo']
    expect(await run(['jobs', ...typo])).toMatchObject({ code: 3, out: '', err })
    expect(await run(['pause', 'all', '--yes', ...typo])).toMatchObject({ code: 3, err })
    expect(await run(['jobs', '--store', store])).toMatchObject({ code: 3, err: /'QuartzScheduler'/ })
    expect(await run(['jobs', '--store', store, '--scheduler', 'shop'])).toMatchObject({ code: 0 })
    const file = temporaryFile('jobs.json', (await run(['export', '--secrets', ...typo.with(3, 'shop')])).out)
    expect(await run(['import', file, '--yes', ...typo])).toMatchObject({ code: 0 })
    expect(await run(['jobs', ...typo])).toMatchObject({ code: 0 })
  })

  test('with no row at all is of any scheduler', async () => {
    const store = join(temporaryFolder(), 'jobs.db')
    await sqliteJobStore({ filename: store }).migrate()
    expect(await run(['jobs', '--store', store])).toMatchObject({ code: 0, out: 'No jobs.\n' })
  })
})
