import { expect, test } from 'vitest'
import type { Principal } from '../../src/server/catalogue/role.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { dashboardFixture, openDashboard, seen } from '../support/dashboard-fixture.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

inBrowser('a page of somebody whose role has changed', (browser) => {
  test('offers what they may do still, once it was refused something', async () => {
    let role: Principal['role'] = 'admin'
    await using fixture = await dashboardFixture({
      auth: { kind: 'hook', authenticate: () => ({ name: 'ann', role }) },
    })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/mail/hourly')
    const button = (name: string) => page.locator('main').getByRole('button', { name, exact: true })
    for (const name of ['Run now', 'Pause', 'Interrupt', 'Delete']) await button(name).waitFor()
    role = 'viewer'
    await button('Pause').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText("'jobs.pause' needs the role operator.").first().waitFor()
    await page.keyboard.press('Escape')
    await button('Delete').waitFor({ state: 'detached' })
    for (const name of ['Run now', 'Pause', 'Interrupt']) expect(await button(name).count(), name).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  test('offers what they may do still, once the server was away and is back', async () => {
    let role: Principal['role'] = 'admin'
    await using fixture = await dashboardFixture({
      auth: { kind: 'hook', authenticate: () => ({ name: 'ann', role }) },
    })
    await using proxy = await TcpProxy.startFor(fixture.address)
    const address = proxy.through(fixture.address).replace(/\/$/, '')
    const { page } = await openDashboard(browser(), address, '/jobs/mail/hourly')
    const button = (name: string) => page.locator('main').getByRole('button', { name, exact: true })
    await button('Pause').waitFor()
    await seen(page, 'Live')
    role = 'viewer'
    proxy.reset()
    for (const name of ['Run now', 'Pause', 'Delete']) await button(name).waitFor({ state: 'detached' })
    await seen(page, 'Live')
    await page.close()
  })
})
