import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { RAMJobStore } from '../../src/jobstore/ram/ram-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { inBrowser } from '../support/browser-suite.ts'
import {
  type DashboardFixture,
  dashboardFixture,
  openDashboard,
  picture,
  seen,
} from '../support/dashboard-fixture.ts'
import { addPlainJob } from '../support/server-fixture.ts'

/** As a URL or a token in an error has no blank. */
const longWord = 'x'.repeat(2000)

const breaking = defineJob('breaking', () => {
  throw new Error(longWord)
})

inBrowser('a page', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const scheduler = await createScheduler({
      logger: false,
      jobStore: new RAMJobStore({ history: { record: 'all' } }),
      jobs: [breaking],
    })
    const key = await addPlainJob(scheduler, 'breaking', 'breaking', 'mail')
    await scheduler.start()
    for (let count = 0; count < 3; count++) await scheduler.triggerJob(key)
    await scheduler.idle()
    fixture = await dashboardFixture({ served: scheduler })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  test('whose code is gone since a new version is there says so, and is loaded anew', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/jobs')
    await seen(page, 'mail/breaking')
    const gone = { status: 404, contentType: 'text/plain', body: '' }
    await page.route(/\/assets\/groups-/, (route) => route.fulfill(gone), { times: 1 })
    await page.getByRole('link', { name: 'Groups' }).click()
    await seen(page, 'Its code could not be loaded')
    await picture(page, 'missing-page')
    await page.getByRole('button', { name: 'Load it again' }).click()
    await seen(page, 'Groups of jobs')
    await page.close()
  })

  test.each(['/schedulers/%E0%A4%A/jobs', '/jobs/%E0%A4%A/x'])(
    'is said not to be there at an address that was cut off: %s',
    async (path) => {
      const { page } = await openDashboard(browser(), fixture.address, path)
      await seen(page, 'There is no such page')
      await page.getByRole('link', { name: 'Settings' }).waitFor()
      await page.goto(`${fixture.address}/jobs`)
      await seen(page, 'mail/breaking')
      await page.close()
    },
  )

  test('stays as wide as the window with an error of one long word', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/', {
      viewport: { width: 390, height: 800 },
    })
    await page.locator('.problems').getByText('mail/breaking').first().waitFor()
    await picture(page, 'long-error')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.close()
  })

  test.each([360, 1360])(
    'asks about a long name in a dialog of %i pixels that hides nothing',
    async (width) => {
      const key = await addPlainJob(fixture.scheduler, 'breaking', 'n'.repeat(200), `wide${width}`)
      const { page } = await openDashboard(browser(), fixture.address, `/jobs/${key.group}/${key.name}`, {
        viewport: { width, height: 900 },
      })
      await page.getByRole('button', { name: 'Delete' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(/^Type n+ to confirm$/).waitFor()
      await picture(page, `long-name-${width}`)
      const hidden =
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))"
      expect(await page.evaluate(hidden)).toBe(0)
      await dialog.getByRole('button', { name: 'Close' }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.close()
    },
  )

  test('speaks of how the scheduler is, and not of each second until it fires', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/')
    await seen(page, /No trigger will fire|fires/)
    const spoken = await page.locator('.verdict [role=status]').innerText()
    expect(spoken).toMatch(/needs? a look/)
    expect(spoken).not.toMatch(/fire/)
    await page.close()
  })

  test('has no button to copy where the browser does not let it', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/jobs/mail/breaking')
    await page.getByRole('button', { name: 'Copy' }).first().waitFor()
    await page.addInitScript('delete Navigator.prototype.clipboard')
    await page.reload()
    await page.locator('pre').first().waitFor()
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    await page.close()
  })

  test('lets the fields of an expression be emptied and filled again, and keeps it in another dialect', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/cron?zone=UTC')
    await seen(page, 'At 07:00')
    const dayOfMonth = page.getByLabel('Day of month')
    expect(await dayOfMonth.inputValue()).toBe('?')
    await dayOfMonth.fill('1')
    await page.getByLabel('Day of week').fill('?')
    expect(await page.getByLabel('Day of week').inputValue()).toBe('?')
    await dayOfMonth.fill('?')
    await page.getByLabel('Day of week').fill('MON-FRI')
    const hour = page.getByLabel('Hour')
    await hour.fill('')
    await seen(page, 'Write what stands here')
    await page.keyboard.type('9')
    await seen(page, 'At 09:00')
    expect(await hour.inputValue()).toBe('9')
    const expression = page.getByRole('textbox', { name: 'Expression' })
    await expression.fill('')
    expect(await expression.inputValue()).toBe('')
    await expression.fill('30 4 * * *')
    await page.getByLabel('Dialect').selectOption('unix')
    await seen(page, 'At 04:30')
    const zone = page.getByRole('combobox', { name: 'Time zone' })
    await zone.fill('')
    expect(await zone.inputValue()).toBe('')
    expect(errors).toEqual([])
    await page.close()
  })

  test('reads the instant after which an expression fires in the zone of its times', async () => {
    const { page } = await openDashboard(browser(), fixture.address, '/settings')
    await page.evaluate(`localStorage.setItem('quartz-ts.zone', 'UTC')`)
    await page.goto(`${fixture.address}/cron?expression=0+30+*+*+*+?&zone=UTC&from=2199-01-05T12:00`)
    await seen(page, '12:30:00 GMT')
    expect(await page.getByText('11:30:00').count()).toBe(0)
    await page.goto(`${fixture.address}/cron?from=abc`)
    await seen(page, 'At 07:00')
    await page.close()
  })

  test('says which number of a trigger is none, and does not take it for 0', async () => {
    const { page } = await openDashboard(
      browser(),
      fixture.address,
      '/triggers/new?jobName=breaking&jobGroup=mail',
    )
    const save = page.getByRole('button', { name: 'Save' })
    await page.getByLabel('Priority').fill('')
    await seen(page, 'Write a whole number.')
    expect(await save.isDisabled()).toBe(true)
    expect(await page.getByLabel('Priority').getAttribute('aria-invalid')).toBe('true')
    await page.getByLabel('Priority').fill('7')
    expect(await save.isDisabled()).toBe(false)
    await page.close()
  })
})
