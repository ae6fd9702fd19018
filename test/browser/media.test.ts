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

/** The texts of cells that lie below the buttons of their own row. */
const covered = `[...document.querySelectorAll('.table .row-actions')].flatMap((actions) => {
  const buttons = actions.getBoundingClientRect()
  const lies = ({ left, right, top, bottom }) =>
    left < buttons.right && right > buttons.left && top < buttons.bottom && bottom > buttons.top
  return [...actions.closest('tr').cells].filter((cell) => !cell.contains(actions)).flatMap((cell) => {
    const range = document.createRange()
    range.selectNodeContents(cell)
    return [...range.getClientRects()].some(lies) ? [cell.textContent] : []
  })
})`

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
  ])('draws %s anew for paper, and for the colours of the viewer', async (path, text) => {
    const { page, errors } = await open(path, text, { colorScheme: 'dark' })
    expect(await isDrawnDark(page)).toBe(true)
    await page.emulateMedia({ media: 'print' })
    expect(await isDrawnDark(page)).toBe(false)
    await page.evaluate("localStorage.setItem('quartz-ts.theme', 'dark')")
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' })
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

  const lists = [
    ['/', 'Next to fire'],
    ['/jobs', 'reports/good'],
    ['/triggers', 'mail/hourly'],
    ['/running', 'mail/slow'],
    ['/history', 'Failed'],
    ['/nodes', 'n1'],
    ['/groups', 'mail'],
    ['/audit', '127.0.0.1'],
    ['/jobs/mail/bad', 'Last executions'],
    ['/jobs/mail/hourly', '1 Jan 2199'],
  ] as const

  test.each(lists)('prints %s on white, as a whole, without what can be pressed', async (path, text) => {
    const { page, errors } = await open(path, text, { colorScheme: 'dark' })
    await page.setViewportSize({ width: 718, height: 1000 })
    await page.emulateMedia({ media: 'print' })
    await picture(page, `print-${path.split('/').pop() ?? ''}`)
    expect(await styles(page, ':root', 'backgroundColor')).toEqual(['rgb(255, 255, 255)'])
    expect(await styles(page, 'h1', 'color')).toEqual(['rgb(24, 32, 43)'])
    expect(await shown(page, '.top-bar, .navigation, .button, button, input, .menu, .toolbar')).toBe(0)
    const positions = new Set(await styles(page, 'main *', 'position'))
    expect([positions.has('sticky'), positions.has('fixed')]).toEqual([false, false])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    const cut = `[...document.querySelectorAll('.table-box')].filter((box) => box.scrollWidth > box.clientWidth).length`
    expect(await page.evaluate(cut)).toBe(0)
    expect(new Set(await styles(page, '.table tr', 'breakInside'))).toEqual(new Set(['avoid']))
    expect(new Set(await styles(page, '.table thead', 'display'))).toEqual(new Set(['table-header-group']))
    expect(errors).toEqual([])
    await page.close()
  })

  test('prints to what a list is narrowed', async () => {
    const { page } = await open('/triggers?search=hourly', 'mail/hourly')
    await page.emulateMedia({ media: 'print' })
    expect([await shown(page, '.toolbar input'), await shown(page, '.toolbar select')]).toEqual([1, 0])
    await page.close()
  })

  test.each(lists)('covers nothing by buttons on %s, however wide it is', async (path, text) => {
    const { page, errors } = await open(path, text)
    for (const width of [641, 680, 900, 1100, 1280, 1360]) {
      await page.setViewportSize({ width, height: 800 })
      await picture(page, `zoom-${width}-${path.split('/').pop() ?? ''}`)
      expect([width, await page.evaluate(covered)]).toEqual([width, []])
    }
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
