import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'

/*
 * The members of playwright-core that tests use. Its own types need those of a page's document, which a program for
 * Node.js does not have.
 */

interface Route {
  request(): { url(): string }
  fulfill(response: { readonly contentType: string; readonly body: string | Buffer }): Promise<void>
}

export interface BrowserPage {
  route(pattern: string, answer: (route: Route) => Promise<void>): Promise<void>
  goto(url: string): Promise<unknown>
  /** What the text of an expression gives in the page. */
  evaluate(text: string): Promise<unknown>
}

export interface TestBrowser {
  newPage(options: { readonly timezoneId: string }): Promise<BrowserPage>
  close(): Promise<void>
}

interface Playwright {
  readonly chromium: {
    launch(options: {
      readonly executablePath: string
      readonly args: readonly string[]
    }): Promise<TestBrowser>
  }
}

const programs = ['chromium', 'chromium-browser', 'google-chrome']

/** The browser on this machine, or null where it has none. */
export const chromiumProgram: string | null = findProgram()

function findProgram(): string | null {
  const found = programs.find((program) => spawnSync(program, ['--version']).status === 0)
  if (found !== undefined) {
    return spawnSync('which', [found], { encoding: 'utf8' }).stdout.trim()
  }
  const text = `the tests in a browser need Chromium: apt-get install ${programs[0] ?? ''}`
  if (process.env['QUARTZ_TS_REQUIRE_CHROMIUM'] === '1') throw new Error(text)
  console.warn(`SKIPPED: ${text}`)
  return null
}

/** Starts the browser without a window; its sandbox does not run as root. */
export function startChromium(program: string): Promise<TestBrowser> {
  const { chromium } = createRequire(import.meta.url)('playwright-core') as Playwright
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
}
