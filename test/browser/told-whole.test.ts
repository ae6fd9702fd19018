import { expect, test } from 'vitest'
import { inDashboard } from '../support/browser-suite.ts'
import { openDashboard, picture, seen } from '../support/dashboard-fixture.ts'
import { tokens } from '../support/server-fixture.ts'

inDashboard('a page', (browser, fixture) => {
  test('makes a trigger of all that its preview of an expression was about', async () => {
    const path = '/cron?zone=UTC&dst=quartz&calendar=holidays&from=2199-01-05T12:00'
    const { page, errors } = await openDashboard(browser(), fixture().address, path)
    await page.getByRole('link', { name: 'New trigger with it' }).click()
    await page.getByLabel('Name', { exact: true }).waitFor()
    await expect.poll(() => page.getByLabel('Calendar').inputValue()).toBe('holidays')
    expect(await page.getByLabel('At changes of the clock').inputValue()).toBe('quartz')
    expect(await page.getByLabel('Start', { exact: true }).inputValue()).toMatch(/^2199-01-05T12:00/)
    expect(errors).toEqual([])
    await page.close()
  })

  test('says which misfires and which due triggers its timeline leaves out', async () => {
    const { page, errors } = await openDashboard(browser(), fixture().address, '/settings')
    let asked = 0
    const rest = { status: 200, contentType: 'application/json', body: '{"items":[],"next":"more"}' }
    await page.route(/\/api\/misfires\?/, (route) => {
      asked++
      return route.fulfill(rest)
    })
    await page.route(/\/api\/triggers\?.*dueBeforeMs/, (route) => route.fulfill(rest))
    await page.getByRole('link', { name: 'Timeline' }).click()
    await seen(page, 'There are more misfires than are drawn')
    await seen(page, 'More triggers are due than are drawn.')
    expect(asked).toBeGreaterThanOrEqual(3)
    expect(errors).toEqual([])
    await page.close()
  })

  test('gives files of the time that was chosen, and says how much is in them', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/history?within=hour')
    const link = page.getByRole('link', { name: 'CSV, newest 1000' })
    const fromMs = async (): Promise<number> => {
      const address = new URL((await link.getAttribute('href')) ?? '', fixture().address)
      return Number(address.searchParams.get('fromMs'))
    }
    await link.waitFor()
    await picture(page, 'history-csv')
    expect(Date.now() - (await fromMs())).toBeLessThan(2 * 3_600_000)
    await page.goto(`${fixture().address}/audit?within=day`)
    await link.waitFor()
    expect(Date.now() - (await fromMs())).toBeLessThan(2 * 86_400_000)
    await page.close()
  })

  test('says which job there is not, in the words of the server', async () => {
    const { page } = await openDashboard(
      browser(),
      fixture().address,
      '/triggers/new?jobName=repotr&jobGroup=mail',
    )
    await seen(page, /There is no job '.*repotr'/)
    await page.goto(`${fixture().address}/jobs/no/such`)
    await seen(page, "There is no job 'no.such'. It may have been deleted.")
    await page.close()
  })

  test('draws the timeline at the end of all days', async () => {
    const { page, errors } = await openDashboard(
      browser(),
      fixture().address,
      '/timeline?from=9000000000000000',
    )
    await page.getByRole('heading', { name: 'Timeline' }).waitFor()
    expect(await page.getByText('This page failed').count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })

  test('notices who has signed in elsewhere, and keeps what was typed', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/calendars/of/holidays')
    const definition = page.getByRole('textbox', { name: 'Definition' })
    await definition.fill('{ "type": "holiday" ')
    await page.evaluate(`fetch('/api/session', { method: 'DELETE' })`)
    await seen(page, 'Your session has ended')
    await page.evaluate(`fetch('/api/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"token":"${tokens.admin}"}',
    })`)
    await page.getByText('Your session has ended').waitFor({ state: 'detached' })
    expect(await definition.inputValue()).toBe('{ "type": "holiday" ')
    await page.close()
  })

  test('stands still after a sign-in as before, and says so', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/jobs')
    await page.getByRole('button', { name: 'Live' }).click()
    await seen(page, 'Updates paused')
    await page.evaluate(`fetch('/api/session', { method: 'DELETE' })`)
    await page.getByRole('link', { name: 'Triggers' }).click()
    await seen(page, 'Your session has ended')
    await page.getByLabel('Token').fill(tokens.admin)
    await page.keyboard.press('Enter')
    await page.getByText('Your session has ended').waitFor({ state: 'detached' })
    await seen(page, 'Updates paused')
    await page.close()
  })

  test('begins by itself when its server does, with the token of its address', async () => {
    const page = await browser().newPage({ timezoneId: 'UTC' })
    await page.route(/\/api\/session$/, (route) => route.abort(), { times: 2 })
    await page.goto(`${fixture().address}/jobs#token=${tokens.admin}`)
    await seen(page, 'The server does not answer')
    await page.getByRole('link', { name: 'mail/hourly' }).waitFor()
    await page.close()
  })

  test('does not lose a letter that is typed while it searches', async () => {
    const { page } = await openDashboard(browser(), fixture().address, '/jobs')
    await page.locator('main input[type=search]').waitFor()
    const shown = await page.evaluate(`new Promise((resolve) => {
      const input = document.querySelector('main input[type=search]')
      const type = (text) => {
        input.value = text
        input.dispatchEvent(new InputEvent('input', { bubbles: true }))
      }
      const push = history.pushState
      history.pushState = function (...given) {
        push.apply(history, given)
        history.pushState = push
        type('abcd')
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(input.value)))
      }
      type('abc')
    })`)
    expect(shown).toBe('abcd')
    await page.waitForURL(/search=abcd$/)
    await page.close()
  })
})
