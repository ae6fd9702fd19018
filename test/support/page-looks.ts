import { afterAll, expect, test } from 'vitest'
import type { BrowserPage, TestBrowser } from './chromium.ts'
import { axeFindings, desktop, type Opened, openDashboard, picture } from './dashboard-fixture.ts'

/** A page by its name, its path, which may be known late, and a text in English that is there when it has loaded. */
export type PageCase = readonly [name: string, path: string | (() => string), text: string]

const pathOf = ([, path]: PageCase): string => (typeof path === 'string' ? path : path())

/** The page has loaded when nothing is busy and the text is there. */
export async function settled(page: BrowserPage, text: string): Promise<void> {
  await page.locator('main').getByText(text).first().waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

/** Whether a stored text was taken for HTML. */
export async function isHacked(page: BrowserPage): Promise<boolean> {
  const test = `document.title === 'hacked' || document.images.length > 0`
  return (await page.evaluate(test)) === true
}

/**
 * A test of each page in English and in Chinese, in both themes; those of a language follow each other in one page of
 * the browser.
 */
export function lookRight(
  pages: readonly PageCase[],
  browser: () => TestBrowser,
  address: () => string,
): void {
  const english = new OnePage(browser, address, 'en-GB')
  const chinese = new OnePage(browser, address, 'zh-CN')
  afterAll(async () => {
    await english.close()
    await chinese.close()
  })

  test.each(pages)('%s is right in light and dark, wide and narrow', async (...of) => {
    await english.look(pathOf(of), (opened) => looksRight(opened, of))
  })

  test.each(pages)('%s is right in Chinese, light and dark', async (...of) => {
    await chinese.look(pathOf(of), (opened) => looksRightInChinese(opened, of))
  })
}

/** A page of the browser that goes from path to path: a new one for each of them would cost more than the rest. */
class OnePage {
  readonly #browser: () => TestBrowser
  readonly #address: () => string
  readonly #locale: string
  #opened: Opened | null = null

  constructor(browser: () => TestBrowser, address: () => string, locale: string) {
    this.#browser = browser
    this.#address = address
    this.#locale = locale
  }

  /** After a failure the next path gets a new one. */
  async look(path: string, look: (opened: Opened) => Promise<void>): Promise<void> {
    const opened = this.#opened
    this.#opened = null
    const next = opened === null ? await this.#open(path) : await this.#goOn(opened, path)
    await look(next)
    this.#opened = next
  }

  async close(): Promise<void> {
    await this.#opened?.page.close()
  }

  #open(path: string): Promise<Opened> {
    return openDashboard(this.#browser(), this.#address(), path, { locale: this.#locale })
  }

  async #goOn(opened: Opened, path: string): Promise<Opened> {
    await opened.page.emulateMedia({ colorScheme: 'light' })
    await opened.page.setViewportSize(desktop)
    await opened.page.goto(`${this.#address()}${path}`)
    return opened
  }
}

/** What axe finds in light and then in dark, in which the page is left; with a picture of each. */
export async function findingsInBothThemes(page: BrowserPage, name: string): Promise<string[]> {
  const findings: string[] = []
  for (const [colorScheme, suffix] of [
    ['light', ''],
    ['dark', '-dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    findings.push(...(await axeFindings(page)))
    await picture(page, `${name}${suffix}`)
  }
  return findings
}

/** Looks at a page in both themes and on a telephone, and takes pictures. */
async function looksRight({ page, errors }: Opened, [name, , text]: PageCase): Promise<void> {
  await settled(page, text)
  const findings = await findingsInBothThemes(page, name)
  await page.setViewportSize({ width: 390, height: 844 })
  findings.push(...(await axeFindings(page)))
  const overhang = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  await picture(page, `${name}-phone`)
  expect(findings).toEqual([])
  expect([name, Number(overhang) <= 0]).toEqual([name, true])
  expect([await isHacked(page), errors]).toEqual([false, []])
}

async function looksRightInChinese({ page, errors }: Opened, [name]: PageCase): Promise<void> {
  await page.locator('main h1').waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  expect(await page.evaluate('document.documentElement.lang')).toBe('zh-CN')
  expect(await findingsInBothThemes(page, `${name}-zh`)).toEqual([])
  expect(errors).toEqual([])
}
