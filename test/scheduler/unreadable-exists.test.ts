import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { breakTrigger, storeOnFile } from '../support/broken-trigger.ts'
import { filledScheduler } from '../support/server-fixture.ts'

test('what cannot be read exists, and what was deleted does not', async () => {
  const { jobStore, filename } = storeOnFile()
  await using scheduler = await filledScheduler({ jobStore })
  const [job, trigger] = [new JobKey('hourly', 'mail'), new TriggerKey('hourly', 'mail')]
  breakTrigger(filename, 'hourly', "trigger_type = 'NEWKIND'")
  const database = new Database(filename)
  database.exec("UPDATE qrtz_job_details SET job_data = 'junk' WHERE job_name = 'hourly'")
  database.close()
  await expect(scheduler.getJobDetail(job)).rejects.toMatchObject({ code: 'ERR_BROKEN_ROW' })
  await expect(scheduler.getTrigger(trigger)).rejects.toMatchObject({ code: 'ERR_BROKEN_ROW' })
  expect([await scheduler.checkExists(job), await scheduler.checkExists(trigger)]).toEqual([true, true])

  await scheduler.deleteJob(job)
  expect([await scheduler.checkExists(job), await scheduler.checkExists(trigger)]).toEqual([false, false])
})
