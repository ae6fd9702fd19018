import { expect, test } from 'vitest'
import { alertsPlugin } from '../../src/alerts.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { inBrowserOnEngines } from '../support/dashboard-engines.ts'
import { dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { findingsInBothThemes } from '../support/page-looks.ts'

const disk = {
  name: 'disk',
  description: 'The disk of the archive is full.',
  check: async () => [{ subject: 'archive', message: 'The disk of the archive is full.' }],
}

const recorded = { name: 'recorded', send: async () => undefined }

/** What of the rows stands beyond its row, or makes the page wider than the window. */
const sticksOut = `[
  ...[...document.querySelectorAll('.problems li')].flatMap((row) => {
    const end = row.getBoundingClientRect().right
    return [...row.querySelectorAll('*')].filter((part) => part.getBoundingClientRect().right > end + 0.5)
  }),
  ...(document.documentElement.scrollWidth > innerWidth ? [document.documentElement] : []),
].map((part) => part.tagName + ' ' + part.textContent.slice(0, 40))`

inBrowserOnEngines('alerts', (browser, newStore) => {
  test('are seen on the overview, silenced with a reason, and sent as a test', async () => {
    const alerts = alertsPlugin({
      checkMs: 1000,
      rules: [disk],
      channels: [recorded, { name: 'broken', send: () => Promise.reject(new Error('closed')) }],
    })
    await using opened = await newStore()
    const served = await createScheduler({ logger: false, plugins: [alerts], jobStore: opened.store })
    await served.start()
    await using fixture = await dashboardFixture({ served, alerts })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await page.getByText('One alert is active').waitFor()
    await page.getByText('Not sent yet', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Silence', exact: true }).isDisabled()).toBe(true)
    await dialog.getByLabel('For how long').selectOption('day')
    await dialog.getByLabel('Reason', { exact: true }).fill('a new disk comes tomorrow')
    expect(await findingsInBothThemes(page, 'silence')).toEqual([])
    await dialog.getByRole('button', { name: 'Silence', exact: true }).click()
    await page.getByText('a new disk comes tomorrow').waitFor()
    await page.locator('.verdict.warn').waitFor()
    expect(await alerts.silences()).toMatchObject([{ rule: 'disk', subject: 'archive', by: 'admin' }])
    expect(await findingsInBothThemes(page, 'overview-alerts')).toEqual([])
    await page.getByRole('button', { name: 'End the silence' }).click()
    await page.getByText('a new disk comes tomorrow').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('broken: closed').waitFor()
    await page.getByText('The test was sent over one channel.').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })
})

inBrowser('alerts', (browser) => {
  test('that no channel could send are not called sent', async () => {
    const broken = { name: 'broken', send: () => Promise.reject(new Error('closed')) }
    const alerts = alertsPlugin({ checkMs: 1000, rules: [disk], channels: [broken], attempts: 1 })
    const served = await createScheduler({ logger: false, plugins: [alerts] })
    await served.start()
    await using fixture = await dashboardFixture({ served, alerts })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await page.getByText('Not delivered', { exact: true }).waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test('are right in Chinese', async () => {
    const alerts = alertsPlugin({
      checkMs: 1000,
      rules: [disk],
      channels: [recorded],
    })
    const served = await createScheduler({ logger: false, plugins: [alerts] })
    await served.start()
    await using fixture = await dashboardFixture({ served, alerts })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/', { locale: 'zh-CN' })
    await page.getByRole('button', { name: '静默', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('原因', { exact: true }).fill('明天换新磁盘')
    expect(await findingsInBothThemes(page, 'silence-zh')).toEqual([])
    await dialog.getByRole('button', { name: '静默', exact: true }).click()
    await page.getByText('明天换新磁盘').waitFor()
    expect(await findingsInBothThemes(page, 'overview-alerts-zh')).toEqual([])
    expect(errors).toEqual([])
    await page.close()
  })

  test.each([
    ['en-GB', 'Silence', 'admin'],
    ['en-GB', 'Sent', 'viewer'],
    ['zh-CN', '静默', 'admin'],
  ] as const)('stay within a telephone, with all of their buttons: %s, %s, %s', async (locale, text, who) => {
    const subjects = ['archive', 'DEFAULT.nightly-report', 'x'.repeat(200)]
    const check = async () =>
      subjects.map((subject) => ({ subject, message: `${subject} has failed 3 times` }))
    const alerts = alertsPlugin({ checkMs: 1000, rules: [{ ...disk, check }], channels: [recorded] })
    const served = await createScheduler({ logger: false, plugins: [alerts] })
    await served.start()
    const until = new Date(Date.now() + 3_600_000)
    await alerts.silence({ subject: 'archive', until, by: 'admin', reason: 'a new disk comes tomorrow' })
    await using fixture = await dashboardFixture({ served, alerts })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/', { locale, who })
    await page.locator('.problems .actions').getByText(text, { exact: true }).first().waitFor()
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 844 })
      expect(await findingsInBothThemes(page, `alerts-${locale}-${who}-${width}`)).toEqual([])
      expect([width, await page.evaluate(sticksOut)]).toEqual([width, []])
    }
    expect(errors).toEqual([])
    await page.close()
  })

  test('are known no more than the rest while the server is away, which is said once', async () => {
    const alerts = alertsPlugin({ rules: [disk], channels: [recorded] })
    const served = await createScheduler({ logger: false, plugins: [alerts] })
    await using fixture = await dashboardFixture({ served, alerts })
    const { page } = await openDashboard(browser(), fixture.address, '/')
    await page.getByText('No alert is active').waitFor()
    await page.evaluate(`window.failed = Promise.all(['/alerts', '/overview'].map((part) => new Promise((resolve) => {
      const asked = window.fetch
      window.fetch = async (...all) => {
        try {
          return await asked(...all)
        } catch (error) {
          if (String(all[0]).endsWith(part)) resolve()
          throw error
        }
      }
    }))); undefined`)
    await fixture.server.close()
    await page.evaluate('window.failed.then(() => undefined)')
    await page.getByText('How the scheduler is now is not known').waitFor()
    await page.locator('.verdict.quiet').waitFor()
    expect(await page.getByText('The server does not answer.').count()).toBe(1)
    await page.close()
  })

  test('are not on the page of a server without them', async () => {
    const served = await createScheduler({ logger: false })
    await using fixture = await dashboardFixture({ served })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    await page.getByText('Next to fire').first().waitFor()
    expect(await page.getByText('Alerts', { exact: true }).count()).toBe(0)
    expect(errors).toEqual([])
    await page.close()
  })
})
