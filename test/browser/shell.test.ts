import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chromiumProgram, startChromium, type TestBrowser } from '../support/chromium.ts'
import { axeFindings, dashboardFixture, openDashboard, picture } from '../support/dashboard-fixture.ts'
import { tokens } from '../support/server-fixture.ts'

describe.skipIf(chromiumProgram === null)('the dashboard', () => {
  // reason: it needs a browser
  let browser: TestBrowser
  beforeAll(async () => {
    if (chromiumProgram !== null && existsSync(chromiumProgram))
      browser = await startChromium(chromiumProgram)
  })
  afterAll(async () => {
    await browser.close()
  })

  test('asks for the token, and goes on where it was', async () => {
    await using fixture = await dashboardFixture()
    const page = await browser.newPage({ timezoneId: 'UTC', locale: 'en-GB' })
    await page.goto(`${fixture.address}/jobs?search=daily`)
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'login')
    await page.getByLabel('Token').fill(tokens.viewer)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'reports/daily' }).waitFor()
    expect(await page.getByRole('button', { name: /^Run now/ }).count()).toBe(0)
    await page.getByRole('button', { name: /^Sign out/ }).waitFor()
    await page.close()
  })

  test('takes the token of the address, and keeps it nowhere', async () => {
    await using fixture = await dashboardFixture()
    const { page, errors } = await openDashboard(browser, fixture.address, '/')
    await page.getByText('Next to fire').first().waitFor()
    expect(page.url()).toBe(`${fixture.address}/`)
    expect(errors).toEqual([])
    await page.close()
  })
})
