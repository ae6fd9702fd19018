import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EngineStore, inBrowserOnEngines } from '../support/dashboard-engines.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { plannedScheduler } from '../support/planned-scheduler.ts'

inBrowserOnEngines('what further pages do', (browser, newStore) => {
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

  test('a node is put in standby and started', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/nodes')
    await page.getByRole('button', { name: 'Put in standby' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put in standby' }).click()
    await page.getByText('In standby', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('Started', { exact: true }).waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('a group is paused and resumed', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/groups')
    await page.getByRole('button', { name: 'Pause: reports' }).nth(1).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Resume: reports' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByText('The group reports is resumed.').waitFor()
    await page.getByRole('button', { name: 'Resume: later' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Nothing is in it yet').waitFor({ state: 'detached' })
    expect(errors).toEqual([])
    await page.close()
  })
})
