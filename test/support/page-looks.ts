import { expect, test } from 'vitest'
import type { BrowserPage, TestBrowser } from './chromium.ts'
import { axeFindings, openDashboard, picture } from './dashboard-fixture.ts'

/** A page by its name, its path, and a text in English that is there when it has loaded. */
export type PageCase = readonly [name: string, path: string, text: string]

/** The page has loaded when nothing is busy and the text is there. */
export async function settled(page: BrowserPage, text: string): Promise<void> {
  await page.locator('main').getByText(text).first().waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

/** Whether a stored text was taken for HTML. */
export async function isHacked(page: BrowserPage): Promise<boolean> {
  const test = `document.title === 'hacked' || document.querySelector('main img') !== null`
  return (await page.evaluate(test)) === true
}

/** A test of each page in English and in Chinese. */
export function lookRight(
  pages: readonly PageCase[],
  browser: () => TestBrowser,
  address: () => string,
): void {
  test.each(pages)('%s is right in light and dark, wide and narrow', async (...of) => {
    await looksRight(browser(), address(), of)
  })

  test.each(pages)('%s is right in Chinese', async (...of) => {
    await looksRightInChinese(browser(), address(), of)
  })
}

/** Looks at a page in both themes and on a telephone, and takes pictures. */
async function looksRight(browser: TestBrowser, address: string, of: PageCase): Promise<void> {
  const [name, path, text] = of
  const { page, errors } = await openDashboard(browser, address, path)
  await settled(page, text)
  const findings = await axeFindings(page)
  await picture(page, name)
  await page.emulateMedia({ colorScheme: 'dark' })
  findings.push(...(await axeFindings(page)))
  await picture(page, `${name}-dark`)
  await page.setViewportSize({ width: 390, height: 844 })
  findings.push(...(await axeFindings(page)))
  const overhang = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
  await picture(page, `${name}-phone`)
  expect(findings).toEqual([])
  expect([name, Number(overhang) <= 0]).toEqual([name, true])
  expect([await isHacked(page), errors]).toEqual([false, []])
  await page.close()
}

async function looksRightInChinese(
  browser: TestBrowser,
  address: string,
  [name, path]: PageCase,
): Promise<void> {
  const { page, errors } = await openDashboard(browser, address, path, { locale: 'zh-CN' })
  await page.locator('main h1').waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  expect(await page.evaluate('document.documentElement.lang')).toBe('zh-CN')
  expect(await axeFindings(page)).toEqual([])
  await picture(page, `${name}-zh`)
  expect(errors).toEqual([])
  await page.close()
}
