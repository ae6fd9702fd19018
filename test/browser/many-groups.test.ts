import { expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { dashboardFixture, openDashboard, picture } from '../support/dashboard-fixture.ts'

const customers = 600

/** A group of jobs for each customer. */
async function manyGroups(): Promise<Scheduler> {
  const bill = defineJob('bill', () => {})
  const scheduler = await createScheduler({ logger: false, jobs: [bill] })
  for (let customer = 0; customer < customers; customer++) {
    const group = `customer-${String(customer).padStart(3, '0')}`
    await scheduler.addJob(JobBuilder.newJob(bill).withIdentity('bill', group).storeDurably().build())
  }
  return scheduler
}

inBrowser('a page of very many groups', (browser) => {
  test('shows some at a time, and those of a name', async () => {
    await using fixture = await dashboardFixture({ served: await manyGroups() })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/groups')
    const jobs = page.getByRole('region', { name: 'Groups of jobs' })
    const rows = jobs.locator('tbody tr')
    await jobs.getByText('250 of 600').waitFor()
    expect(await rows.count()).toBe(250)
    await picture(page, 'many-groups')
    const more = jobs.getByRole('button', { name: 'Show more' })
    await more.click()
    await jobs.getByText('500 of 600').waitFor()
    await more.click()
    await more.waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(customers)

    await page.getByLabel('Part of a name').fill('Customer-59')
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(10)
    await page.getByLabel('Part of a name').fill('of none')
    await jobs.getByText('No such group').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })
})
