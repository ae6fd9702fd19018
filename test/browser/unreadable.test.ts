import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { breakTrigger, storeOnFile } from '../support/broken-trigger.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { dashboardFixture, openDashboard, picture, seen } from '../support/dashboard-fixture.ts'
import { filledScheduler } from '../support/server-fixture.ts'

inBrowser('a trigger that cannot be read', (browser) => {
  test('is one of its job, and can be deleted', async () => {
    const { jobStore, filename } = storeOnFile()
    await using fixture = await dashboardFixture({ served: await filledScheduler({ jobStore }) })
    breakTrigger(filename, 'daily', "trigger_state = 'WEIRD'")
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/reports/daily')
    await seen(page, 'Not readable')
    expect(await page.getByText('It has no trigger').count()).toBe(0)
    await picture(page, 'unreadable-trigger')
    await page.setViewportSize({ width: 390, height: 800 })
    await picture(page, 'unreadable-trigger-390')
    await page.setViewportSize({ width: 1360, height: 900 })
    await page.getByRole('link', { name: 'reports/daily' }).first().click()
    await seen(page, 'Correct or delete the row')
    await picture(page, 'unreadable-trigger-page')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('daily')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await seen(page, 'reports/daily is deleted.')
    await page.goto(`${fixture.address}/jobs/reports/daily`)
    await seen(page, 'It has no trigger')
    expect(errors).toEqual([])
    await page.close()
  })
})

inBrowser('a trigger of a kind that only Java can read', (browser) => {
  test('does not stand in the list as one that waits', async () => {
    const { jobStore, filename } = storeOnFile()
    await using fixture = await dashboardFixture({ served: await filledScheduler({ jobStore }) })
    breakTrigger(filename, 'daily', "trigger_type = 'BLOB'")
    const { page, errors } = await openDashboard(browser(), fixture.address, '/triggers')
    // Others in the list have its name in theirs.
    const row = page.getByRole('row').filter({ hasText: 'Not readable here' })
    await row.first().waitFor()
    expect(await row.count()).toBe(1)
    expect(await row.first().textContent()).toContain('daily')
    expect(await row.getByText('Waiting').count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })
})

inBrowser('the page on which something is edited that cannot be read, or is gone', (browser) => {
  test.each([
    ['triggers', 'Edit trigger', 'Triggers', 'reports/daily'],
    ['jobs', 'Edit job', 'Jobs', 'reports/gone'],
  ])('says of %s what it is about, and leads back', async (place, heading, list, name) => {
    const { jobStore, filename } = storeOnFile()
    await using fixture = await dashboardFixture({ served: await filledScheduler({ jobStore }) })
    breakTrigger(filename, 'daily', "trigger_state = 'WEIRD'")
    const { page } = await openDashboard(browser(), fixture.address, `/${place}/${name}/edit`)
    await page.locator('main [role=alert]').waitFor()
    await page.getByRole('heading', { name: heading }).waitFor()
    expect(await page.evaluate('document.title')).toContain(heading)
    await page.locator('main').getByRole('link', { name: list, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL(new RegExp(`/${place}/${name}$`))
    await page.close()
  })
})

inBrowser('a calendar that cannot be read', (browser) => {
  test('is listed beside the others, and can be deleted', async () => {
    const { jobStore, filename } = storeOnFile()
    const scheduler = await filledScheduler({ jobStore })
    const calendar = new HolidayCalendar({ timeZone: 'UTC', excludedDates: ['2199-12-25'] })
    for (const name of ['bad', 'good']) await scheduler.addCalendar(name, calendar)
    const database = new Database(filename)
    database.exec("UPDATE qrtz_calendars SET calendar = CAST('{}' AS BLOB) WHERE calendar_name = 'bad'")
    database.close()
    await using fixture = await dashboardFixture({ served: scheduler })
    const { page } = await openDashboard(browser(), fixture.address, '/calendars')
    await seen(page, 'good')
    await seen(page, 'bad')
    await picture(page, 'unreadable-calendar')
    await page.getByRole('link', { name: 'bad', exact: true }).first().click()
    await seen(page, 'cannot be read')
    await picture(page, 'unreadable-calendar-page')
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('bad')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.goto(`${fixture.address}/calendars`)
    await seen(page, 'good')
    expect(await page.getByRole('link', { name: 'bad', exact: true }).count()).toBe(0)
    expect(await scheduler.getCalendarNames()).not.toContain('bad')
    await page.close()
  })
})
