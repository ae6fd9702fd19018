import { expect, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import { inDashboard } from '../support/browser-suite.ts'
import { openDashboard, picture } from '../support/dashboard-fixture.ts'

const problem = 'This is not whole. Write the rest, or empty the field.'

inDashboard('a date or a number that is half typed', (browser, fixture) => {
  test('is not taken for a pause without an end', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    await page.locator('main').getByRole('button', { name: 'Pause', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const pause = dialog.getByRole('button', { name: 'Pause', exact: true })
    await dialog.getByLabel('Until').press('1')
    await page.keyboard.type('2312199')
    await dialog.getByLabel('Reason').fill('the date comes first')
    await dialog.getByText(problem).waitFor()
    expect(await pause.isDisabled()).toBe(true)
    await picture(page, 'half-typed')
    await dialog.getByLabel('Until').fill('2019-12-31T10:00')
    await dialog.getByText('This time has passed.').waitFor()
    expect(await pause.isDisabled()).toBe(true)
    await dialog.getByLabel('Until').fill('2199-12-31T10:00')
    await dialog.getByText(problem).waitFor({ state: 'detached' })
    await pause.click()
    await page.getByText('is paused.').waitFor()
    expect(await fixture().scheduler.getTriggerState(new TriggerKey('hourly', 'mail'))).toBe('PAUSED')
    const { json } = await fixture().ask('GET /triggers/mail/hourly')
    expect(json).toMatchObject({ pause: { untilMs: Date.UTC(2199, 11, 31, 9) } })
    await fixture().scheduler.resumeTrigger(new TriggerKey('hourly', 'mail'))
    await page.close()
  })

  test('is not the only thing that is no time limit', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/jobs/mail/hourly/edit')
    const save = page.getByRole('button', { name: 'Save' })
    const field = page.getByLabel('Time limit in milliseconds', { exact: true })
    await field.fill('-5')
    await page.getByText('A time limit is 1 or more.').waitFor()
    expect(await save.isDisabled()).toBe(true)
    await field.fill('5')
    await page.getByText('A time limit is 1 or more.').waitFor({ state: 'detached' })
    expect(await save.isDisabled()).toBe(false)
    await page.close()
  })

  test('is what an emptied start of a stored trigger is not: it stays as it is stored', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly/edit')
    await page.getByLabel('Start', { exact: true }).fill('')
    await page.getByText('Empty: as it is stored.').waitFor()
    await page.getByText('Nothing changes.').waitFor()
    await page.close()
  })

  test.each([
    ['/triggers/mail/hourly/edit', 'End', '3112'],
    ['/jobs/mail/hourly/edit', 'Time limit in milliseconds', '1e'],
  ])('is not stored as none: %s', async (path, label, typed) => {
    const { page } = await openDashboard(browser(), fixture().address, path)
    const save = page.getByRole('button', { name: 'Save' })
    const field = page.getByLabel(label, { exact: true })
    expect(await save.isDisabled()).toBe(false)
    await field.press(typed.charAt(0))
    await page.keyboard.type(typed.slice(1))
    await page.getByLabel('Description').press('Tab')
    await page.getByText(problem).waitFor()
    expect(await save.isDisabled()).toBe(true)
    await field.fill('')
    await page.getByText(problem).waitFor({ state: 'detached' })
    expect(await save.isDisabled()).toBe(false)
    await page.close()
  })
})
