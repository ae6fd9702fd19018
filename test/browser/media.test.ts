import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage, PageOptions } from '../support/chromium.ts'
import { busyScheduler } from '../support/dashboard-data.ts'
import {
  type DashboardFixture,
  dashboardFixture,
  heldUp,
  type Opened,
  openDashboard,
  picture,
} from '../support/dashboard-fixture.ts'
import { settled } from '../support/page-looks.ts'

/** The values that a property of a style has for all that a selector finds. */
async function styles(page: BrowserPage, selector: string, property: string): Promise<string[]> {
  const all = `[...document.querySelectorAll(${JSON.stringify(selector)})]`
  return (await page.evaluate(`${all}.map((each) => getComputedStyle(each)['${property}'])`)) as string[]
}

/** What such a selector finds and a viewer could see. */
async function shown(page: BrowserPage, selector: string): Promise<number> {
  const all = `[...document.querySelectorAll(${JSON.stringify(selector)})]`
  return Number(await page.evaluate(`${all}.filter((each) => each.getClientRects().length > 0).length`))
}

/** Whether the drawing of a page has lines as on a dark ground, once the page has been shown again. */
async function isDrawnDark(page: BrowserPage): Promise<boolean> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  const has = (await page.evaluate(`(() => {
    const canvas = document.querySelector('main canvas')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const colors = new Set(new Uint32Array(data.buffer))
    return ['#dce2ea', '#2b3440'].map((text) => {
      const [red, green, blue] = text.match(/[0-9a-f]{2}/g).map((part) => Number.parseInt(part, 16))
      return colors.has(new Uint32Array(new Uint8ClampedArray([red, green, blue, 255]).buffer)[0])
    })
  })()`)) as boolean[]
  expect(has.filter(Boolean)).toHaveLength(1)
  return has[1] === true
}

const different = (values: readonly string[]): number => new Set(values).size

inBrowser('the dashboard as its viewer needs it', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const served = await busyScheduler(sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }))
    fixture = await dashboardFixture({ served })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })
  const open = async (path: string, text: string, options?: Partial<PageOptions>): Promise<Opened> => {
    const opened = await openDashboard(browser(), fixture.address, path, options)
    await settled(opened.page, text)
    return opened
  }

  test.each(['light', 'dark'] as const)(
    'in forced colours, %s, still tells what colours tell',
    async (colorScheme) => {
      const { page, errors } = await open('/', 'Next to fire', { colorScheme })
      await page.emulateMedia({ forcedColors: 'active' })
      await picture(page, `forced-overview-${colorScheme}`)
      // The track, and five states.
      expect(different(await styles(page, '.bar-track, .bar', 'backgroundColor'))).toBe(6)
      expect(await styles(page, '[aria-current="page"]', 'borderLeftWidth')).toEqual(['4px'])
      expect(await styles(page, '.navigation a:not([aria-current])', 'borderLeftWidth')).toContain('0px')
      await page.setViewportSize({ width: 680, height: 800 })
      const dot = await styles(page, '.live, .live .dot', 'backgroundColor')
      expect([await shown(page, '.live .dot'), different(dot)]).toEqual([1, 2])
      await page.goto(`${fixture.address}/timeline`)
      await settled(page, 'mail/slow')
      await picture(page, `forced-timeline-${colorScheme}`)
      const kinds = ['succeeded', 'failed', 'interrupted', 'running'].map((kind) => `.swatch.is-${kind}`)
      expect(different(await styles(page, kinds.join(), 'backgroundColor'))).toBe(kinds.length)
      expect(errors).toEqual([])
      await page.close()
    },
  )

  test.each([
    ['/', 'Next to fire'],
    ['/timeline', 'mail/slow'],
  ])('draws %s anew for the colours of the viewer', async (path, text) => {
    const { page, errors } = await open(path, text, { colorScheme: 'dark' })
    expect(await isDrawnDark(page)).toBe(true)
    await page.evaluate("localStorage.setItem('quartz-ts.theme', 'dark')")
    await page.emulateMedia({ colorScheme: 'light' })
    await page.reload()
    await settled(page, text)
    expect(await isDrawnDark(page)).toBe(true)
    await page.emulateMedia({ forcedColors: 'active' })
    expect(await isDrawnDark(page)).toBe(false)
    await page.emulateMedia({ forcedColors: 'none' })
    expect(await isDrawnDark(page)).toBe(true)
    expect(errors).toEqual([])
    await page.close()
  })

  test('moves nothing for those who do not want that', async () => {
    const { page } = await open('/', 'Next to fire')
    const answer = await heldUp(page, /\/api\/.*triggers/)
    await page.locator('#navigation').getByRole('link', { name: 'Triggers' }).click()
    await page.locator('.skeleton').first().waitFor()
    const moving = 'document.getAnimations().length'
    expect(await page.evaluate(moving)).toBeGreaterThan(0)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    expect(await page.evaluate(moving)).toBe(0)
    answer()
    await page.close()
  })
})
