import { afterAll, beforeAll, expect, test } from 'vitest'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { busyScheduler } from '../support/dashboard-data.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { looksRight, looksRightInChinese, type PageCase } from '../support/page-looks.ts'

const pages: readonly PageCase[] = [
  ['nodes', '/nodes', 'answers this page'],
  ['groups', '/groups', 'Nothing is in it yet'],
]

inBrowser('further pages', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const served = await busyScheduler(sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }))
    await served.pauseTriggers(GroupMatcher.groupEquals('later'))
    fixture = await dashboardFixture({ served })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  test.each(pages)('%s is right in light and dark, wide and narrow', async (...of) => {
    await looksRight(browser(), fixture.address, of)
  })

  test.each(pages)('%s is right in Chinese', async (...of) => {
    await looksRightInChinese(browser(), fixture.address, of)
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
