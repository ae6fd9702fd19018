import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { busyScheduler } from '../support/dashboard-data.ts'
import { inBrowserOnEngines } from '../support/dashboard-engines.ts'
import { axeFindings, dashboardFixture, openDashboard, picture } from '../support/dashboard-fixture.ts'

inBrowserOnEngines('a sharded job', (browser, newStore) => {
  test('shows its items with owner and state, turns them off and on, and leads to what ran', async () => {
    await using opened = await newStore()
    const scheduler = await busyScheduler(opened.store)
    const key = new JobKey('parts', 'mail')
    await scheduler.addJob(
      JobBuilder.newJob('waiting')
        .withIdentity(key)
        .storeDurably()
        .withSharding({ items: 3, parameters: { 2: 'south' } })
        .build(),
    )
    await using fixture = await dashboardFixture({ served: scheduler })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/jobs/mail/parts')
    const row = (text: string) => page.getByRole('row').filter({ hasText: text })
    await page.getByRole('button', { name: 'Leave out: 1' }).click()
    await page.getByText('Item 1 is left out from the next firing on.').waitFor()
    await row('Left out').waitFor()
    expect((await scheduler.getShards(key))?.disabledItems).toEqual([1])

    await scheduler.triggerJob(key)
    await page.getByText('2 of 3 items are open').waitFor()
    await row('south').filter({ hasText: 'n1' }).filter({ hasText: 'Running' }).waitFor()
    await picture(page, 'job-sharded')
    expect(await axeFindings(page)).toEqual([])
    await page.goto(`${fixture.address}/running`)
    await page.getByText('Item 2 of 3').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Run again: 1' }).click()
    await page.getByText('Item 1 runs from the next firing on.').waitFor()

    const done = scheduler.events.next('allShardsDone')
    await scheduler.interrupt(key)
    const { firing } = await done
    await page.getByText('No firing is open').first().waitFor()
    await page.goto(`${fixture.address}/history/${firing.fireInstanceId}`)
    await page.getByText('Items of this firing').first().waitFor()
    // The items have said with what they began, and not the firing.
    await page.getByText('The store does not remember it.').waitFor()
    await page.locator('td[data-label="Item"]').getByText('2', { exact: true }).waitFor()
    await page.getByRole('row').filter({ hasText: 'n1' }).getByRole('link').first().click()
    await page.getByRole('link', { name: 'All items of the firing' }).click()
    await page.waitForURL(/filter=firing/)
    await page.locator('tbody').getByText('Succeeded').first().waitFor()
    expect(errors).toEqual([])
    await page.close()
  })
})
