import { expect, test } from 'vitest'
import { alertsPlugin } from '../../src/alerts.ts'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { inDashboard } from '../support/browser-suite.ts'
import {
  builtPage,
  dashboardFixture,
  heldUp,
  openDashboard,
  picture,
  seen,
} from '../support/dashboard-fixture.ts'
import { addPlainJob, filledScheduler, serverFixture } from '../support/server-fixture.ts'

const problemOf = (status: number): { status: number; contentType: string; body: string } => ({
  status,
  contentType: 'application/problem+json',
  body: JSON.stringify({ status, code: 'ERR_NOT_FOUND', detail: 'There is no such bulk action.' }),
})

inDashboard('a question that is open', (browser, fixture) => {
  test('ends with its page, which was about another scheduler', async () => {
    const [billing, mail] = [
      await filledScheduler({ schedulerName: 'billing' }),
      await filledScheduler({ schedulerName: 'mail' }),
    ]
    await using several = await serverFixture({
      scheduler: [billing, mail],
      served: billing,
      dashboard: builtPage,
    })
    const { page, errors } = await openDashboard(browser(), several.address, '/jobs/mail/hourly')
    await page.getByLabel('Scheduler').selectOption('mail')
    await page.waitForURL(/\/schedulers\/mail\/$/)
    await page.goBack()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Type hourly to confirm').fill('hourly')
    await page.goForward()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await mail.checkExists(new JobKey('hourly', 'mail'))).toBe(true)
    expect(await billing.checkExists(new JobKey('hourly', 'mail'))).toBe(true)
    expect(errors).toEqual([])
    await page.close()
    await mail.shutdown()
  })

  test('about the next firing of a trigger is not asked on another page', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    const answer = await heldUp(page, /skip-next/)
    await page.getByRole('button', { name: 'Skip next' }).click()
    await page.getByRole('link', { name: 'Jobs' }).click()
    await page.getByRole('link', { name: 'mail/hourly' }).waitFor()
    const skipped = page.waitForResponse(/skip-next/)
    answer()
    await skipped
    await page.getByRole('link', { name: 'mail/hourly' }).click()
    await seen(page, 'hourly of mail')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.close()
  })

  test('outlives the row of its trigger, with what was typed', async () => {
    const key = new TriggerKey('hourly', 'mail')
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers?state=NORMAL')
    await page.getByRole('button', { name: 'Pause: mail/hourly' }).click()
    const reason = page.getByRole('dialog').getByLabel('Reason')
    await reason.fill('the archive moves')
    await fixture().scheduler.pauseTrigger(key)
    await page.locator('tbody').getByText('mail/hourly').first().waitFor({ state: 'detached' })
    expect(await reason.inputValue()).toBe('the archive moves')
    await fixture().scheduler.resumeTrigger(key)
    expect(errors).toEqual([])
    await page.close()
  })

  test('for how long an alert is silent outlives a look that failed', async () => {
    const check = async (): Promise<{ subject: string; message: string }[]> => [
      { subject: 'archive', message: 'The disk of the archive is full.' },
    ]
    const rule = { name: 'disk', description: 'A disk is full.', check }
    const channel = { name: 'recorded', send: async () => undefined }
    const alerts = alertsPlugin({ checkMs: 1000, rules: [rule], channels: [channel] })
    const served = await createScheduler({ logger: false, plugins: [alerts] })
    await served.start()
    await using alerted = await dashboardFixture({ served, alerts })
    const { page } = await openDashboard(browser(), alerted.address, '/')
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    const reason = page.getByRole('dialog').getByLabel('Reason', { exact: true })
    await reason.fill('a new disk comes')
    await page.route(/\/api\/(alerts|scheduler)$/, (route) => route.fulfill(problemOf(503)))
    await seen(page, 'This could not be loaded')
    expect(await reason.inputValue()).toBe('a new disk comes')
    await page.close()
  })

  test('says in its own dialog what the server refused', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/jobs/mail/hourly')
    await page.route(/\/mail\/hourly\/run$/, (route) => route.fulfill(problemOf(404)), { times: 1 })
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Run now' }).first().click()
    await dialog.getByRole('button', { name: 'Run now' }).click()
    await dialog.getByText('There is no such bulk action.').waitFor()
    await picture(page, 'refused-in-dialog')
    await dialog.getByRole('button', { name: 'Run now' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.close()
  })

  test('what became of a bulk action is said not to be known when its server is another one', async () => {
    await addPlainJob(fixture().scheduler, 'echo', 'many', 'lost')
    const { page, errors } = await openDashboard(browser(), fixture().address, '/jobs?search=lost')
    await page.getByRole('link', { name: 'lost/many' }).waitFor()
    await page.route(/\/api\/bulk\/[^/]+$/, (route) => route.fulfill(problemOf(404)))
    await page.getByText('All that are listed').click()
    await page.locator('.menu-list').getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run now' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('What became of it is not known').waitFor()
    await dialog.getByText('At the last look 0 of 1 were done.').waitFor()
    await picture(page, 'lost-bulk')
    await dialog.locator('.dialog-actions').getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(errors).toEqual([])
    await page.close()
  })
})
