import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage, PageOptions } from '../support/chromium.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { demoScheduler } from '../support/demo-scheduler.ts'
import { settled } from '../support/page-looks.ts'
import { projectRoot } from '../support/source-files.ts'

/** `npm run pictures` puts them where the guide shows them; otherwise they are for looking at. */
const folder = join(
  projectRoot,
  process.env['QUARTZ_TS_PICTURES'] === '1' ? 'docs/guide/pictures' : '.cache/screenshots/guide',
)
const bytesMax = 120_000

interface Picture {
  readonly name: string
  readonly path: string
  readonly text: string
  readonly look?: Partial<PageOptions>
  /** What is done before it is taken. */
  readonly first?: (page: BrowserPage) => Promise<void>
}

/** The end of what is found is at the lower edge. */
async function scrolledTo(page: BrowserPage, selector: string): Promise<void> {
  await page.evaluate(`document.querySelector('${selector}').scrollIntoView({ block: 'end' })`)
}

const wide = { width: 1280, height: 800 }

const pictures: readonly Picture[] = [
  { name: 'overview', path: '/', text: 'Next to fire' },
  {
    name: 'timeline',
    path: '/timeline',
    text: 'archive/snapshot',
    look: { viewport: { width: 1280, height: 500 } },
  },
  { name: 'job', path: '/jobs/mail/bounces', text: 'Last executions' },
  {
    name: 'execution',
    path: '/history?filter=job%3Abilling%2Finvoices',
    text: 'billing/invoices',
    first: async (page) => {
      await page.locator('main table').getByRole('link', { name: 'Succeeded' }).first().click()
      await settled(page, 'a part is done')
    },
  },
  {
    name: 'trigger-edit',
    path: '/triggers/reports/daily/edit',
    text: 'As stored',
    look: { viewport: { width: 1280, height: 404 } },
    first: async (page) => {
      await page.getByLabel('Expression').fill('0 30 6 ? * MON-SAT')
      await page.locator('.is-new').first().waitFor()
      await scrolledTo(page, '.fire-times li:nth-child(6)')
    },
  },
  {
    name: 'cron',
    path: '/cron?expression=0+30+2+%3F+*+SUN&zone=Europe%2FParis&calendar=holidays',
    text: 'the clock skips its time',
    look: { viewport: { width: 1280, height: 968 } },
  },
  {
    name: 'phone',
    path: '/',
    text: 'Next to fire',
    look: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  },
]

inBrowser('the pictures of the guide', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const { scheduler, clock } = await demoScheduler()
    fixture = await dashboardFixture({ served: scheduler, clock })
    mkdirSync(folder, { recursive: true })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  test.each(pictures)('$name is small', async ({ name, path, text, look, first }) => {
    const { page, errors } = await openDashboard(browser(), fixture.address, path, {
      viewport: wide,
      ...look,
    })
    await settled(page, text)
    await first?.(page)
    const file = join(folder, `${name}.png`)
    await page.screenshot({ path: file, fullPage: false })
    expect(statSync(file).size).toBeLessThan(bytesMax)
    expect(errors).toEqual([])
    await page.close()
  })
})
