import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { busyScheduler, script } from '../support/dashboard-data.ts'
import {
  axeFindings,
  type DashboardFixture,
  dashboardFixture,
  openDashboard,
  picture,
} from '../support/dashboard-fixture.ts'

const part = encodeURIComponent(script)

/** A page by its name, its path, and a text in English that is there when it has loaded. */
const pages: readonly (readonly [name: string, path: string, text: string])[] = [
  ['overview', '/', 'Next to fire'],
  ['jobs', '/jobs', 'reports/good'],
  ['jobs-none', '/jobs?search=nosuchjob', 'No job fits'],
  ['job', '/jobs/mail/bad', 'Last executions'],
  ['job-scripted', `/jobs/${part}/${part}`, 'Last executions'],
  ['job-new', '/jobs/new', 'Definition'],
  ['job-edit', '/jobs/reports/daily/edit', 'Definition'],
  ['triggers', '/triggers', 'mail/hourly'],
  ['trigger', '/triggers/reports/daily', 'At 07:00, Monday through Friday'],
  ['trigger-scripted', `/triggers/${part}/${part}`, 'every hour'],
  ['trigger-new', '/triggers/new', 'When it fires'],
  ['trigger-edit', '/triggers/mail/daytime/edit', 'As stored'],
  ['running', '/running', 'mail/slow'],
  ['history', '/history', 'Failed'],
  ['history-failures', '/history?filter=outcome%3Afailed', 'Failed'],
  ['cron', '/cron?zone=America%2FNew_York', 'Monday through Friday'],
  ['not-found', '/nothing/here', 'There is no such page'],
]

/** The page has loaded when nothing is busy and the text is there. */
async function settled(page: BrowserPage, text: string): Promise<void> {
  await page.locator('main').getByText(text).first().waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
}

async function isHacked(page: BrowserPage): Promise<boolean> {
  return (
    (await page.evaluate(`document.title === 'hacked' || document.querySelector('main img') !== null`)) ===
    true
  )
}

inBrowser('every page', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const served = await busyScheduler(sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }))
    fixture = await dashboardFixture({ served })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  test.each(pages)('%s is right in light and dark, wide and narrow', async (name, path, text) => {
    const { page, errors } = await openDashboard(browser(), fixture.address, path)
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
  })

  test.each(pages)('%s is right in Chinese', async (name, path) => {
    const { page, errors } = await openDashboard(browser(), fixture.address, path, { locale: 'zh-CN' })
    await page.locator('main h1').waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    expect(await page.evaluate('document.documentElement.lang')).toBe('zh-CN')
    expect(await axeFindings(page)).toEqual([])
    await picture(page, `${name}-zh`)
    expect(errors).toEqual([])
    await page.close()
  })

  test('an execution shows its error as text', async () => {
    const { page, errors } = await openDashboard(
      browser(),
      fixture.address,
      '/history?filter=outcome%3Afailed',
    )
    await page.getByRole('link', { name: 'Failed' }).first().click()
    await page.getByText('it broke').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'execution')
    await page.reload()
    await page.getByText('it broke').first().waitFor()
    expect([await isHacked(page), errors]).toEqual([false, []])
    await page.close()
  })
})
