import { expect, test } from 'vitest'
import { inBrowser } from '../support/browser-suite.ts'
import { builtPage, dashboardFixture, openDashboard, picture, seen } from '../support/dashboard-fixture.ts'
import { addPlainJob } from '../support/server-fixture.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'
import { unableToCheckIn } from '../support/unable-to-check-in.ts'

inBrowser('an outage', (browser) => {
  test('in which all fails is a success of 0 %, and leads to what failed', async () => {
    await using fixture = await dashboardFixture()
    const { scheduler } = fixture
    await scheduler.start()
    await scheduler.triggerJob(await addPlainJob(scheduler, 'failing', 'bad', 'mail'))
    await scheduler.idle()
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    const tile = (name: string) => page.locator('.tile').filter({ hasText: name })
    await tile('Success')
      .getByText(/^0 ?%$/)
      .waitFor()
    await picture(page, 'outage')
    await tile('Did not succeed').click()
    await page.getByRole('link', { name: 'mail/bad' }).first().waitFor()
    expect(page.url()).toContain('filter=outcome%3Afailed%2CtimedOut%2Clost%2Cinterrupted&within=hour')
    await page.getByRole('link', { name: 'Failures' }).click()
    await page.waitForURL(/filter=outcome%3Afailed%2CtimedOut%2Clost&/)
    await page.getByRole('link', { name: 'mail/bad' }).first().waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('of the writes of a node is a problem, though all that can be read is well', async () => {
    await using fixture = await unableToCheckIn({ dashboard: builtPage })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await seen(page, 'This node cannot write that it is alive.')
    await seen(page, 'Look whether the disk of the database is full')
    expect(await page.getByText('All is well').count()).toBe(0)
    await picture(page, 'not-checking-in')
    fixture.mend()
    await fixture.clock.advance(60_000)
    await seen(page, 'All is well')
    expect(errors).toEqual([])
    await page.close()
  })

  test('says as of when it shows what runs, and counts no longer', async () => {
    await using fixture = await dashboardFixture()
    const { scheduler } = fixture
    const { page } = await openDashboard(browser(), fixture.address, '/running')
    await page.clock.install()
    await page.reload()
    await seen(page, 'Nothing runs at the moment')
    const failed = { status: 503, contentType: 'application/json', body: '{"detail":"The store is away."}' }
    let isAway = true
    await page.route(/\/api\/executing/, (route) => (isAway ? route.fulfill(failed) : route.continue()))
    await seen(page, /Known as of \d\d:\d\d:\d\d\./)
    expect(await page.getByText('Nothing runs at the moment').count()).toBe(0)
    await picture(page, 'running-unknown')
    isAway = false
    await scheduler.start()
    await scheduler.triggerJob(await addPlainJob(scheduler, 'waiting', 'slow', 'mail'))
    await page.getByRole('link', { name: 'mail/slow' }).waitFor()
    isAway = true
    await seen(page, /Known as of/)
    const took = page.locator('td[data-label="Took"]')
    const before = await took.textContent()
    await page.clock.fastForward(30_000)
    expect(await took.textContent()).toBe(before)
    await page.close()
  })

  test('of a server that stands still is seen before the browser gives up', async () => {
    await using fixture = await dashboardFixture()
    await fixture.scheduler.start()
    await using proxy = await TcpProxy.startFor(fixture.address)
    const { page } = await openDashboard(browser(), proxy.through(fixture.address).replace(/\/$/, ''), '/')
    await page.clock.install()
    await page.reload()
    await seen(page, 'Live')
    await seen(page, 'All is well')
    proxy.blackHole()
    await page.clock.fastForward(21_000)
    await seen(page, 'How the scheduler is now is not known')
    await seen(page, 'Reconnecting')
    proxy.heal()
    await page.close()
  })

  test('of logs, misfires and items is no log, no misfire and no item that is not there', async () => {
    await using fixture = await dashboardFixture()
    const { scheduler } = fixture
    await scheduler.start()
    const ended = scheduler.events.next('jobWasExecuted')
    await scheduler.triggerJob(await addPlainJob(scheduler, 'echo', 'good', 'mail'))
    const { fireInstanceId } = (await ended).context
    await scheduler.idle()
    const { page, errors } = await openDashboard(browser(), fixture.address, '/settings')
    const failed = { status: 500, contentType: 'application/json', body: '{"detail":"The store is away."}' }
    await page.route(/\/api\/(executions\/[^/]+\/log|executions|misfires)\?/, (route) =>
      route.fulfill(failed),
    )
    await page.goto(`${fixture.address}/history/${encodeURIComponent(fireInstanceId)}`)
    const panel = (name: string) => page.getByRole('region', { name, exact: true })
    await panel('Log').getByText('The store is away.').waitFor()
    expect(await page.getByText('The job has logged nothing.').count()).toBe(0)
    await page.locator('.panel').filter({ hasText: 'Items' }).getByText('The store is away.').waitFor()
    await picture(page, 'unknown-log')
    await page.goto(`${fixture.address}/triggers/mail/hourly`)
    await page.locator('.panel').filter({ hasText: /issed/ }).getByText('The store is away.').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })
})
