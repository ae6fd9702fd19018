import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobKey, triggerKey } from '../../src/core/key.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { busyScheduler } from '../support/dashboard-data.ts'
import { type EngineStore, inBrowserOnEngines } from '../support/dashboard-engines.ts'
import { type DashboardFixture, dashboardFixture, openDashboard, seen } from '../support/dashboard-fixture.ts'

const press = (page: BrowserPage, name: string): Promise<void> =>
  page.locator('main').getByRole('button', { name, exact: true }).first().click()

const confirm = (page: BrowserPage, name: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

async function confirmTyped(page: BrowserPage, name: string, typed: string): Promise<void> {
  await page.getByRole('dialog').getByLabel(`Type ${typed} to confirm`).fill(typed)
  await confirm(page, name)
}

inBrowserOnEngines('what is steered from the page', (browser, newStore) => {
  let opened: EngineStore
  let fixture: DashboardFixture
  beforeAll(async () => {
    opened = await newStore()
    fixture = await dashboardFixture({ served: await busyScheduler(opened.store) })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  })

  test('a job is made and given a trigger, which becomes one of each kind, is paused, run and deleted', async () => {
    const { scheduler } = fixture
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/new')
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
    await becomesEachKind(page)
    const stored = await scheduler.getTrigger(triggerKey('here', 'made'))
    expect(stored).toMatchObject({
      type: 'dailyTimeInterval',
      repeatInterval: 2,
      daysOfWeekMask: 0b0111_1110,
    })

    await press(page, 'Pause')
    await page.getByRole('dialog').getByLabel('Reason').fill('a long night')
    await page.getByRole('dialog').getByLabel('Until').fill('2199-01-01T08:00:00')
    await confirm(page, 'Pause')
    await seen(page, 'made/here is paused.')
    await seen(page, 'a long night')
    await page.getByText('The trigger is paused by admin').waitFor()
    const { items } = await scheduler.queryTriggers({ state: 'PAUSED', search: 'made' })
    // Eight in the morning in Paris, where the browser is.
    expect(items).toMatchObject([{ pause: { reason: 'a long night', untilMs: Date.UTC(2199, 0, 1, 7) } }])
    await press(page, 'Resume')
    await confirm(page, 'Resume')
    await seen(page, 'made/here is resumed.')
    await press(page, 'Run now')
    await page.getByRole('dialog').getByRole('textbox', { name: 'Data' }).fill('{ "extra": 1 }')
    await confirm(page, 'Run now')
    await seen(page, 'made/here was started.')
    await press(page, 'Delete')
    await confirmTyped(page, 'Delete', 'here')
    await seen(page, 'made/here is deleted.')
    await page.waitForURL(/\/triggers$/)
    await page.goto(`${fixture.address}/jobs/made/here`)
    await seen(page, 'It has no trigger')
    await seen(page, 'Succeeded')
    expect(errors).toEqual([])
    await page.close()
  })

  test('a job is edited, paused, resumed, run, interrupted and deleted', async () => {
    const { scheduler } = fixture
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/reports/daily')
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Description').fill('seen every morning')
    await page.getByLabel('Never two executions at the same time').check()
    const data = page.getByRole('textbox', { name: 'Data' })
    await data.fill((await data.inputValue()).replace('ops@', 'ann@'))
    await press(page, 'Save')
    await seen(page, 'reports/daily is saved.')
    await seen(page, 'seen every morning')
    const edited = await scheduler.getJobDetail(jobKey('daily', 'reports'))
    expect(edited).toMatchObject({
      description: 'seen every morning',
      disallowConcurrentExecution: true,
      // The page has shown stars for the key, and sent them back.
      jobDataMap: { to: 'ann@example.com', apiKey: 'k-123' },
    })

    await press(page, 'Pause')
    await page.getByRole('dialog').getByLabel('Reason').fill('no reports in August')
    await confirm(page, 'Pause')
    await seen(page, 'The triggers of reports/daily are paused.')
    await page.locator('main').getByText('Paused').first().waitFor()
    expect(await scheduler.getTriggerState(triggerKey('daily', 'reports'))).toBe('PAUSED')
    await press(page, 'Resume')
    await confirm(page, 'Resume')
    await seen(page, 'The triggers of reports/daily are resumed.')
    await page.locator('main').getByText('Waiting').first().waitFor()
    await press(page, 'Run now')
    await page.getByRole('dialog').getByRole('textbox', { name: 'Data' }).fill('{ "extra": "by hand" }')
    await confirm(page, 'Run now')
    await page.locator('main table').getByRole('link', { name: 'Succeeded' }).click()
    await seen(page, '"by hand"')
    await press(page, 'Run the job')
    await seen(page, 'Run reports/daily now')
    await confirm(page, 'Run now')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.goto(`${fixture.address}/jobs/reports/daily`)
    await page.locator('main table').getByRole('link', { name: 'Succeeded' }).nth(1).waitFor()
    await press(page, 'Delete')
    await page.getByRole('dialog').getByText('its triggers with it: 1').waitFor()
    await confirmTyped(page, 'Delete', 'daily')
    await seen(page, 'reports/daily is deleted.')
    await page.waitForURL(/\/jobs$/)
    expect(await scheduler.checkExists(jobKey('daily', 'reports'))).toBe(false)
    expect(errors).toEqual([])
    await page.close()
  })

  test('executions are interrupted, of a job and one alone', async () => {
    const { scheduler } = fixture
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/mail/slow')
    await press(page, 'Interrupt')
    await confirm(page, 'Interrupt')
    await seen(page, 'The executions of mail/slow were asked to stop.')
    await seen(page, 'Succeeded')
    await press(page, 'Run now')
    await confirm(page, 'Run now')
    await page.goto(`${fixture.address}/running`)
    await page.getByRole('button', { name: 'Interrupt: mail/slow' }).click()
    await confirm(page, 'Interrupt')
    await seen(page, 'mail/slow was asked to stop.')
    await seen(page, 'Nothing runs at the moment')
    expect(await scheduler.cluster.executingJobs()).toEqual([])
    expect(errors).toEqual([])
    await page.close()
  })

  test('all triggers are paused and resumed, and the node stands by and starts', async () => {
    const { scheduler } = fixture
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await press(page, 'Pause all')
    await confirm(page, 'Pause all')
    await seen(page, 'All triggers are paused.')
    expect((await scheduler.queryTriggers({ state: 'NORMAL' })).items).toEqual([])
    await press(page, 'Resume all')
    await confirm(page, 'Resume all')
    await seen(page, 'All triggers are resumed.')
    expect((await scheduler.queryTriggers({ state: 'PAUSED' })).items).toEqual([])
    await press(page, 'Standby')
    await confirm(page, 'Standby')
    await seen(page, 'The scheduler is in standby: it fires nothing.')
    expect(scheduler.isInStandbyMode).toBe(true)
    await press(page, 'Start')
    await page.getByRole('button', { name: 'Standby' }).waitFor()
    expect(scheduler.isInStandbyMode).toBe(false)
    expect(errors).toEqual([])
    await page.close()
  })
})

/** Edits a trigger that is shown: it becomes a simple one, then one by the calendar, then one within a day. */
async function becomesEachKind(page: BrowserPage): Promise<void> {
  const edit = async (kind: string): Promise<void> => {
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Kind').selectOption(kind)
  }
  await edit('simple')
  await page.getByLabel('Interval').fill('90')
  await page.getByLabel('Unit').selectOption('MINUTE')
  await page.getByText('Fire times: As edited').waitFor()
  await page.locator('.is-new').first().waitFor()
  await press(page, 'Save')
  await seen(page, 'every 90 minutes, for ever')

  await edit('calendarInterval')
  await page.getByLabel('Interval').fill('3')
  await page.getByLabel('Unit').selectOption('MONTH')
  await page.getByLabel('Leave out a day without that hour').check()
  await page.locator('.is-new').first().waitFor()
  await press(page, 'Save')
  await seen(page, 'every 3 months')

  await edit('dailyTimeInterval')
  await page.getByLabel('Interval').fill('2')
  await page.getByLabel('Unit').selectOption('HOUR')
  await page.getByLabel('From, each day').fill('09:30:00')
  await page.getByLabel('Until, each day').fill('17:30:00')
  await page.getByLabel('Sat').click()
  await page.locator('.is-new').first().waitFor()
  await press(page, 'Save')
  await seen(page, /every 2 hours, 09:30:00–17:30:00, Sun Mon/)
}

inBrowser('what a viewer may not do', (browser) => {
  test('is not offered', async () => {
    await using fixture = await dashboardFixture({
      served: await busyScheduler(sqliteJobStore({ filename: ':memory:' })),
    })
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
