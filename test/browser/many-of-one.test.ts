import { expect, test } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { dashboardFixture, openDashboard, picture, seen } from '../support/dashboard-fixture.ts'
import { addPlainJob, filledScheduler } from '../support/server-fixture.ts'

inBrowser('a page about many', (browser) => {
  test('triggers of one job shows them by pages, with what can be done to all', async () => {
    const served = await filledScheduler()
    for (let count = 1; count <= 60; count++) {
      const trigger = TriggerBuilder.newTrigger()
        .withIdentity(`customer-${String(count).padStart(2, '0')}`, 'mail')
        .forJob(new JobKey('hourly', 'mail'))
        .startAt(new Date(Date.UTC(2199, 0, 1)))
      await served.scheduleJob(trigger.build())
    }
    // On the second page.
    await served.pauseTrigger(new TriggerKey('customer-60', 'mail'))
    await using fixture = await dashboardFixture({ served })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/mail/hourly')
    const rows = page.getByRole('link', { name: /^mail\/customer-/ })
    await rows.first().waitFor()
    expect(await rows.count()).toBe(50)
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await seen(page, 'all of its many triggers')
    await page.keyboard.press('Escape')
    await picture(page, 'job-of-many')
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'mail/customer-60' }).waitFor()
    expect(await rows.count()).toBe(10)
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('jobs that fail shows those that failed most often, and says how many there are', async () => {
    const served = await filledScheduler()
    const keys: JobKey[] = []
    for (let count = 1; count <= 8; count++) {
      keys.push(await addPlainJob(served, 'failing', `job-${count}`, 'broken'))
    }
    await served.start()
    for (let time = 0; time < 3; time++) for (const key of keys) await served.triggerJob(key)
    await served.triggerJob(new JobKey('job-8', 'broken'))
    await served.idle()
    await using fixture = await dashboardFixture({ served })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await seen(page, '8 things need a look')
    await seen(page, '3 more jobs fail as well.')
    const first = page.locator('.problems li').first()
    expect(await first.innerText()).toContain('broken/job-8 has failed 4 times in a row')
    await picture(page, 'many-failing')
    await served.deleteJob(new JobKey('job-8', 'broken'))
    await seen(page, '7 things need a look')
    await page
      .locator('.problems li')
      .filter({ hasText: 'more jobs fail' })
      .getByRole('link', { name: 'Show' })
      .click()
    await page.waitForURL(/history\?filter=outcome%3Afailed/)
    expect(errors).toEqual([])
    await page.close()
  })
})
