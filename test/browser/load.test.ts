import { expect, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { lookedAtMax } from '../../src/server/execution-stats.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { axeFindings, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { runMany } from '../support/run-many.ts'

inBrowser('how much there is', (browser) => {
  test('in a minute is beside the fire times of an expression and of a trigger that is edited', async () => {
    await using fixture = await dashboardFixture()
    const expression = encodeURIComponent('0 0/30 * * * ?')
    const path = `/cron?expression=${expression}&zone=UTC&from=2199-01-05T06:45`
    const { page, errors } = await openDashboard(browser(), fixture.address, path)
    const others = page.locator('td[data-label="Others in that minute"]')
    // From 5:45 in UTC: at six o'clock two jobs of each hour fire, at half past six nothing does.
    await others.nth(0).getByText('2', { exact: true }).waitFor()
    await others.nth(1).getByText('0', { exact: true }).waitFor()
    const first = await others.nth(0).locator('span').getAttribute('title')
    expect(first).toMatch(/^Such as (?=.*mail\/daytime)(?=.*mail\/hourly)/)
    expect(await axeFindings(page)).toEqual([])

    await page.goto(`${fixture.address}/triggers/mail/hourly/edit`)
    await page.getByText('2 others in that minute').first().waitFor()
    await page.getByText('1 other in that minute').first().waitFor()
    expect(await axeFindings(page)).toEqual([])
    expect(errors).toEqual([])
    await page.close()
  })
  test('the numbers of a busy scheduler say from when they count', async () => {
    await using fixture = await dashboardFixture()
    const { scheduler } = fixture
    await scheduler.start()
    await runMany(scheduler, new JobKey('daily', 'reports'), lookedAtMax + 1)
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await page.getByText(/^Executions since \d\d:\d\d:\d\d$/).waitFor()
    const notes = await page.locator('.tile-note').allInnerTexts()
    expect(notes.filter((note) => note.startsWith('since ') && note !== 'since its start')).toHaveLength(5)
    expect(notes).not.toContain('last hour')
    expect(errors).toEqual([])
    await page.close()
  })
})
