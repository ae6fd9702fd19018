import { expect, test } from 'vitest'
import { inBrowser } from '../support/browser-suite.ts'
import { dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { findingsInBothThemes } from '../support/page-looks.ts'
import { tokens } from '../support/server-fixture.ts'

inBrowser('the dashboard', (browser) => {
  test('asks for the token, and goes on where it was', async () => {
    await using fixture = await dashboardFixture()
    const page = await browser().newPage({ timezoneId: 'UTC', locale: 'en-GB' })
    await page.goto(`${fixture.address}/jobs?search=daily`)
    await page.getByLabel('Token').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await findingsInBothThemes(page, 'login')).toEqual([])
    await page.getByLabel('Token').fill(tokens.viewer)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'reports/daily' }).waitFor()
    expect(await page.getByRole('button', { name: /^Run now/ }).count()).toBe(0)
    await page.getByRole('button', { name: /^Sign out/ }).waitFor()
    await page.close()
  })

  test('asks in Chinese', async () => {
    await using fixture = await dashboardFixture()
    const page = await browser().newPage({ timezoneId: 'UTC', locale: 'zh-CN' })
    await page.goto(`${fixture.address}/jobs`)
    await page.getByLabel('令牌').waitFor()
    expect(await findingsInBothThemes(page, 'login-zh')).toEqual([])
    await page.close()
  })

  test('takes the token of the address, and keeps it nowhere', async () => {
    await using fixture = await dashboardFixture()
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await page.getByText('Next to fire').first().waitFor()
    expect(page.url()).toBe(`${fixture.address}/`)
    expect(errors).toEqual([])
    await page.close()
  })
})
