import { expect, test, vi } from 'vitest'
import { jobKey } from '../../src/core/key.ts'
import { createServer } from '../../src/server/create-server.ts'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { builtPage, dashboardFixture, openDashboard, picture } from '../support/dashboard-fixture.ts'
import { auth, filledScheduler, tokens, type Who } from '../support/server-fixture.ts'

const signIn = async (page: BrowserPage, who: Who): Promise<void> => {
  await page.getByText('Your session has ended').waitFor()
  await page.setViewportSize({ width: 390, height: 800 })
  await picture(page, 'login-over-page')
  await page.keyboard.press('Escape')
  await page.getByLabel('Token').fill(tokens[who])
  await page.keyboard.press('Enter')
  await page.getByText('Your session has ended').waitFor({ state: 'detached' })
}

const triggerBody = {
  type: 'simple',
  jobKey: { group: 'reports', name: 'daily' },
  startTimeMs: Date.UTC(2199, 0, 1),
  repeatCount: 3,
  repeatIntervalMs: 60_000,
  jobDataMap: { password: '***' },
}
const jobBody = {
  jobType: 'echo',
  description: 'by another one',
  jobDataMap: { to: 'ops@example.com', apiKey: '***' },
}

inBrowser('what somebody types', (browser) => {
  test('outlives a failure to load what is edited', async () => {
    await using fixture = await dashboardFixture()
    const { page } = await openDashboard(browser(), fixture.address, '/calendars/of/holidays')
    const definition = page.getByRole('textbox', { name: 'Definition' })
    await definition.fill('{ "type": "holiday" ')
    await page.route(
      '**/api/calendars/holidays',
      (route) => route.fulfill({ status: 503, contentType: 'application/json', body: '{}' }),
      { times: 1 },
    )
    await page.getByText('This could not be loaded').waitFor()
    await page.getByText('This could not be loaded').waitFor({ state: 'detached' })
    expect(await definition.inputValue()).toBe('{ "type": "holiday" ')
    await page.close()
  })

  test('outlives a restart of the server that ends all sessions', async () => {
    const scheduler = await filledScheduler()
    const options = { scheduler, auth, logger: false, dashboard: builtPage } as const
    const first = await createServer(options)
    const address = await first.listen({ port: 0 })
    const { page, errors } = await openDashboard(browser(), address, '/jobs/reports/daily/edit')
    const description = page.getByLabel('Description')
    await description.fill('half a sentence')
    await first.close()
    await using second = await createServer(options)
    await second.listen({ port: Number(new URL(address).port) })
    await signIn(page, 'admin')
    expect(await description.inputValue()).toBe('half a sentence')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/\/jobs\/reports\/daily$/)
    await page.getByText('half a sentence').first().waitFor()
    expect(errors.filter((text) => !text.includes('ERR_CONNECTION_REFUSED'))).toEqual([])
    await page.close()
    await scheduler.shutdown()
  })

  test.each([
    ['a page', '/calendars/of/holidays', 'Definition'],
    ['a dialog', '/jobs/mail/hourly', 'Data'],
  ])('goes on in the field of %s that had the focus before the session ended', async (_, path, label) => {
    await using fixture = await dashboardFixture()
    const { page } = await openDashboard(browser(), fixture.address, path)
    if (label === 'Data') await page.getByRole('button', { name: 'Run now', exact: true }).click()
    const field = page.getByRole('textbox', { name: label })
    await field.click()
    await page.evaluate(`fetch('/api/session', { method: 'DELETE' })`)
    await signIn(page, 'admin')
    expect(await page.evaluate('document.activeElement.labels?.[0]?.textContent')).toBe(label)
    await page.close()
  })

  test('is not for another person who signs in at the same page', async () => {
    await using fixture = await dashboardFixture()
    const { page } = await openDashboard(browser(), fixture.address, '/calendars/of/holidays')
    const definition = page.getByRole('textbox', { name: 'Definition' })
    await definition.fill('{}')
    await page.evaluate(`fetch('/api/session', { method: 'DELETE' })`)
    await signIn(page, 'operator')
    await page.getByText('2199-12-25').first().waitFor()
    expect(await definition.count()).toBe(0)
    await page.close()
  })

  test.each([
    ['trigger', '/triggers/reports/daily', 'PUT', triggerBody, null],
    ['job', '/jobs/reports/daily', 'PUT', jobBody, null],
    // The values that are masked went with it.
    ['job that is deleted', '/jobs/reports/daily', 'DELETE', undefined, "'jobDataMap.apiKey' has '***'"],
  ])(
    'is saved over what another one has done meanwhile to a %s only when they say so',
    async (_, path, verb, body, refusal) => {
      await using fixture = await dashboardFixture()
      const { page, errors } = await openDashboard(browser(), fixture.address, `${path}/edit`)
      const description = page.getByLabel('Description')
      await description.fill('typed here')
      expect(await fixture.ask(`${verb} ${path}`, { body })).toMatchObject({ status: 200 })
      const save = async (answer: string): Promise<void> => {
        await page.getByRole('button', { name: 'Save', exact: true }).click()
        await page.getByText('since this page was opened').waitFor()
        await picture(page, 'changed-meanwhile')
        await page.locator('dialog').getByRole('button', { name: answer }).click()
      }
      await save('Cancel')
      await page.locator('dialog').waitFor({ state: 'detached' })
      expect(await description.inputValue()).toBe('typed here')
      await save('Save all the same')
      if (refusal !== null) {
        await page.getByText(refusal).waitFor()
        const data = page.getByRole('textbox', { name: 'Data' })
        await data.fill('{ "to": "ops@example.com", "apiKey": "k-124" }')
        await page.getByRole('button', { name: 'Save', exact: true }).click()
        await page.locator('dialog').getByRole('button', { name: 'Save all the same' }).click()
      }
      await page.waitForURL(new RegExp(`${path}$`))
      await page.getByText('typed here').first().waitFor()
      expect(errors).toEqual([])
      await page.close()
    },
  )

  test('is not stored over something of the same name', async () => {
    await using fixture = await dashboardFixture()
    const { page } = await openDashboard(browser(), fixture.address, '/jobs/new')
    await page.getByLabel('Group', { exact: true }).fill('reports')
    await page.getByLabel('Name', { exact: true }).fill('daily')
    await page.getByLabel('Type', { exact: true }).fill('echo')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It is there already').waitFor()
    expect(await fixture.scheduler.getJobDetail(jobKey('daily', 'reports'))).toMatchObject({
      description: 'daily of reports',
    })
    await page.close()
  })

  test('of a calendar follows the stored one until they type, and after they have saved', async () => {
    await using fixture = await dashboardFixture()
    const { page } = await openDashboard(browser(), fixture.address, '/calendars/of/holidays')
    const definition = page.getByRole('textbox', { name: 'Definition' })
    const shows = (text: string): Promise<void> =>
      vi.waitFor(
        async () => {
          expect(await definition.inputValue()).toContain(text)
        },
        { timeout: 20_000 },
      )
    const byAnother = async (day: string): Promise<void> => {
      const body = { definition: { type: 'holiday', timeZone: 'UTC', excludedDates: [day] } }
      expect(await fixture.ask('PUT /calendars/holidays', { body })).toMatchObject({ status: 200 })
    }
    await shows('2199-12-25')
    await byAnother('2031-01-01')
    await shows('2031-01-01')
    await definition.fill('{ "type": "holiday", "timeZone": "UTC", "excludedDates": ["2031-02-02"] }')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').first().waitFor()
    await byAnother('2031-03-03')
    await shows('2031-03-03')
    await page.close()
  })
})
