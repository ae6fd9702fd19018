import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresJobStore } from '../../src/jobstore/postgres/postgres-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { type DashboardFixture, dashboardFixture, openDashboard } from '../support/dashboard-fixture.ts'
import { lookRight } from '../support/page-looks.ts'
import { freshDatabase, type TestDatabase } from '../support/postgres-database.ts'
import { echo, failing, filledScheduler, waiting } from '../support/server-fixture.ts'

/** Long enough for a node to stay overdue. */
const hourMs = 3_600_000

inBrowser('the nodes of a cluster', (browser) => {
  let database: TestDatabase
  let fixture: DashboardFixture
  const others: Scheduler[] = []

  const store = () =>
    postgresJobStore({
      connectionString: database.connectionString,
      checkInIntervalMs: 1000,
      failedAfterMs: hourMs,
    })

  beforeAll(async () => {
    database = await freshDatabase()
    const schedulerName = 'shop'
    const served = await filledScheduler({ jobStore: store(), schedulerName, instanceId: 'shop-1' })
    await served.start()
    const ahead = { ...systemClock, now: () => systemClock.now() + 90_000 }
    const jobs = [echo, failing, waiting]
    for (const [instanceId, clock] of [
      ['shop-2', systemClock],
      ['shop-3', ahead],
    ] as const) {
      const node = await createScheduler({
        schedulerName,
        instanceId,
        clock,
        jobs,
        jobStore: store(),
        logger: false,
      })
      await node.start()
      others.push(node)
    }
    // Without `node_info` it would have failed, and its row would be gone, after a few seconds.
    await database.query(
      `INSERT INTO qrtz_scheduler_state
         (sched_name, instance_name, last_checkin_time, checkin_interval, boot_id, node_info)
       SELECT sched_name, 'shop-4', (extract(epoch FROM now()) * 1000 - 60000)::bigint, 1000, 'gone', node_info
       FROM qrtz_scheduler_state WHERE instance_name = 'shop-2'`,
    )
    fixture = await dashboardFixture({ served })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
    for (const node of others) await node.shutdown()
    await database[Symbol.asyncDispose]()
  })

  lookRight([['nodes-cluster', '/nodes', 'shop-4']], browser, () => fixture.address)

  test('are told apart by what they check in', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/nodes')
    const row = (name: string) => page.locator(`tr:has-text("${name}")`)
    await row('shop-1').getByText('answers this page').waitFor()
    await row('shop-2').getByText('Started').waitFor()
    await row('shop-2').getByText('ms', { exact: false }).first().waitFor()
    await row('shop-3').getByText('-1.5 min').waitFor()
    // Others look for a while before silence counts.
    await row('shop-4').getByText('Overdue').waitFor()
    expect(errors).toEqual([])
    await page.close()
  })

  test.each([1280, 900])('have their buttons in sight in a window of %i px', async (width) => {
    const viewport = { width, height: 900 }
    const { page, errors } = await openDashboard(browser(), fixture.address, '/nodes', { viewport })
    await page.getByRole('button', { name: 'Drain: shop-2' }).waitFor()
    const seen = await page.evaluate(`(() => {
      const button = document.querySelector('[title="Drain: shop-2"]')
      const { left, right, top, bottom } = button.getBoundingClientRect()
      const box = button.closest('.table-box').getBoundingClientRect()
      const onTop = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      const root = document.documentElement
      return [right <= box.right, button.contains(onTop), root.scrollWidth <= root.clientWidth]
    })()`)
    expect([seen, errors]).toEqual([[true, true, true], []])
    await page.close()
  })

  test('are drained, started and, when they are silent, removed', async () => {
    const { page, errors } = await openDashboard(browser(), fixture.address, '/nodes')
    const row = (name: string) => page.locator(`tr:has-text("${name}")`)
    const press = async (name: string): Promise<void> => {
      await page.getByRole('button', { name }).click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: name.split(':')[0] ?? '' })
        .click()
    }
    await press('Drain: shop-2')
    await row('shop-2').getByText('Drained').waitFor()
    expect(others[0]?.isInStandbyMode).toBe(true)
    await page.getByRole('button', { name: 'Start: shop-2' }).click()
    await row('shop-2').getByText('Started').waitFor()
    expect(others[0]?.isStarted).toBe(true)
    await row('shop-4').getByText('Overdue').waitFor()
    await press('Remove: shop-4')
    await row('shop-4').waitFor({ state: 'detached' })
    expect(errors).toEqual([])
    await page.close()
  })
})
