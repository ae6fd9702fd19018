import { expect, test } from 'vitest'
import { createServer } from '../../src/server/create-server.ts'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { builtPage, dashboardFixture, openDashboard, picture } from '../support/dashboard-fixture.ts'
import { auth, filledScheduler, tokens, type Who } from '../support/server-fixture.ts'

const signIn = async (page: BrowserPage, who: Who): Promise<void> => {
  await page.getByText('Your session has ended').waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await picture(page, 'login-over-page')
  await page.keyboard.press('Escape')
  await page.getByLabel('Token').fill(tokens[who])
  await page.keyboard.press('Enter')
  await page.getByText('Your session has ended').waitFor({ state: 'detached' })
}

inBrowser('what somebody types', (browser) => {
  test('outlives a failure to load what is edited', async () => {
    await using fixture = await dashboardFixture()
    const { page } = await openDashboard(browser(), fixture.address, '/calendars/of/holidays')
    const definition = page.getByRole('textbox', { name: 'Definition' })
    await definition.fill('{ "type": "holiday" ')
    await page.route(
      '**/api/calendars/holidays',
      (route) => route.fulfill({ status: 503, contentType: 'application/json', body: '{}' }),
      { times: 1 },
    )
    await page.getByText('This could not be loaded').waitFor()
    await page.getByText('This could not be loaded').waitFor({ state: 'detached' })
    expect(await definition.inputValue()).toBe('{ "type": "holiday" ')
    await page.close()
  })

  test('outlives a restart of the server that ends all sessions', async () => {
    const scheduler = await filledScheduler()
    const options = { scheduler, auth, logger: false, dashboard: builtPage } as const
    const first = await createServer(options)
    const address = await first.listen({ port: 0 })
    const { page, errors } = await openDashboard(browser(), address, '/jobs/reports/daily/edit')
    const description = page.getByLabel('Description')
    await description.fill('half a sentence')
    await first.close()
    await using second = await createServer(options)
    await second.listen({ port: Number(new URL(address).port) })
    await signIn(page, 'admin')
    expect(await description.inputValue()).toBe('half a sentence')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/\/jobs\/reports\/daily$/)
    await page.getByText('half a sentence').first().waitFor()
    expect(errors.filter((text) => !text.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
    await page.close()
    await scheduler.shutdown()
  })

  test('is not for another person who signs in at the same page', async () => {
    await using fixture = await dashboardFixture()
    const { page } = await openDashboard(browser(), fixture.address, '/calendars/of/holidays')
    const definition = page.getByRole('textbox', { name: 'Definition' })
    await definition.fill('{}')
    await page.evaluate(`fetch('/api/session', { method: 'DELETE' })`)
    await signIn(page, 'operator')
    await page.getByText('2199-12-25').first().waitFor()
    expect(await definition.count()).toBe(0)
    await page.close()
  })
})
