import { afterAll, beforeAll, expect, test } from 'vitest'
import { inBrowser } from '../support/browser-suite.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { type Opened, openDashboard } from '../support/dashboard-fixture.ts'
import { isHacked } from '../support/page-looks.ts'
import { type Scripted, scripted, scriptedPath, scriptedServer } from '../support/scripted-scheduler.ts'

/** A page, and the stored texts that it shows. */
const pages: readonly (readonly [path: string, texts: readonly string[]])[] = [
  [
    '/',
    [
      ...['scheduler', 'node', 'fails', 'waits', 'paused-group', 'rule', 'subject', 'message-of-subject'],
      ...['message-of-quiet-subject', 'reason', 'user'],
    ],
  ],
  ['/jobs', ['group', 'works', 'type', 'description']],
  [`/jobs/${scriptedPath('works')}`, ['group', 'description', 'data-name', 'data', 'node', 'trigger']],
  [`/jobs/${scriptedPath('shards')}`, ['type', 'parameter']],
  ['/triggers', ['trigger', 'missed', 'works']],
  [
    `/triggers/${scriptedPath('trigger')}`,
    ['trigger-description', 'calendar', 'reason', 'by', 'trigger-data', 'trigger-value', 'works'],
  ],
  ['/running', ['waits', 'progress', 'node']],
  ['/history', ['works', 'fails', 'node']],
  ['/history/waits', ['waits', 'progress', 'node', 'log-message']],
  [
    '/history/works',
    ['type', 'user', 'data', 'data-name', 'result', 'result-name', 'log-message', 'log-field', 'log-value'],
  ],
  ['/history/fails', ['error', 'progress']],
  ['/misfires', ['missed', 'works']],
  ['/calendars', ['calendar', 'calendar-description']],
  [`/calendars/of/${encodeURIComponent(scripted('calendar'))}`, ['calendar', 'calendar-description']],
  ['/groups', ['group', 'paused-group']],
  ['/nodes', ['node', 'type', 'sent-type']],
  ['/timeline', ['works', 'waits']],
  ['/timeline?by=trigger', ['missed']],
  ['/timeline?by=node', ['node']],
  ['/audit', ['user', 'made', 'node']],
  ['/users', ['user']],
  ['/executors', ['app', 'sent', 'handler']],
  [`/cron?expression=${encodeURIComponent(scripted('expression'))}`, []],
]

const shown = (page: BrowserPage, what: string): Promise<void> =>
  page.getByText(scripted(what)).first().waitFor()

inBrowser('a script in every stored text', (browser) => {
  let server: Scripted
  let opened: Opened
  beforeAll(async () => {
    server = await scriptedServer()
    opened = await openDashboard(browser(), server.fixture.address, '/')
  })
  afterAll(async () => {
    await opened.page.close()
    await server[Symbol.asyncDispose]()
  })

  /** The ids of executions are known late; they have the name of their node in them. */
  const pathOf = (path: string): string =>
    path.replace(
      /^\/history\/(waits|works|fails)$/,
      (_, name: keyof Scripted['ids']) => `/history/${encodeURIComponent(server.ids[name])}`,
    )
  const goto = (path: string): Promise<unknown> => opened.page.goto(server.fixture.address + pathOf(path))
  const isHarmless = async (): Promise<void> => {
    expect([await isHacked(opened.page), opened.errors]).toEqual([false, []])
  }

  test.each(pages)('is shown as text at %s', async (path, texts) => {
    await goto(path)
    await opened.page.locator('main h1').waitFor()
    for (const what of texts) await shown(opened.page, what)
    await opened.page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    await isHarmless()
  })

  test('is shown as text in what was done, and what changed', async () => {
    const { page } = opened
    await goto('/audit?operation=jobs.put')
    await page.getByRole('button', { name: 'Details' }).first().click()
    for (const what of ['audited-description', 'audited-name', 'audited-value']) await shown(page, what)
    await isHarmless()
  })

  test('is shown as text in editors, questions and notes', async () => {
    const { page } = opened
    await goto(`/triggers/${scriptedPath('trigger')}/edit`)
    expect(await page.getByLabel('Description').inputValue()).toBe(scripted('trigger-description'))
    await page.getByText('Fire times: As edited').waitFor()
    await goto(`/jobs/${scriptedPath('works')}/edit`)
    expect(await page.getByLabel('Description').inputValue()).toBe(scripted('description'))
    await goto(`/jobs/${scriptedPath('works')}`)
    await page.locator('main').getByRole('button', { name: 'Pause', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(scripted('works')).waitFor()
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.locator('.toast').getByText(scripted('works')).first().waitFor()
    await goto('/jobs')
    await page.locator('.menu summary').click()
    await page.locator('.menu').getByRole('button', { name: 'Delete' }).click()
    await dialog.getByText(scripted('works')).first().waitFor()
    await isHarmless()
    await goto('/')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.locator('.toast').getByText(scripted('channel-error')).first().waitFor()
    await isHarmless()
  })
})
