import { afterAll, beforeAll, expect, test } from 'vitest'
import { inBrowser } from '../support/browser-suite.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { plannedScheduler } from '../support/planned-scheduler.ts'

inBrowser('what further pages do', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await dashboardFixture({ served: await plannedScheduler() })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
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

  test('a group with a limit says how many of its jobs run', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/groups')
    await page.getByText(/^\d of 5$/).waitFor()
    await page.close()
  })

  test('a filter is completed while it is typed', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/history')
    const options = page.locator('datalist option')
    await page.locator('.search-box input').fill('late>5s outcome:fa')
    await options.first().waitFor({ state: 'attached' })
    expect(await options.first().getAttribute('value')).toBe('late>5s outcome:failed')
    await page.goto(`${fixture.address}/jobs`)
    await page.locator('.search-box input').fill('goo')
    await options.first().waitFor({ state: 'attached' })
    expect(await options.first().getAttribute('value')).toBe('good')
    expect(errors).toEqual([])
    await page.close()
  })

  test('the timeline has its state in the address, and leads on', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/timeline')
    await page.getByRole('combobox', { name: 'Rows' }).selectOption('trigger')
    await page.getByRole('combobox', { name: 'Shown' }).selectOption('day')
    await page.waitForURL(/by=trigger&span=day$/)
    await page.getByRole('link', { name: 'Earlier' }).click()
    await page.waitForURL(/from=\d+$/)
    await page.goBack()
    await page.waitForURL(/by=trigger&span=day$/)
    await page.locator('summary').click()
    await page.getByRole('cell', { name: 'reports/soon' }).waitFor()
    await page.getByRole('link', { name: 'reports/soon' }).first().click()
    await page.waitForURL(/triggers\/reports\/soon$/)
    expect(errors).toEqual([])
    await page.close()
  })

  test('a bar of the timeline leads to what it is about', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/timeline?span=minute')
    await page.getByRole('link', { name: 'mail/slow' }).waitFor()
    // What runs reaches up to now, which is at two thirds; the row is the third one.
    const place = 'clientX: at.left + (at.width * 2) / 3 - 4, clientY: at.top + 96'
    await page.evaluate(`{
      const canvas = document.querySelector('canvas')
      const at = canvas.getBoundingClientRect()
      canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, ${place} }))
    }`)
    await page.waitForURL(/running$/)
    expect(errors).toEqual([])
    await page.close()
  })
})
