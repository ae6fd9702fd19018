import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { busyScheduler, script } from '../support/dashboard-data.ts'
import {
  axeFindings,
  type DashboardFixture,
  dashboardFixture,
  openDashboard,
  picture,
} from '../support/dashboard-fixture.ts'
import { isHacked, lookRight, type PageCase } from '../support/page-looks.ts'

const part = encodeURIComponent(script)

const pages: readonly PageCase[] = [
  ['overview', '/', 'Next to fire'],
  ['jobs', '/jobs', 'reports/good'],
  ['jobs-none', '/jobs?search=nosuchjob', 'No job fits'],
  ['job', '/jobs/mail/bad', 'Last executions'],
  ['job-scripted', `/jobs/${part}/${part}`, 'Last executions'],
  ['job-new', '/jobs/new', 'Definition'],
  ['job-edit', '/jobs/reports/daily/edit', 'Definition'],
  ['triggers', '/triggers', 'mail/hourly'],
  ['trigger', '/triggers/reports/daily', 'At 07:00, Monday through Friday'],
  ['trigger-scripted', `/triggers/${part}/${part}`, 'every hour'],
  ['trigger-new', '/triggers/new', 'When it fires'],
  ['trigger-edit', '/triggers/mail/daytime/edit', 'As stored'],
  ['running', '/running', 'mail/slow'],
  ['history', '/history', 'Failed'],
  ['history-failures', '/history?filter=outcome%3Afailed', 'Failed'],
  ['cron', '/cron?zone=America%2FNew_York', 'Monday through Friday'],
  ['not-found', '/nothing/here', 'There is no such page'],
]

inBrowser('every page', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const served = await busyScheduler(sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }))
    fixture = await dashboardFixture({ served })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  lookRight(pages, browser, () => fixture.address)

  test('an execution shows its error as text', async () => {
    const { page, errors } = await openDashboard(
      browser(),
      fixture.address,
      '/history?filter=outcome%3Afailed',
    )
    await page.getByRole('link', { name: 'Failed' }).first().click()
    await page.getByText('it broke').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'execution')
    await page.reload()
    await page.getByText('it broke').first().waitFor()
    expect([await isHacked(page), errors]).toEqual([false, []])
    await page.close()
  })
})
