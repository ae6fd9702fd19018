import { expect, test } from 'vitest'
import { inDashboard } from '../support/browser-suite.ts'
import { heldUp, openDashboard, picture, seen } from '../support/dashboard-fixture.ts'

inDashboard('an answer to what was asked before', (browser, fixture) => {
  test('is no list of what is asked for now', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers')
    await page.getByRole('link', { name: 'mail/hourly' }).first().waitFor()
    const old = page.locator('.fresh[aria-busy="true"]')
    expect(await old.count()).toBe(0)
    const goOn = await heldUp(page, /\/api\/triggers\?.*state=ERROR/)
    await page.getByLabel('State').selectOption('ERROR')
    await old.getByText('Loading').waitFor()
    await picture(page, 'old-list')
    goOn()
    await seen(page, 'No trigger fits')
    expect(await old.count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  test('is no preview of what is typed now', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers/reports/daily/edit')
    await seen(page, 'Nothing changes.')
    const old = page.locator('.fresh[aria-busy="true"]')
    const goOn = await heldUp(page, /\/reports\/daily\?dryRun=true$/)
    await page.getByLabel('Expression').fill('0 30 23 ? * SUN')
    await old.getByText('Loading').waitFor()
    await page.getByText('Nothing changes.').waitFor({ state: 'detached' })
    await picture(page, 'old-preview')
    goOn()
    await old.waitFor({ state: 'detached' })
    await seen(page, /23:30/)
    expect(errors).toEqual([])
    await page.close()
  })

  test('is no plan of the expression that is typed now', async () => {
    const path = `/cron?expression=${encodeURIComponent('0 0 7 * * ?')}`
    const { page, errors } = await openDashboard(browser(), fixture().address, path)
    await seen(page, /07:00/)
    const old = page.locator('.fresh[aria-busy="true"]')
    const goOn = await heldUp(page, /\/api\/cron\/preview\?/)
    await page.getByRole('textbox', { name: 'Expression' }).fill('0 30 23 * * ?')
    await old.getByText('Loading').waitFor()
    goOn()
    await old.waitFor({ state: 'detached' })
    await seen(page, /23:30/)
    expect(errors).toEqual([])
    await page.close()
  })
})
