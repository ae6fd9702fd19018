import { expect, test } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { inDashboard } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { heldUp, openDashboard, picture, seen } from '../support/dashboard-fixture.ts'
import { addPlainJob } from '../support/server-fixture.ts'
import { TcpProxy } from '../support/tcp-proxy.ts'

/** What a proxy that wants to know who is there gives in place of an answer. */
const loginOfProxy = { status: 200, contentType: 'text/html', body: '<html>Sign in</html>' }
/** What a proxy gives that waited for the server too long, and what the server gives that lost its database. */
const proxyGaveUp = { status: 504, contentType: 'text/html', body: '<html>Gateway Time-out</html>' }
const proxyLostIt = { status: 503, contentType: 'text/html', body: '<html>Service Unavailable</html>' }
const databaseLost = {
  status: 503,
  contentType: 'application/problem+json',
  body: JSON.stringify({ status: 503, code: 'ERR_COMMIT_UNKNOWN', detail: 'Lost.' }),
}
const refusal = {
  status: 500,
  contentType: 'application/problem+json',
  body: JSON.stringify({ status: 500, detail: 'The server failed. Its log has the error.' }),
}
const cutOff = { status: 200, contentType: 'application/json', body: '{"items":[' }

const askToPause = async (page: BrowserPage): Promise<void> => {
  await page.locator('main').getByRole('button', { name: 'Pause', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
}

inDashboard('a page without the answer of its server', (browser, fixture) => {
  test.each([
    ['a page of HTML', loginOfProxy, 'Something between this page and the server answered in its place'],
    ['half of one', cutOff, 'it may have been done all the same'],
    ['one of a proxy that gave up', proxyGaveUp, 'it may have been done all the same'],
    ['one of a proxy that lost it', proxyLostIt, 'it may have been done all the same'],
    ['one about a lost database', databaseLost, 'it may have been done all the same'],
  ])('does not take %s for one', async (_, answer, says) => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    await page.route(/\/mail\/hourly\/pause$/, (route) => route.fulfill(answer))
    await askToPause(page)
    await page.getByRole('dialog').getByText(says).waitFor()
    expect(await page.getByText('mail/hourly is paused.').count()).toBe(0)
    await picture(page, 'lost-answer')
    await page.route(/\/api\/jobs\?/, (route) => route.fulfill(answer))
    await page.goto(`${fixture().address}/jobs`)
    await seen(page, 'This could not be loaded')
    expect(await fixture().scheduler.getTriggerState(new TriggerKey('hourly', 'mail'))).toBe('NORMAL')
    expect(errors).toEqual([])
    await page.close()
  })

  test('lives through HTML in place of its session, and goes on by itself', async () => {
    await using proxy = await TcpProxy.startFor(fixture().address)
    const { page, errors } = await openDashboard(
      browser(),
      proxy.through(fixture().address).replace(/\/$/, ''),
      '/jobs',
    )
    await page.clock.install()
    await page.reload()
    await seen(page, 'Live')
    let askedTimes = 0
    await page.route(/\/api\/session$/, (route) => {
      askedTimes++
      return route.fulfill(loginOfProxy)
    })
    await page.route(/\/api\/events/, (route) => route.fulfill(loginOfProxy), { times: 2 })
    proxy.blackHole()
    await page.clock.fastForward(40_000)
    proxy.heal()
    await seen(page, 'Live')
    await page.getByRole('link', { name: 'mail/hourly' }).waitFor()
    expect(askedTimes).toBeGreaterThan(0)
    expect(errors.filter((text) => !text.includes('MIME type'))).toEqual([])
    await page.close()
  })

  test('is not told about a request that its server did not see in the words of a browser', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    await page.route(/\/mail\/hourly\/pause$/, (route) => route.abort())
    await askToPause(page)
    await seen(page, 'No answer came: it may have been done all the same. Look before you do it again.')
    await page.close()
  })

  test('tells of a failure that comes after its dialog was closed', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers/mail/hourly')
    const answer = await heldUp(page, /\/mail\/hourly\/pause$/, (route) => route.fulfill(refusal))
    await askToPause(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    answer()
    await page.locator('.toast').getByText('The server failed.').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('looks again soon after one look that got no answer', async () => {
    await using proxy = await TcpProxy.startFor(fixture().address)
    const { page } = await openDashboard(
      browser(),
      proxy.through(fixture().address).replace(/\/$/, ''),
      '/jobs',
    )
    await page.clock.install()
    await page.reload()
    await seen(page, 'Live')
    proxy.blackHole()
    await page.clock.fastForward(40_000)
    await page.clock.fastForward(31_000)
    await seen(page, 'The server does not answer')
    proxy.heal()
    await page.getByText('The server does not answer').waitFor({ state: 'detached' })
    await seen(page, 'Live')
    await addPlainJob(fixture().scheduler, 'echo', 'later', 'mail')
    // Before the page looked again, two minutes went by.
    await seen(page, 'mail/later')
    await page.close()
  })

  test('does not take a clock that is set for a slow server, and shows at once what its viewer does', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/jobs/mail/hourly')
    await seen(page, 'Live')
    const looks = /\/api\/jobs\/mail\/hourly$/
    await page.route(
      looks,
      async (route) => {
        await page.evaluate(`(() => {
          const { now } = Date
          Date.now = () => now.call(Date) + 600_000
        })()`)
        await route.continue()
      },
      { times: 1 },
    )
    await page.waitForResponse(looks)
    // The rest is taken after the look that comes next.
    await page.waitForResponse(looks)
    await page.locator('main').getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click()
    await page.locator('main').getByRole('button', { name: 'Resume', exact: true }).waitFor()
    await fixture().scheduler.resumeJob(new JobKey('hourly', 'mail'))
    await page.close()
  })

  test('takes a save that was stored without an answer for its own', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/triggers/mail/monthly/edit')
    await page.getByLabel('Description').fill('the first of each month')
    await storedUnanswered(page, /\/triggers\/mail\/monthly$/, 'PUT /triggers/mail/monthly')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await seen(page, 'mail/monthly is saved.')
    await page.waitForURL(/\/triggers\/mail\/monthly$/)
    await seen(page, 'the first of each month')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  test('follows a bulk action that was begun without an answer', async () => {
    for (const name of ['one', 'two']) await addPlainJob(fixture().scheduler, 'echo', name, 'unanswered')
    const { page, errors } = await openDashboard(browser(), fixture().address, '/jobs?search=unanswered')
    await page.getByRole('link', { name: 'unanswered/two' }).waitFor()
    await storedUnanswered(page, /\/api\/bulk$/, 'POST /bulk')
    await page.getByText('All that are listed').click()
    await page.locator('.menu-list').getByRole('button', { name: 'Run now' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Run now' }).click()
    await dialog.getByText('It is done: 2 were changed.').waitFor()
    expect(await page.getByText('it may have been done all the same').count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  /** Has the server do what is asked, and a proxy answer that it has given up. */
  async function storedUnanswered(page: BrowserPage, address: RegExp, request: string): Promise<void> {
    await page.route(address, async (route) => {
      const asked = route.request()
      if (asked.method() === 'GET') {
        await route.continue()
        return
      }
      const body: unknown = JSON.parse(asked.postData() ?? '')
      expect(await fixture().ask(request, { body })).toMatchObject({ json: { dryRun: false } })
      await route.fulfill(proxyGaveUp)
    })
  }
})
