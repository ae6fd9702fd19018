import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { zeroSizeThreadPool } from '../../src/threadpool/in-process-thread-pool.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { lookRight, type PageCase } from '../support/page-looks.ts'
import { addPlainJob, filledScheduler } from '../support/server-fixture.ts'

const askItsServer = 'ask the server of that process'
const pages: readonly PageCase[] = [
  ['attached-overview', '/', 'Next to fire'],
  ['attached-running', '/running', 'What runs is not known here'],
  ['attached-groups', '/groups', 'known to the nodes that fire'],
  ['attached-nodes', '/nodes', 'The nodes are not known here'],
]

inBrowser('a server that is attached to a SQLite file', (browser) => {
  const folder = mkdtempSync(join(tmpdir(), 'quartz-ts-attached-'))
  let running: Scheduler
  let fixture: DashboardFixture
  beforeAll(async () => {
    const filename = join(folder, 'jobs.db')
    running = await filledScheduler({ jobStore: sqliteJobStore({ filename }), instanceId: 'n1' })
    const slow = await addPlainJob(running, 'waiting', 'slow', 'mail')
    await running.start()
    const began = running.events.next('jobToBeExecuted')
    await running.triggerJob(slow)
    await began
    const served = await createScheduler({
      logger: false,
      schedulerName: running.schedulerName,
      instanceId: 'looker',
      jobStore: sqliteJobStore({ filename }),
      threadPool: zeroSizeThreadPool(),
    })
    fixture = await dashboardFixture({ served })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
    await running.shutdown()
    rmSync(folder, { recursive: true, force: true })
  })

  lookRight(pages, browser, () => fixture.address)

  test('shows what it does not know as a dash, and says why', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/')
    const tile = (name: string, note: string) =>
      page.locator('.tile').filter({ hasText: name }).filter({ hasText: note }).locator('.tile-value')
    await tile('Triggers', '').first().waitFor()
    for (const [name, note] of [
      ['Nodes alive', 'not known here'],
      ['Running now', 'not known here'],
      ['Executed here', 'this server is no node'],
    ] as const) {
      expect([name, await tile(name, note).textContent()]).toEqual([name, '–'])
    }
    await page.getByText('whether a process fires from it is not known here').waitFor()
    await page.getByText(askItsServer).waitFor()
    expect(await page.getByText('Nothing runs at the moment').count()).toBe(0)
    await page.goto(`${fixture.address}/groups`)
    await page.getByText('– of –').first().waitFor()
    await page.getByRole('link', { name: 'reports', exact: true }).first().click()
    await page.waitForURL(/jobs\?group=reports$/)
    await page.getByRole('link', { name: 'Group: reports' }).waitFor()
    expect(errors).toEqual([])
    await page.close()
  })
})
