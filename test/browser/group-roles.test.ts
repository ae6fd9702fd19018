import { expect, onTestFinished, test } from 'vitest'
import { GroupMatcher } from '../../src/core/matcher.ts'
import { breakTrigger, storeOnFile } from '../support/broken-trigger.ts'
import { inBrowser, inDashboard } from '../support/browser-suite.ts'
import { dashboardFixture, openDashboard, seen } from '../support/dashboard-fixture.ts'
import { filledScheduler } from '../support/server-fixture.ts'

inBrowser('the overview of somebody with a role on one group alone', (browser) => {
  /** The group `reports` has one trigger, `daily`. */
  async function openOverview(isStarted = true) {
    const { jobStore, filename } = storeOnFile()
    const scheduler = await filledScheduler({ jobStore })
    const fixture = await dashboardFixture({ served: scheduler })
    onTestFinished(() => fixture[Symbol.asyncDispose]())
    if (isStarted) await scheduler.start()
    const { page, errors } = await openDashboard(browser(), fixture.address, '/', { who: 'reports' })
    onTestFinished(async () => {
      await page.close()
      expect(errors).toEqual([])
    })
    return { scheduler, filename, page }
  }

  test('shows what fires next of that group, and says that all is well while it is', async () => {
    const { page } = await openOverview()
    await seen(page, 'All is well')
    await page.getByRole('link', { name: 'reports/daily' }).first().waitFor()
    expect(await page.getByRole('link', { name: 'mail/hourly' }).count()).toBe(0)
  })

  test('says when a trigger is in error', async () => {
    const { filename, page } = await openOverview()
    await seen(page, 'All is well')
    breakTrigger(filename, 'daily', "trigger_state = 'ERROR'")
    await seen(page, 'One trigger is in error and does not fire.')
    await page.locator('.verdict.bad').getByText('One thing needs a look').waitFor()
  })

  test('says when every trigger of that group is paused', async () => {
    const { scheduler, page } = await openOverview()
    await seen(page, 'All is well')
    await scheduler.pauseJobs(GroupMatcher.groupEquals('reports'))
    await seen(page, 'Every trigger is paused: nothing fires.')
    await page.locator('.verdict.warn').getByText('One thing needs a look').waitFor()
  })

  test('says when a trigger is overdue', async () => {
    const { filename, page } = await openOverview(false)
    await seen(page, 'One thing needs a look')
    breakTrigger(filename, 'daily', 'next_fire_time = 1000')
    await seen(page, 'One trigger has been due for more than a minute.')
    await page.locator('.verdict.bad').getByText('2 things need a look').waitFor()
  })
})

inDashboard('pages of those who may not', (browser, fixture) => {
  test.each(['/users', '/groups'])('wait for no rows where they were refused: %s', async (path) => {
    const { page } = await openDashboard(browser(), fixture().address, path, { who: 'reports' })
    await seen(page, 'This could not be loaded')
    expect(await page.locator('table').count()).toBe(0)
    await page.close()
  })

  test.each(['/jobs/reports/daily/edit', '/triggers/reports/daily/edit'])(
    'save nothing: %s',
    async (path) => {
      const { page, errors } = await openDashboard(browser(), fixture().address, path, { who: 'viewer' })
      await seen(page, 'You may look at this and not change it: saving needs a higher role.')
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
      expect(errors).toEqual([])
      await page.close()
    },
  )
})
