import { expect, test } from 'vitest'
import { inDashboard } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { openDashboard, picture, seen } from '../support/dashboard-fixture.ts'

/** Whether the browser would ask before the page is closed or loaded again. */
const asksBrowser = async (page: BrowserPage): Promise<boolean> =>
  (await page.evaluate("!dispatchEvent(new Event('beforeunload', { cancelable: true }))")) === true

inDashboard('a page with what is not saved', (browser, fixture) => {
  test('is left by a link, by Back and by a reload only after a question', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    const dialog = page.getByRole('dialog')
    const answer = (name: string): Promise<void> => dialog.getByRole('button', { name, exact: true }).click()
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    const description = page.getByLabel('Description')
    await description.waitFor()
    expect(await asksBrowser(page)).toBe(false)
    await description.fill('each hour')
    expect(await asksBrowser(page)).toBe(true)

    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await dialog.getByText('What you have changed here is not saved.').waitFor()
    await picture(page, 'unsaved')
    await answer('Cancel')
    await dialog.waitFor({ state: 'detached' })
    expect(page.url()).toMatch(/\/mail\/hourly\/edit$/)
    expect(await description.inputValue()).toBe('each hour')

    await page.evaluate('history.back()')
    await dialog.waitFor()
    await answer('Cancel')
    await dialog.waitFor({ state: 'detached' })
    expect(page.url()).toMatch(/\/mail\/hourly\/edit$/)
    expect(await description.inputValue()).toBe('each hour')

    await page.evaluate('history.back()')
    await dialog.waitFor()
    await answer('Leave')
    await page.waitForURL(/\/mail\/hourly$/)
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await description.waitFor()
    expect(await description.inputValue()).toBe('')
    await description.fill('once more')
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await answer('Leave')
    await page.waitForURL(/\/jobs$/)
    expect(errors).toEqual([])
    await page.close()
  })

  test('is left without a question by Cancel, and when it is saved', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/jobs/mail/hourly/edit')
    await page.getByLabel('Description').fill('an hour of mail')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL(/\/jobs\/mail\/hourly$/)
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Description').fill('an hour of mail')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.waitForURL(/\/jobs\/mail\/hourly$/)
    await seen(page, 'an hour of mail')
    await page.getByRole('link', { name: 'Triggers', exact: true }).click()
    await page.waitForURL(/\/triggers$/)
    await page.goto(`${fixture().address}/calendars/of/holidays`)
    const text = page.locator('textarea')
    await text.fill('{}')
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.getByRole('dialog').getByText('What you have changed here is not saved.').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })
})
