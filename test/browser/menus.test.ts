import { expect, test } from 'vitest'
import { inDashboard } from '../support/browser-suite.ts'
import { openDashboard, picture, seen } from '../support/dashboard-fixture.ts'

inDashboard('what lies over a page', (browser, fixture) => {
  test('closes by Escape, by a press elsewhere, and when the focus leaves it', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers')
    const opener = page.getByText('All that are listed')
    const list = page.locator('.menu-list')
    const closed = (): Promise<void> => list.waitFor({ state: 'hidden' })
    await opener.click()
    await list.waitFor()
    await picture(page, 'bulk-menu')
    await page.keyboard.press('Escape')
    await closed()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('All that are listed')
    await opener.click()
    await list.waitFor()
    await page.getByRole('heading', { name: 'Triggers' }).click()
    await closed()
    await opener.click()
    await list.waitFor()
    await page.locator('input[type="search"]').press('a')
    await closed()
    await opener.click()
    await list.waitFor()
    await opener.click()
    await closed()
    expect(errors).toEqual([])
    await page.close()
  })

  test('gives the focus back when it closes: a bulk action to its menu, or to its chip', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers')
    const dialog = page.getByRole('dialog')
    const escape = async (): Promise<string> => {
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      return String(await page.evaluate('document.activeElement.textContent'))
    }
    const press = async (action: string): Promise<void> => {
      await page.getByText('All that are listed').click()
      await page.locator('.menu-list').getByRole('button', { name: action }).click()
      await dialog.waitFor()
    }
    await press('Pause')
    expect(await escape()).toBe('All that are listed')
    // What is not known to be over has a chip.
    await page.route(/\/api\/bulk\/[^/]+$/, (route) =>
      route.fulfill({ status: 503, contentType: 'application/json', body: '{}' }),
    )
    await press('Pause')
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await dialog.getByRole('button', { name: 'Stop' }).waitFor()
    expect(await escape()).toBe('All that are listed')
    await page.getByRole('button', { name: /^\d+ \/ \d+$/ }).click()
    await dialog.waitFor()
    expect(await escape()).toMatch(/^\d+ \/ \d+$/)
    expect(errors.filter((error) => !error.includes('503'))).toEqual([])
    await page.close()
  })

  test('on a telephone is the navigation, which closes by Escape', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers', {
      viewport: { width: 390, height: 800 },
    })
    const opener = page.locator('.menu-button')
    const link = page.locator('#navigation').getByRole('link', { name: 'Jobs' })
    await opener.click()
    await link.waitFor()
    await page.keyboard.press('Escape')
    await link.waitFor({ state: 'hidden' })
    await opener.click()
    await link.waitFor()
    await opener.click()
    await link.waitFor({ state: 'hidden' })
    expect(errors).toEqual([])
    await page.close()
  })

  test.each([360, 680])('on a window of %i pixels is the navigation, used by the keyboard', async (width) => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers', {
      viewport: { width, height: 800 },
    })
    const focused = async (): Promise<string> =>
      String(
        await page.evaluate(
          "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
        ),
      )
    const link = page.locator('#navigation').getByRole('link', { name: 'Jobs' })
    await page.locator('.menu-button').press('Enter')
    await link.waitFor()
    expect(await focused()).toBe('Triggers')
    await page.keyboard.press('Shift+Tab')
    expect(await focused()).toBe('Jobs')
    await page.keyboard.press('Escape')
    await link.waitFor({ state: 'hidden' })
    expect(await focused()).toBe('Menu')
    await page.keyboard.press('Enter')
    await link.waitFor()
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/jobs$/)
    await link.waitFor({ state: 'hidden' })
    expect(await page.evaluate('document.activeElement.localName')).toBe('main')
    expect(errors).toEqual([])
    await page.close()
  })

  test('is no advice about the store where the group of a timeline is mistyped', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/timeline')
    const group = page.getByLabel('Group of jobs')
    await group.fill('mai')
    await seen(page, "There is no job in the group 'mai'")
    await picture(page, 'timeline-no-group')
    await page.locator('datalist option[value="mail"]').waitFor({ state: 'attached' })
    await group.fill('mail')
    await page.getByText("There is no job in the group 'mai'").waitFor({ state: 'detached' })
    expect(errors).toEqual([])
    await page.close()
  })
})
