import { afterAll, beforeAll, expect, test } from 'vitest'
import { TriggerKey } from '../../src/core/key.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { busyScheduler, script } from '../support/dashboard-data.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { findingsInBothThemes, lookRight, type PageCase } from '../support/page-looks.ts'

const part = encodeURIComponent(script)
/** The ids of an execution that has failed, and of one that runs. */
const ids = { failed: '', running: '' }

const pages: readonly PageCase[] = [
  ['overview', '/', 'Next to fire'],
  ['jobs', '/jobs', 'reports/good'],
  ['jobs-none', '/jobs?search=nosuchjob', 'No job fits'],
  ['job', '/jobs/mail/bad', 'Last executions'],
  ['job-scripted', `/jobs/${part}/${part}`, 'Last executions'],
  ['job-new', '/jobs/new', 'Definition'],
  ['job-edit', '/jobs/reports/daily/edit', 'Definition'],
  ['triggers', '/triggers', 'mail/hourly'],
  ['trigger', '/triggers/reports/daily', 'At 07:00, Monday through Friday'],
  ['trigger-scripted', `/triggers/${part}/${part}`, 'every hour'],
  ['trigger-new', '/triggers/new', 'When it fires'],
  ['trigger-edit', '/triggers/mail/daytime/edit', 'As stored'],
  ['running', '/running', 'mail/slow'],
  ['history', '/history', 'Failed'],
  ['history-failures', '/history?filter=outcome%3Afailed', 'Failed'],
  ['execution', () => `/history/${ids.failed}`, 'It was given no data.'],
  ['execution-running', () => `/history/${ids.running}`, 'The job has logged nothing.'],
  ['cron', '/cron?zone=America%2FNew_York', 'Monday through Friday'],
  ['not-found', '/nothing/here', 'There is no such page'],
]

const languages = [
  {
    locale: 'en-GB',
    questions: { run: 'Run now', pause: 'Pause', skip: 'Skip next', delete: 'Delete' },
    resume: 'Resume',
    close: 'Close',
    changed: 'It is done: 1 was changed.',
  },
  {
    locale: 'zh-CN',
    questions: { run: '立即运行', pause: '暂停', skip: '跳过下一次', delete: '删除' },
    resume: '恢复',
    close: '关闭',
    changed: '已完成：1 个已更改。',
  },
]

inBrowser('every page', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    const served = await busyScheduler(sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }))
    fixture = await dashboardFixture({ served })
    const [failed] = (await served.queryExecutions({ outcome: 'failed' })).items
    const [running] = await served.cluster.executingJobs()
    ids.failed = failed?.fireInstanceId ?? ''
    ids.running = running?.fireInstanceId ?? ''
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  lookRight(pages, browser, () => fixture.address)

  test.each(languages)('what is asked before something is done is right in $locale', async (words) => {
    const { locale } = words
    const { page, errors } = await openDashboard(browser(), fixture.address, '/triggers/mail/daytime', {
      locale,
    })
    const findings: string[] = []
    for (const [name, verb] of Object.entries(words.questions)) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.locator('main').getByRole('button', { name: verb, exact: true }).first().click()
      await page.getByRole('dialog').waitFor()
      findings.push(...(await findingsInBothThemes(page, `asks-${name}-${locale}`)))
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await fixture.scheduler.pauseTrigger(new TriggerKey('hourly', 'mail'))
    await page.goto(`${fixture.address}/triggers?search=hourly`)
    await page.locator('.menu summary').click()
    await page.locator('.menu').getByRole('button', { name: words.resume }).click()
    const confirm = page.getByRole('dialog').getByRole('button', { name: words.resume, exact: true })
    await confirm.waitFor()
    findings.push(...(await findingsInBothThemes(page, `asks-bulk-${locale}`)))
    await confirm.click()
    await page.getByRole('dialog').getByText(words.close, { exact: true }).waitFor()
    await page.getByRole('dialog').getByText(words.changed).waitFor()
    findings.push(...(await findingsInBothThemes(page, `bulk-${locale}`)))
    expect([findings, errors]).toEqual([[], []])
    await page.close()
  })
})
