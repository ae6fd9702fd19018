import { expect, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { inBrowser, inDashboard } from '../support/browser-suite.ts'
import { dashboardFixture, heldUp, openDashboard, picture, seen } from '../support/dashboard-fixture.ts'
import { addPlainJob, tokens } from '../support/server-fixture.ts'

inDashboard('an answer that comes late', (browser, fixture) => {
  test('closes no other dialog, with what is typed into it', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    const goOn = await heldUp(page, /\/mail\/hourly\/pause$/)
    const pause = page.locator('main').getByRole('button', { name: 'Pause', exact: true })
    await pause.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await pause.click()
    await dialog.getByLabel('Reason').fill('the second one')
    const paused = page.waitForResponse(/\/mail\/hourly\/pause$/)
    goOn()
    await paused
    await seen(page, 'mail/hourly is paused.')
    expect(await dialog.getByLabel('Reason').inputValue()).toBe('the second one')
    expect(errors).toEqual([])
    await page.close()
  })

  test('leads to no other page than that on which it was asked for', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers/mail/monthly/edit')
    await page.getByLabel('Description').fill('the first of each month')
    const goOn = await heldUp(page, /\/triggers\/mail\/monthly$/)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Jobs', exact: true }).click()
    await page.waitForURL(/\/jobs$/)
    goOn()
    await seen(page, 'mail/monthly is saved.')
    expect(page.url()).toMatch(/\/jobs$/)
    expect(errors).toEqual([])
    await page.close()
  })

  test('about a saved calendar keeps what was typed since', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/calendars/of/holidays')
    const text = page.locator('textarea')
    const stored = await text.inputValue()
    const withDay = (day: string): string => stored.replace('"2199-12-25"', `"2199-12-25", "${day}"`)
    await text.fill(withDay('2199-12-26'))
    const goOn = await heldUp(page, /\/calendars\/holidays$/)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await text.fill(withDay('2199-12-27'))
    const answered = page.waitForResponse(/\/calendars\/holidays$/)
    goOn()
    await answered
    // The page reads it again.
    await page.waitForResponse(/\/calendars\/holidays$/)
    await seen(page, 'holidays is saved.')
    expect(await text.inputValue()).toBe(withDay('2199-12-27'))
    expect(errors).toEqual([])
    await page.close()
  })
})

inBrowser('a page of which something else has changed', (browser) => {
  test('goes on as the one who has signed in in another tab', async () => {
    await using fixture = await dashboardFixture()
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs')
    await page.getByRole('link', { name: 'New job' }).waitFor()
    await page.evaluate(`window.open('${fixture.address}/jobs#token=${tokens.viewer}'); undefined`)
    await page.getByRole('link', { name: 'New job' }).waitFor({ state: 'detached' })
    expect(errors).toEqual([])
    await page.close()
  })

  test('says what is due and does not fire, and that all is paused', async () => {
    await using fixture = await dashboardFixture()
    const { scheduler } = fixture
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    const late = TriggerBuilder.newTrigger()
      .withIdentity('late', 'mail')
      .forJob(await addPlainJob(scheduler, 'echo', 'late', 'mail'))
      .startAt(new Date(Date.now() - 120_000))
    await scheduler.scheduleJob(late.build())
    await seen(page, 'One trigger has been due for more than a minute.')
    await seen(page, /The next trigger has been due since/)
    await picture(page, 'overdue')
    await page.locator('.problems').getByRole('link', { name: 'Show' }).click()
    await page.getByRole('link', { name: 'mail/late' }).first().waitFor()
    await page.locator('.badge').getByText('Overdue').waitFor()
    expect(await page.getByRole('link', { name: 'mail/hourly' }).count()).toBe(0)
    await picture(page, 'overdue-list')
    await page.getByRole('link', { name: 'Timeline', exact: true }).click()
    await page.locator('.timeline-table summary').click()
    const row = page.getByRole('row').filter({ hasText: 'mail/late' })
    await row.getByRole('button', { name: 'Details' }).click()
    await seen(page, /Overdue: it should have fired:/)
    await picture(page, 'overdue-timeline')
    await page.getByRole('link', { name: 'Overview', exact: true }).click()
    await scheduler.unscheduleJob(new TriggerKey('late', 'mail'))
    await scheduler.pauseAll()
    await seen(page, 'Every trigger is paused: nothing fires.')
    await scheduler.clear()
    await scheduler.resumeAll()
    const only = await addPlainJob(scheduler, 'echo', 'late', 'mail')
    await scheduler.scheduleJob(late.forJob(only).build())
    await seen(page, 'One trigger has been due for more than a minute.')
    expect(errors).toEqual([])
    await page.close()
  })
})
