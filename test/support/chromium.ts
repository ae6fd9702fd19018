import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'

/*
 * The members of playwright-core that tests use. Its own types need those of a page's document, which a program for
 * Node.js does not have.
 */

export interface Route {
  request(): { url(): string; method(): string; postData(): string | null }
  continue(): Promise<void>
  /** As a connection that breaks. */
  abort(): Promise<void>
  fulfill(response: {
    readonly status?: number
    readonly contentType: string
    readonly body: string | Buffer
  }): Promise<void>
}

/** What is found on a page, once it is there. Each call waits for it. */
export interface Locator {
  locator(selector: string): Locator
  getByRole(role: string, options?: { readonly name?: string | RegExp; readonly exact?: boolean }): Locator
  getByLabel(text: string | RegExp, options?: { readonly exact?: boolean }): Locator
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator
  filter(options: { readonly hasText?: string | RegExp }): Locator
  first(): Locator
  nth(index: number): Locator
  click(): Promise<void>
  fill(text: string): Promise<void>
  press(key: string): Promise<void>
  check(): Promise<void>
  selectOption(value: string): Promise<unknown>
  waitFor(options?: {
    readonly state?: 'visible' | 'hidden' | 'attached' | 'detached'
    readonly timeout?: number
  }): Promise<void>
  textContent(): Promise<string | null>
  innerText(): Promise<string>
  inputValue(): Promise<string>
  allInnerTexts(): Promise<string[]>
  count(): Promise<number>
  isVisible(): Promise<boolean>
  isDisabled(): Promise<boolean>
  getAttribute(name: string): Promise<string | null>
}

interface ConsoleMessage {
  type(): string
  text(): string
  location(): { readonly url: string }
}

export interface BrowserPage extends Omit<Locator, 'click' | 'fill' | 'press' | 'first' | 'nth' | 'filter'> {
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  /** Time of the page, which goes on by itself too. */
  readonly clock: { install(): Promise<void>; fastForward(ms: number): Promise<void> }
  /** Runs in every document that the page opens from now on. */
  addInitScript(script: string): Promise<unknown>
  on(event: 'console', listener: (message: ConsoleMessage) => void): unknown
  on(event: 'pageerror', listener: (error: Error) => void): unknown
  route(
    pattern: string | RegExp,
    answer: (route: Route) => Promise<void>,
    options?: { readonly times?: number },
  ): Promise<void>
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  goBack(): Promise<unknown>
  goForward(): Promise<unknown>
  url(): string
  waitForURL(url: string | RegExp): Promise<void>
  /** Resolves with the next answer from an address that fits. */
  waitForResponse(url: RegExp): Promise<unknown>
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>
  /** What is left out stays as it was. */
  emulateMedia(options: {
    readonly colorScheme?: 'light' | 'dark'
    readonly forcedColors?: 'active' | 'none'
    readonly reducedMotion?: 'reduce' | 'no-preference'
    readonly media?: 'print' | 'screen'
  }): Promise<void>
  screenshot(options: { readonly path: string; readonly fullPage: boolean }): Promise<unknown>
  /** What the text of an expression gives in the page. */
  evaluate(text: string): Promise<unknown>
  close(): Promise<void>
}

export interface PageOptions {
  readonly timezoneId: string
  readonly locale?: string
  readonly colorScheme?: 'light' | 'dark'
  readonly viewport?: { readonly width: number; readonly height: number }
}

export interface TestBrowser {
  /** A page of a browser that knows nothing of the others. */
  newPage(options: PageOptions): Promise<BrowserPage>
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
