import { afterAll, beforeAll, describe } from 'vitest'
import { chromiumProgram, startChromium, type TestBrowser } from './chromium.ts'
import { type DashboardFixture, dashboardFixture } from './dashboard-fixture.ts'

const withBrowser = describe.skipIf(chromiumProgram === null) // reason: a machine may have no browser

/** Tests that share a browser, and a server with the page that was built. */
export function inDashboard(
  name: string,
  tests: (browser: () => TestBrowser, fixture: () => DashboardFixture) => void,
): void {
  inBrowser(name, (browser) => {
    let fixture: DashboardFixture | null = null
    beforeAll(async () => {
      fixture = await dashboardFixture()
    })
    afterAll(async () => {
      await fixture?.[Symbol.asyncDispose]()
    })
    tests(browser, () => {
      if (fixture === null) throw new Error('the server has not been started')
      return fixture
    })
  })
}

/** Tests that share a browser, which is started for them. */
export function inBrowser(name: string, tests: (browser: () => TestBrowser) => void): void {
  withBrowser(name, () => {
    let browser: TestBrowser | null = null
    beforeAll(async () => {
      browser = await startChromium(chromiumProgram ?? '')
    })
    afterAll(async () => {
      await browser?.close()
    })
    tests(() => {
      if (browser === null) throw new Error('the browser has not been started')
      return browser
    })
  })
}
