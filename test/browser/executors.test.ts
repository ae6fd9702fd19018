import { afterAll, beforeAll, expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { createServer } from '../../src/server/create-server.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { inBrowserOnEngines } from '../support/dashboard-engines.ts'
import {
  builtPage,
  type DashboardFixture,
  dashboardFixture,
  heldUp,
  openDashboard,
  seen,
} from '../support/dashboard-fixture.ts'
import { latch } from '../support/latch.ts'
import { findingsInBothThemes, lookRight, type PageCase, settled } from '../support/page-looks.ts'
import { auth } from '../support/server-fixture.ts'
import { type XxlJobShop, xxlJobShop } from '../support/xxl-job-shop.ts'

/** Counts in the page what it asks of executors; `heard` is there when the page has been told of an event. */
const listening = `
  window.asked = 0
  const ask = window.fetch
  window.fetch = (address, ...rest) => {
    if (String(address).includes('/api/xxl-job/')) window.asked++
    return ask(address, ...rest)
  }
  const Source = window.EventSource
  window.heard = new Promise((resolve) => {
    window.EventSource = class extends Source {
      constructor(address) {
        super(address)
        this.addEventListener('message', resolve)
      }
    }
  })
`

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

  test('the source of a script is shown as text', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/executors', { who: 'viewer' })
    await page.getByRole('button', { name: 'Show the source: script' }).click()
    await page.getByText('echo "<b>done</b>"').waitFor()
    expect(await findingsInBothThemes(page, 'executors-source')).toEqual([])
    expect(await page.getByRole('button', { name: /^Run now/ }).count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  test('what is asked and shown of them is right in Chinese', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/executors', {
      locale: 'zh-CN',
    })
    for (const [name, button] of [
      ['run', '立即运行: reports/slow'],
      ['source', '查看源码: script'],
    ] as const) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor()
      expect(await findingsInBothThemes(page, `executors-${name}-zh`)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect(errors).toEqual([])
    await page.close()
  })

  test('a server without an admin says how to give it one', async () => {
    const alone = await dashboardFixture()
    const { page, errors } = await openDashboard(browser(), alone.address, '/executors')
    await settled(page, 'createXxlJobAdmin')
    expect(await findingsInBothThemes(page, 'executors-none')).toEqual([])
    expect(errors).toEqual([])
    await page.close()
    await alone[Symbol.asyncDispose]()
  })

  test('a server without an admin is not asked for it again before it has been started anew', async () => {
    await using served = await xxlJobShop()
    await served.scheduler.start()
    const options = { auth, logger: false, dashboard: builtPage, sessionSecret: 's'.repeat(32) } as const
    const first = await createServer({ scheduler: served.scheduler, ...options })
    const address = await first.listen({ port: 0 })
    const { page } = await openDashboard(browser(), address, '/settings')
    await page.addInitScript(listening)
    await page.clock.install()
    await page.goto(`${address}/executors`)
    await seen(page, 'createXxlJobAdmin')
    await seen(page, 'Live')
    const before = Number(await page.evaluate('asked'))
    await served.scheduler.triggerJob(new JobKey('invoices', 'reports'))
    await page.evaluate('heard')
    // Longer than a page goes without asking, and shorter than it waits for its stream.
    await page.clock.fastForward(6000)
    expect(await page.evaluate('asked')).toBe(before)
    await first.close()
    await seen(page, 'Reconnecting')
    await using second = await createServer({
      scheduler: served.scheduler,
      xxlJob: served.admin,
      ...options,
    })
    await second.listen({ port: Number(new URL(address).port) })
    await seen(page, 'mail-executor')
    await page.close()
  })

  test('a page is loaded anew after a stream that does not go on, whatever the answer of before says', async () => {
    await using shop = await xxlJobShop()
    await shop.scheduler.start()
    await using fixture = await dashboardFixture({ served: shop.scheduler, xxlJob: shop.admin })
    const { page } = await openDashboard(browser(), fixture.address, '/settings')
    const asked = new Set<string>()
    const begin = await heldUp(page, /\/api\/events/)
    const { promise: answered, open: answer } = latch()
    // The server of before has no admin, and answers after the stream of the next one has begun.
    await page.route(/\/api\/xxl-job\//, async (route) => {
      const { pathname } = new URL(route.request().url())
      if (asked.has(pathname)) return route.continue()
      asked.add(pathname)
      begin()
      await answered
      const json = {
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        code: 'ERR_NOT_FOUND',
        detail: 'None.',
      }
      return route.fulfill({
        status: 404,
        contentType: 'application/problem+json',
        body: JSON.stringify(json),
      })
    })
    await page.goto(`${fixture.address}/executors`)
    await seen(page, 'Live')
    answer()
    await seen(page, 'mail-executor')
    await page.close()
  })
})

inBrowserOnEngines('a job of XXL-JOB', (browser, newStore) => {
  test('is run once on the executor that is chosen, and its log is read from there', async () => {
    await using opened = await newStore()
    await using shop = await xxlJobShop(opened.store)
    await using fixture = await dashboardFixture({ served: shop.scheduler, xxlJob: shop.admin })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/executors', {
      who: 'operator',
    })
    await page.getByRole('button', { name: 'Run now: reports/slow' }).click()
    await page.getByLabel('Parameter').fill('June')
    await page.getByLabel('Address').selectOption(shop.address)
    expect(await findingsInBothThemes(page, 'executors-run')).toEqual([])
    const sent = shop.admin.events.next('runSent')
    await page.getByRole('button', { name: 'Run now', exact: true }).click()
    await page.getByText('reports/slow was started.').waitFor()
    expect((await sent).address).toBe(shop.address)
    const [running] = await shop.scheduler.cluster.executingJobs()
    await page.goto(`${fixture.address}/history/${running?.fireInstanceId}`)
    await page.getByText('it began').waitFor()
    expect(await findingsInBothThemes(page, 'executor-log')).toEqual([])
    shop.release()
    await page.getByText('it was released').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })
})
