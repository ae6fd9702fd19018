import { expect, test } from 'vitest'
import { triggerKey } from '../../src/core/key.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { HolidayCalendar } from '../../src/triggers/calendars/holiday-calendar.ts'
import { inDashboard } from '../support/browser-suite.ts'
import { openDashboard, picture } from '../support/dashboard-fixture.ts'
import { addPlainJob } from '../support/server-fixture.ts'

inDashboard('a name with control characters', (browser, fixture) => {
  test('is shown with signs, and its job is deleted by the name that is shown', async () => {
    const { scheduler } = fixture()
    const odd = await addPlainJob(scheduler, 'echo', 'one\ntwo', 'odd')
    await addPlainJob(scheduler, 'echo', 'a\u202Egpj.exe', 'odd')
    const { page, errors } = await openDashboard(browser(), fixture().address, '/jobs?search=o')
    await page.getByRole('link', { name: 'odd/a\uFFFDgpj.exe' }).waitFor()
    await picture(page, 'control-characters')
    await page.getByRole('link', { name: 'odd/one\u240Atwo' }).click()
    await page.getByRole('heading', { name: 'odd/one\u240Atwo' }).waitFor()
    expect(await page.evaluate('document.title')).toContain('odd/one\u240Atwo')
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type one\u240Atwo to confirm').fill('one two')
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Type one\u240Atwo to confirm').fill('one\u240Atwo')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Jobs' }).waitFor()
    expect(await scheduler.checkExists(odd)).toBe(false)
    expect(errors).toEqual([])
    await page.close()
  })

  test('or with spaces at its ends confirms without them, as a page shows it', async () => {
    const { scheduler } = fixture()
    const odd = await addPlainJob(scheduler, 'echo', ' lead  and trail ', 'odd')
    const address = `/jobs/odd/${encodeURIComponent(' lead  and trail ')}`
    const { page, errors } = await openDashboard(browser(), fixture().address, address)
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    const typed = dialog.getByLabel('Type lead and trail to confirm')
    await typed.fill('lead and trai')
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await typed.fill('lead and trail')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Jobs' }).waitFor()
    expect(await scheduler.checkExists(odd)).toBe(false)
    expect(errors).toEqual([])
    await page.close()
  })

  test('is shown with signs among calendars and groups, too', async () => {
    const { scheduler } = fixture()
    await scheduler.addCalendar('b\u202Edne', new HolidayCalendar({ timeZone: 'UTC', excludedDates: [] }))
    await addPlainJob(scheduler, 'echo', 'plain', 'c\u202Edne')
    const { page, errors } = await openDashboard(browser(), fixture().address, '/calendars')
    await page.getByRole('link', { name: 'b\uFFFDdne' }).click()
    await page.getByRole('heading', { name: 'b\uFFFDdne' }).waitFor()
    await page.goto(`${fixture().address}/groups`)
    await page.getByRole('link', { name: 'c\uFFFDdne' }).waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('or a description and data with them are shown with signs, too', async () => {
    const { scheduler } = fixture()
    const text = 'pays\u202E001'
    const job = JobBuilder.newJob('echo').withIdentity('pay', 'odd').withDescription(text)
    await scheduler.addJob(job.usingJobData({ amount: text }).storeDurably().build())
    const { page, errors } = await openDashboard(browser(), fixture().address, '/jobs?search=pay')
    await page.getByText('pays\uFFFD001', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'odd/pay' }).click()
    await page.getByText('pays\uFFFD001', { exact: true }).waitFor()
    await page.getByText('"amount": "pays\uFFFD001"').waitFor()
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Description').waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe(text)
    expect(errors).toEqual([])
    await page.close()
  })

  test('as any other trigger says how often it fired or missed a fire', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    await page.getByText('Fired or missed', { exact: true }).waitFor()
    expect((await fixture().scheduler.getTrigger(triggerKey('hourly', 'mail')))?.timesTriggered).toBe(0)
    await page.close()
  })
})
