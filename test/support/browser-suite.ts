import { afterAll, beforeAll, describe } from 'vitest'
import { chromiumProgram, startChromium, type TestBrowser } from './chromium.ts'

const withBrowser = describe.skipIf(chromiumProgram === null) // reason: a machine may have no browser

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
