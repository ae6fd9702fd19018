import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { dashboardFixture, heldUp, openDashboard } from '../support/dashboard-fixture.ts'
import { findingsInBothThemes } from '../support/page-looks.ts'
import { tokens } from '../support/server-fixture.ts'

/** The address of a proxy that leaves out the port of Host, as nginx does with `$host`. */
async function proxyWithoutPort(address: string): Promise<string> {
  const proxy = createServer((incoming, response) => {
    const { hostname, port } = new URL(address)
    const { method, url: path, headers } = incoming
    const passedOn = { hostname, port, method, path, headers: { ...headers, host: hostname } }
    const outgoing = request(passedOn, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  await once(proxy, 'listening')
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

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

  test('says why the server did not take the token of the address, until somebody tries again', async () => {
    await using fixture = await dashboardFixture()
    const address = await proxyWithoutPort(fixture.address)
    const page = await browser().newPage({ timezoneId: 'UTC', locale: 'en-GB' })
    await page.goto(`${address}/#token=${tokens.admin}`)
    await page.getByRole('alert').getByText('let the proxy pass Host with its port').waitFor()
    expect(await findingsInBothThemes(page, 'login-refused')).toEqual([])
    const asked = await heldUp(page, /\/api\/session$/)
    await page.getByLabel('Token').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    asked()
    await page.getByRole('alert').waitFor()
    await page.close()
  })

  test('asks for another token, without a complaint, where that of the address is not good any more', async () => {
    await using fixture = await dashboardFixture()
    const page = await browser().newPage({ timezoneId: 'UTC', locale: 'en-GB' })
    await page.goto(`${fixture.address}/#token=old`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.close()
  })

  test('waits with the token of the address while there are too many sign-ins, and says so', async () => {
    const clock = new ManualClock()
    await using fixture = await dashboardFixture({ clock, loginsPerMinute: 1 })
    await fixture.ask('POST /session', { who: null, body: { token: 'guess' } })
    const page = await browser().newPage({ timezoneId: 'UTC', locale: 'en-GB' })
    await page.goto(`${fixture.address}/jobs#token=${tokens.admin}`)
    await page
      .getByRole('alert')
      .getByText(/Too many/)
      .waitFor()
    await clock.advance(60_000)
    await page.getByRole('link', { name: 'reports/daily' }).waitFor()
    await page.close()
  })
})
