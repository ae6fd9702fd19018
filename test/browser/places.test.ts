import { afterAll, beforeAll, expect, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { plannedScheduler } from '../support/planned-scheduler.ts'
import { addHourly } from '../support/steered-scheduler.ts'

const laterMs = Date.UTC(2199, 0, 1)
const seen = (page: BrowserPage, text: string | RegExp): Promise<void> =>
  page.locator('main').getByText(text).first().waitFor()

/** What a viewer has come to: where, and a text that is there before and after the page is loaded again. */
const states: readonly (readonly [what: string, path: string, text: string])[] = [
  ['a search', '/jobs?search=hourly', 'mail/hourly'],
  ['a search without a result', '/triggers?search=nosuch', 'No trigger fits'],
  ['a state', '/triggers?state=PAUSED', 'mail/hourly'],
  ['a paused trigger', '/triggers/mail/hourly', 'a long night'],
  ['a job that fails', '/jobs/mail/bad', 'Last failure'],
  ['an editor', '/triggers/mail/daytime/edit', 'As stored'],
  ['what runs', '/running', 'mail/slow'],
  ['a filter', '/history?filter=outcome%3Afailed', 'mail/bad'],
  ['a filter that is wrong', '/history?filter=outcome%3Aodd', 'outcome'],
  ['an expression', '/cron?expression=0+0+5+%3F+*+MON&zone=UTC', 'At 05:00'],
  ['an expression that is wrong', '/cron?expression=0+0+99+%3F+*+*', '99'],
  ['a day of triggers', '/timeline?by=trigger&span=day', 'reports/soon'],
  ['a month of a calendar', '/calendars/of/holidays?month=2199-12', 'holidays'],
  ['what is not there', '/triggers/no/such', 'It may have been deleted'],
  ['no page', '/no/such/page', 'There is no such page'],
]

inBrowser('a place', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const served = await plannedScheduler()
    const key = new TriggerKey('hourly', 'mail')
    await served.resumeTrigger(key)
    await served.pauseTrigger(key, { reason: 'a long night', by: 'ann' })
    for (let number = 100; number < 180; number++) await addHourly(served, `t${number}`, 'rows', laterMs)
    fixture = await dashboardFixture({ served })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  test.each(states)('%s is there again when the page is loaded again', async (_, path, text) => {
    const { page, errors } = await openDashboard(browser(), fixture.address, path)
    await seen(page, text)
    const address = page.url()
    await page.reload()
    await seen(page, text)
    expect([page.url(), errors]).toEqual([address, []])
    await page.close()
  })

  test('goes by a question that was open when the page is loaded again', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/triggers/mail/daytime')
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('unsaid')
    await page.reload()
    await seen(page, 'Schedule')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await fixture.scheduler.getTriggerState(new TriggerKey('daytime', 'mail'))).toBe('NORMAL')
    expect(errors).toEqual([])
    await page.close()
  })

  test('comes back through lists, their pages and what they lead to', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/triggers')
    await page.locator('main input[type=search]').fill('rows')
    await page.waitForURL(/search=rows/)
    await page.getByRole('link', { name: 'rows/t100' }).first().waitFor()
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.waitForURL(/after=/)
    await page.getByRole('link', { name: 'rows/t179' }).first().click()
    await page.waitForURL(/triggers\/rows\/t179$/)
    await seen(page, 'every hour')
    await page.goBack()
    await page.getByRole('link', { name: 'rows/t179' }).first().waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'rows/t100' }).first().waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'mail/hourly' }).first().waitFor()
    await page.goForward()
    await page.goForward()
    await page.goForward()
    await page.waitForURL(/triggers\/rows\/t179$/)
    await seen(page, 'every hour')
    expect(errors).toEqual([])
    await page.close()
  })
})
