import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { SchedulerServerOptions } from '../../src/server/server-options.ts'
import type { BrowserPage, PageOptions, Route, TestBrowser } from './chromium.ts'
import { latch } from './latch.ts'
import { type ServerFixture, serverFixture, tokens, type Who } from './server-fixture.ts'
import { projectRoot } from './source-files.ts'

/** What `scripts/build-dashboard.mjs` has built. */
export const builtPage: string = join(projectRoot, 'dist/dashboard')

/** Pictures for people to look at; git leaves them out. */
const pictures = join(projectRoot, '.cache/screenshots')

export type DashboardFixture = ServerFixture

/** A server with the page that was built. */
export function dashboardFixture(
  options: Parameters<typeof serverFixture>[0] & Partial<SchedulerServerOptions> = {},
): Promise<DashboardFixture> {
  return serverFixture({ dashboard: builtPage, ...options })
}

export interface Opened {
  readonly page: BrowserPage
  /** What the page has written to its console as an error, and what it has thrown. */
  readonly errors: readonly string[]
}

/** The size of the window. Pixels. */
export const desktop = { width: 1360, height: 900 }

/** Opens a page of the dashboard in a browser of its own, signed in by the token in the address. */
export async function openDashboard(
  browser: TestBrowser,
  address: string,
  path: string,
  options: Partial<PageOptions> & { readonly who?: Who } = {},
): Promise<Opened> {
  const { who = 'admin', ...rest } = options
  const page = await browser.newPage({
    timezoneId: 'Europe/Paris',
    locale: 'en-GB',
    viewport: desktop,
    ...rest,
  })
  const errors: string[] = []
  page.on('console', (message) => {
    // What the API refuses is shown by the page, and the browser says so here as well.
    if (message.type() === 'error' && !message.location().url.includes('/api/')) errors.push(message.text())
  })
  page.on('pageerror', (error) => {
    errors.push(String(error.stack))
  })
  await page.goto(`${address}${path}#token=${tokens[who]}`)
  await page.locator('.layout').waitFor()
  return { page, errors }
}

/** They cost a sixth of the time: taken in the CI, which keeps them, and where they are asked for. */
const takesPictures = process.env['CI'] === 'true' || process.env['QUARTZ_TS_SCREENSHOTS'] === '1'

/** Takes a picture of the whole page, where pictures are wanted. */
export async function picture(page: BrowserPage, name: string): Promise<void> {
  if (!takesPictures) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
}

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe finds wrong with a page for those who see or use it in another way: one text each. */
export async function axeFindings(page: BrowserPage): Promise<string[]> {
  if ((await page.evaluate('window.axe === undefined')) === true) await page.evaluate(`${axe}; undefined`)
  const { violations } = (await page.evaluate('axe.run()')) as { violations: readonly Violation[] }
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n${html.slice(0, 300)}\n${failureSummary}`),
  )
}

/** Resolves when a page shows a text. */
export const seen = (page: BrowserPage, text: string | RegExp): Promise<void> =>
  page.getByText(text).first().waitFor()

/** Holds up the requests to such addresses until it is called, and answers them then. Default: the server does. */
export async function heldUp(
  page: BrowserPage,
  address: RegExp,
  answer: (route: Route) => Promise<void> = (route) => route.continue(),
): Promise<() => void> {
  const { promise, open } = latch()
  await page.route(address, async (route) => {
    await promise
    await answer(route)
  })
  return open
}
