import { afterAll, beforeAll, expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { inBrowser } from '../support/browser-suite.ts'
import {
  axeFindings,
  type DashboardFixture,
  dashboardFixture,
  openDashboard,
  picture,
} from '../support/dashboard-fixture.ts'
import { lookRight, type PageCase, settled } from '../support/page-looks.ts'
import { type XxlJobShop, xxlJobShop } from '../support/xxl-job-shop.ts'

const pages: readonly PageCase[] = [['executors', '/executors', 'mail-executor']]

inBrowser('executors of XXL-JOB', (browser) => {
  let shop: XxlJobShop
  let fixture: DashboardFixture
  beforeAll(async () => {
    shop = await xxlJobShop()
    fixture = await dashboardFixture({ served: shop.scheduler, xxlJob: shop.admin })
    const done = shop.scheduler.events.next('jobWasExecuted')
    await shop.scheduler.triggerJob(new JobKey('invoices', 'reports'))
    await done
    await shop.scheduler.idle()
  })
  afterAll(async () => {
    await fixture.server.close()
    await shop[Symbol.asyncDispose]()
  })

  lookRight(pages, browser, () => fixture.address)

  test('a job is run once on the executor that is chosen, and its log is read from there', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/executors', {
      who: 'operator',
    })
    await page.getByRole('button', { name: 'Run now: reports/slow' }).click()
    await page.getByLabel('Parameter').fill('June')
    await page.getByLabel('Address').selectOption(shop.address)
    const sent = shop.admin.events.next('runSent')
    await page.getByRole('button', { name: 'Run now', exact: true }).click()
    await page.getByText('reports/slow was started.').waitFor()
    expect((await sent).address).toBe(shop.address)
    const [running] = await shop.scheduler.cluster.executingJobs()
    await page.goto(`${fixture.address}/history/${running?.fireInstanceId}`)
    await page.getByText('it began').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'executor-log')
    shop.release()
    await page.getByText('it was released').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('the source of a script is shown as text', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/executors', { who: 'viewer' })
    await page.getByRole('button', { name: 'Show the source: script' }).click()
    await page.getByText('echo "<b>done</b>"').waitFor()
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'executors-source')
    expect(await page.getByRole('button', { name: /^Run now/ }).count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  test('a server without an admin says how to give it one', async () => {
    const alone = await dashboardFixture()
    const { page, errors } = await openDashboard(browser(), alone.address, '/executors')
    await settled(page, 'createXxlJobAdmin')
    expect(await axeFindings(page)).toEqual([])
    await picture(page, 'executors-none')
    expect(errors).toEqual([])
    await page.close()
    await alone[Symbol.asyncDispose]()
  })
})
