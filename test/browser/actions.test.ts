import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { postgresJobStore } from '../../src/jobstore/postgres/postgres-job-store.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { busyScheduler } from '../support/dashboard-data.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { freshDatabase } from '../support/postgres-database.ts'
import { temporaryFolder } from '../support/sqlite.ts'

async function opened(jobStore: JobStore): Promise<DashboardFixture> {
  return dashboardFixture({ served: await busyScheduler(jobStore) })
}

const press = (page: BrowserPage, name: string | RegExp): Promise<void> =>
  page.getByRole('button', { name }).first().click()

const seen = (page: BrowserPage, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor()

/** Makes a job, gives it a trigger of each kind, changes, pauses, resumes, runs and deletes them. */
async function steersJobsAndTriggers(page: BrowserPage, address: string): Promise<void> {
  await page.goto(`${address}/jobs/new`)
  await page.getByLabel('Group', { exact: true }).fill('made')
  await page.getByLabel('Name', { exact: true }).fill('here')
  await page.getByLabel('Type', { exact: true }).fill('echo')
  await page.getByRole('textbox', { name: 'Data' }).fill('{ "to": "ann" }')
  await press(page, 'Save')
  await seen(page, 'made/here is saved.')
  await page.getByRole('link', { name: 'New trigger' }).click()
  await seen(page, 'It is not stored yet.')
  expect(await page.getByLabel('Job name').inputValue()).toBe('here')
  await page.getByLabel('Expression').fill('0 0 5 ? * *')
  await page.getByLabel('Time zone').fill('UTC')
  await seen(page, /05:00:00 GMT/)
  await press(page, 'Save')
  await seen(page, 'At 05:00')

  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Kind').selectOption('simple')
  await page.getByLabel('Interval').fill('90')
  await page.getByLabel('Unit').selectOption('MINUTE')
  await page.getByText('Fire times: As edited').waitFor()
  await page.locator('.is-new').first().waitFor()
  await press(page, 'Save')
  await seen(page, 'every 90 minutes, for ever')
  await press(page, 'Pause')
  await page.getByRole('dialog').getByLabel('Reason').fill('a long night')
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await seen(page, 'made/here is paused.')
  await seen(page, 'a long night')
  await seen(page, 'Paused')
  await press(page, 'Resume')
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
  await seen(page, 'made/here is resumed.')
  await press(page, 'Run now')
  await page.getByRole('dialog').getByRole('textbox', { name: 'Data' }).fill('{ "extra": 1 }')
  await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click()
  await seen(page, 'made/here was started.')
  await press(page, 'Delete')
  await page.getByRole('dialog').getByLabel('Type here to confirm').fill('here')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await seen(page, 'made/here is deleted.')
  await page.waitForURL(/\/triggers$/)
  await page.goto(`${address}/jobs/made/here`)
  await seen(page, 'It has no trigger')
  await seen(page, 'Succeeded')
}

async function interrupts(page: BrowserPage, address: string): Promise<void> {
  await page.goto(`${address}/running`)
  await page.getByRole('button', { name: 'Interrupt: mail/slow' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Interrupt' }).click()
  await seen(page, 'mail/slow was asked to stop.')
  await seen(page, 'Nothing runs at the moment')
}

inBrowser('what is steered from the page', (browser) => {
  test.each(['SQLite', 'PostgreSQL'])('reaches a scheduler on %s', async (kind) => {
    await using database = kind === 'PostgreSQL' ? await freshDatabase() : null
    const history = { record: 'all' } as const
    const jobStore =
      database === null
        ? sqliteJobStore({ filename: join(temporaryFolder(), 'jobs.db'), history })
        : postgresJobStore({ connectionString: database.connectionString, history })
    await using fixture = await opened(jobStore)
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await steersJobsAndTriggers(page, fixture.address)
    await interrupts(page, fixture.address)
    await page.goto(`${fixture.address}/`)
    await press(page, 'Standby')
    await page.getByRole('dialog').getByRole('button', { name: 'Standby' }).click()
    await seen(page, 'The scheduler is in standby: it fires nothing.')
    await press(page, 'Start')
    await seen(page, 'All is well')
    expect(errors).toEqual([])
    await page.close()
  })

  test('what a viewer may not do is not offered', async () => {
    await using fixture = await opened(sqliteJobStore({ filename: ':memory:' }))
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/mail/bad', {
      who: 'viewer',
    })
    await seen(page, 'Last executions')
    expect(
      await page
        .locator('main')
        .getByRole('button', { name: /Run|Pause|Delete|Interrupt/ })
        .count(),
    ).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })
})
