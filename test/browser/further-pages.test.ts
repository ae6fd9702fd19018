import { afterAll, beforeAll, expect, test } from 'vitest'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { script } from '../support/dashboard-data.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { lookRight, type PageCase } from '../support/page-looks.ts'
import { plannedScheduler } from '../support/planned-scheduler.ts'

const pages: readonly PageCase[] = [
  ['nodes', '/nodes', 'answers this page'],
  ['groups', '/groups', 'Nothing is in it yet'],
  ['timeline', '/timeline', 'mail/slow'],
  ['timeline-minute', '/timeline?span=minute', 'mail/slow'],
  ['timeline-month', '/timeline?span=month&by=trigger', 'Run by hand'],
  ['timeline-nodes', '/timeline?by=node&span=day', 'Planned, by any node'],
  ['timeline-empty', '/timeline?from=0', 'Nothing ran in this time'],
  ['misfires', '/misfires', script],
  ['misfires-none', '/misfires?cause=lost', 'No misfire fits'],
  ['calendars', '/calendars', 'holidays'],
  ['calendar', '/calendars/of/holidays?month=2199-12', 'Excluded'],
  ['calendar-new', '/calendars/new', 'Preview the change'],
  ['settings', '/settings', 'Operations that you may call'],
]

inBrowser('further pages', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await dashboardFixture({ served: await plannedScheduler() })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  lookRight(pages, browser, () => fixture.address)

  test('a group with a limit says how many of its jobs run', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/groups')
    await page.getByText(/^\d of 5$/).waitFor()
    await page.close()
  })

  test('a filter is completed while it is typed', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/history')
    const options = page.locator('datalist option')
    await page.locator('.search-box input').fill('late>5s outcome:fa')
    await options.first().waitFor({ state: 'attached' })
    expect(await options.first().getAttribute('value')).toBe('late>5s outcome:failed')
    await page.goto(`${fixture.address}/jobs`)
    await page.locator('.search-box input').fill('goo')
    await options.first().waitFor({ state: 'attached' })
    expect(await options.first().getAttribute('value')).toBe('good')
    expect(errors).toEqual([])
    await page.close()
  })

  test('a filter that is wrong has no list, neither one that loads nor that of the filter before', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/history?filter=bogus%3A1')
    const list = page.locator('section[aria-label="History"]')
    await page.getByText(/has 'bogus'/).waitFor()
    expect(await list.count()).toBe(0)
    await page.locator('.search-box input').fill('outcome:failed')
    await list.waitFor()
    await page.getByText(/has 'bogus'/).waitFor({ state: 'detached' })
    await page.locator('.search-box input').fill('outcome:odd')
    await page.getByRole('alert').waitFor()
    expect(await list.count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  test('a description without a space, such as an address, is shown to its end', async () => {
    const description = `https://ops.example.com/${'x'.repeat(220)}`
    await fixture.scheduler.addJob(
      JobBuilder.newJob('echo')
        .withIdentity('described', 'odd')
        .withDescription(description)
        .storeDurably()
        .build(),
    )
    const { page } = await openDashboard(browser(), fixture.address, '/jobs/odd/described')
    await page.locator('.page-below').getByText(description).waitFor()
    expect(
      await page.evaluate(`(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(
        document.querySelector('.page-below'),
      )`),
    ).toBe(0)
    await page.close()
  })

  test('fire times have their offsets in sight on a telephone', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/cron?zone=Europe%2FParis', {
      viewport: { width: 375, height: 800 },
    })
    await page.locator('.table .number').first().waitFor()
    const overhangs = await page.evaluate(`[...document.querySelectorAll('.table-box')].map(
      (box) => box.scrollWidth - box.clientWidth,
    )`)
    expect([overhangs, errors]).toEqual([[0], []])
    await page.close()
  })

  test('the types of calendars are in Chinese', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/calendars', {
      locale: 'zh-CN',
    })
    await page.getByRole('row').filter({ hasText: 'holidays' }).getByText('节假日').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('the timeline has its state in the address, and leads on', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/timeline')
    await page.getByRole('combobox', { name: 'Rows' }).selectOption('trigger')
    await page.getByRole('combobox', { name: 'Shown' }).selectOption('day')
    await page.waitForURL(/by=trigger&span=day$/)
    await page.getByRole('link', { name: 'Earlier' }).click()
    await page.waitForURL(/from=\d+$/)
    await page.goBack()
    await page.waitForURL(/by=trigger&span=day$/)
    await page.locator('summary').click()
    await page.getByRole('cell', { name: 'reports/soon' }).waitFor()
    await page.getByRole('link', { name: 'reports/soon' }).first().click()
    await page.waitForURL(/triggers\/reports\/soon$/)
    expect(errors).toEqual([])
    await page.close()
  })

  test('a bar of the timeline leads to what it is about', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/timeline?span=minute')
    await page.getByRole('link', { name: 'mail/slow' }).waitFor()
    // What runs reaches up to now, which is at two thirds. Other rows come and go with the minute.
    await page.evaluate(`{
      const canvas = document.querySelector('canvas')
      const at = canvas.getBoundingClientRect()
      const link = [...document.querySelectorAll('main a')].find((each) => each.textContent === 'mail/slow')
      const row = link.getBoundingClientRect()
      const place = { clientX: at.left + (at.width * 2) / 3 - 4, clientY: (row.top + row.bottom) / 2 }
      canvas.dispatchEvent(new MouseEvent('click', { bubbles: true, ...place }))
    }`)
    await page.waitForURL(/running$/)
    expect(errors).toEqual([])
    await page.close()
  })

  test('choices hold after a reload', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/settings')
    await page.getByLabel('Times').selectOption('UTC')
    await page.locator('main').getByLabel('Colours').selectOption('dark')
    await page.reload()
    expect(await page.getByLabel('Times').inputValue()).toBe('UTC')
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    expect(errors).toEqual([])
    await page.close()
  })
})
