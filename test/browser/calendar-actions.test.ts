import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EngineStore, inBrowserOnEngines } from '../support/dashboard-engines.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { plannedScheduler } from '../support/planned-scheduler.ts'

inBrowserOnEngines('what calendars do', (browser, newStore) => {
  let opened: EngineStore
  let fixture: DashboardFixture
  beforeAll(async () => {
    opened = await newStore()
    fixture = await dashboardFixture({ served: await plannedScheduler(opened.store) })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  })

  test('a change of a calendar is seen before it is saved', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/calendars/of/holidays')
    const dayMs = 86_400_000
    const todayMs = fixture.scheduler.getMetaData().runningSince?.getTime() ?? 0
    const days = [todayMs, todayMs + dayMs].map((ms) => new Date(ms).toISOString().slice(0, 10))
    const definition = { type: 'holiday', timeZone: 'UTC', excludedDates: days }
    await page.locator('textarea').fill(JSON.stringify(definition))
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByText('Triggers that name it: 1. Next firings that move: 1.').waitFor()
    await page.getByRole('link', { name: 'reports/soon' }).waitFor()
    await page.locator('textarea').fill(JSON.stringify({ ...definition, excludedDates: ['2199-12-24'] }))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The calendar holidays is saved.').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('a calendar is made and deleted', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/calendars/new')
    await page.getByLabel('Name').fill('./odd name')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/calendars\/of\//)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('./odd name')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(/calendars$/)
    expect(errors).toEqual([])
    await page.close()
  })
})
