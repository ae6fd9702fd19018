import { afterAll, beforeAll, expect, test } from 'vitest'
import { inBrowser } from '../support/browser-suite.ts'
import {
  type DashboardFixture,
  dashboardFixture,
  openDashboard,
  picture,
} from '../support/dashboard-fixture.ts'
import { lookRight, type PageCase, settled } from '../support/page-looks.ts'
import { troubledScheduler } from '../support/troubled-scheduler.ts'

const pages: readonly PageCase[] = [
  ['trouble-overview', '/', 'Next to fire'],
  ['trouble-timeline', '/timeline', 'billing/slow'],
  ['trouble-timeline-triggers', '/timeline?span=quarterDay&by=trigger', 'billing/slow'],
  ['trouble-misfires', '/misfires', 'shop/often'],
  ['trouble-trigger', '/triggers/billing/slow', 'Misfires'],
]

/** Points at everything that is drawn, and answers what the notes say. */
const pointEverywhere = `(async () => {
  const canvas = document.querySelector('.timeline-canvas canvas')
  const { left, top, width, height } = canvas.getBoundingClientRect()
  const seen = new Set()
  for (let y = 1; y < height; y += 5) {
    for (let x = 1; x < width; x += 3) {
      const at = { clientX: left + x, clientY: top + y, bubbles: true }
      canvas.dispatchEvent(new MouseEvent('mousemove', at))
      // The note is drawn in a microtask.
      for (let turn = 0; turn < 5; turn++) await null
      const text = document.querySelector('.timeline-note span')?.textContent
      if (text) seen.add(text)
    }
  }
  return [...seen]
})()`

inBrowser('a scheduler in trouble', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const { scheduler, clock } = await troubledScheduler()
    fixture = await dashboardFixture({ served: scheduler, clock })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  lookRight(pages, browser, () => fixture.address)

  test('vetoes, misfires and what waits are marks of the timeline that say what they are', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/timeline')
    await settled(page, 'billing/slow')
    const seen = (await page.evaluate(pointEverywhere)) as string[]
    const kinds = [
      'Vetoed',
      'Misfired',
      'Due, and waits for the job to end',
      'Planned',
      'Succeeded',
      'Running',
    ]
    expect(seen.sort()).toEqual([...kinds].sort())
    expect(errors).toEqual([])
    await page.close()
  })

  test('what failed and was missed is reached from the table of the timeline without a pointer', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/timeline?by=trigger')
    await page.locator('.timeline-table summary').press('Enter')
    const rows = page.locator('.timeline-table tbody tr')
    const row = rows.filter({ hasText: 'billing/slow' }).first()
    await row.getByRole('button', { name: 'Details' }).press('Enter')
    const link = page.locator('.row-detail').getByRole('link', { name: /^(Misfired|Vetoed|Failed): / })
    await link.first().waitFor()
    await picture(page, 'timeline-table')
    await link.first().press('Enter')
    await page.waitForURL(/\/(history\/|misfires\?)/)
    expect(errors).toEqual([])
    await page.close()
  })
})
