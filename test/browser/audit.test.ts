import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { hashPassword } from '../../src/server/auth/passwords.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { script } from '../support/dashboard-data.ts'
import {
  axeFindings,
  type DashboardFixture,
  dashboardFixture,
  openDashboard,
  picture,
} from '../support/dashboard-fixture.ts'
import { lookRight, type PageCase } from '../support/page-looks.ts'
import { filledScheduler } from '../support/server-fixture.ts'

const pages: readonly PageCase[] = [
  ['audit', '/audit', '×7'],
  ['audit-none', '/audit?by=nobody', 'No entry fits'],
  ['users', '/users', 'made at this start'],
]

inBrowser('audit and users', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const served = await filledScheduler({
      jobStore: sqliteJobStore({ filename: ':memory:' }),
      instanceId: 'n1',
    })
    fixture = await dashboardFixture({ served })
    const job = {
      jobType: 'echo',
      jobDataMap: { to: 'ops@example.com', password: 'hunter2', [script]: script },
    }
    await fixture.ask('PUT /jobs/team%2Fa/weekly', { body: job })
    await fixture.ask('PUT /jobs/reports/weekly', { body: job })
    await fixture.ask('PUT /jobs/reports/weekly', { body: { ...job, description: script, durable: true } })
    await fixture.ask('POST /jobs/mail/hourly/pause', {
      who: 'operator',
      body: { reason: 'the mail server moves' },
    })
    await fixture.ask('POST /triggers/reports/daily/pause', { body: {} })
    for (let count = 0; count < 7; count++) await fixture.ask('DELETE /jobs/mail/hourly', { who: 'viewer' })
    await fixture.ask('POST /scheduler/standby', { who: null })
    await fixture.ask('DELETE /jobs/mail/nothing')
    await served.idle()
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  lookRight(pages, browser, () => fixture.address)

  test('an entry opens and shows what changed, as text', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/audit?operation=jobs.put')
    await page.getByRole('button', { name: 'Details' }).first().click()
    await page.getByText('What changed').waitFor()
    expect(await page.locator('.row-detail del').first().textContent()).toBe('null')
    await page.locator('.row-detail').getByText('"***"').first().waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'audit-entry')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'audit-entry-dark')
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await axeFindings(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await picture(page, 'audit-entry-phone')
    expect(errors).toEqual([])
    await page.close()
  })

  test('is filtered by who, by what and by outcome, and the address says so', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/audit')
    await page.getByRole('link', { name: 'operator', exact: true }).click()
    await page.locator('td:has-text("jobs.pause")').first().waitFor()
    await page.locator('td:has-text("jobs.put")').first().waitFor({ state: 'detached' })
    expect(page.url()).toContain('by=operator')
    await page.goto(`${fixture.address}/audit`)
    await page.getByLabel('Outcome').selectOption('refused')
    await page.getByText('×7').waitFor()
    await page.goto(`${fixture.address}/audit?about=reports%2Fweekly`)
    await page.locator('td:has-text("jobs.put")').first().waitFor()
    expect(await page.locator('td:has-text("jobs.pause")').count()).toBe(0)
    await page.close()
  })

  test.each([
    ['job', '/jobs/reports/weekly', 'jobs.put'],
    ['trigger', '/triggers/reports/daily', 'triggers.pause'],
    ['job in a group with a slash', '/jobs/team%2Fa/weekly', 'jobs.put'],
  ])('the page of a %s leads to what was done to it', async (_, path, operation) => {
    const { page, errors } = await openDashboard(browser(), fixture.address, path)
    await page.getByRole('link', { name: 'Who did what' }).click()
    await page.locator(`td:has-text("${operation}")`).first().waitFor()
    expect(await page.locator('tbody > tr').count()).toBe(path === '/jobs/reports/weekly' ? 2 : 1)
    expect(new URL(page.url()).searchParams.get('about')).toBe(path.split('/').slice(2).join('/'))
    expect(errors).toEqual([])
    await page.close()
  })

  test('is for admins: others have no link to it', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/', { who: 'operator' })
    await page.getByRole('link', { name: 'Jobs', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'Audit' }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Users and tokens' }).count()).toBe(0)
    await page.close()
  })

  test('users are listed with their roles and groups, and sign out', async () => {
    const passwordHash = await hashPassword('correct horse')
    const users = [
      { name: 'ann', role: 'admin', passwordHash },
      { name: 'bob', role: null, jobGroups: { reports: 'operator' }, passwordHash },
    ] as const
    await using withUsers = await dashboardFixture({ auth: { kind: 'users', users } })
    const page = await browser().newPage({
      timezoneId: 'UTC',
      locale: 'en-GB',
      viewport: { width: 1360, height: 900 },
    })
    await page.goto(`${withUsers.address}/users`)
    await page.getByLabel('Name').fill('ann')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('reports: Operator').waitFor()
    await page.getByText('On groups alone').waitFor()
    expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(passwordHash)
    await picture(page, 'users-passwords')
    await page.locator('main').getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.close()
  })
})
