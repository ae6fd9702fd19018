import { afterAll, beforeAll } from 'vitest'
import { inBrowser } from '../support/browser-suite.ts'
import { script } from '../support/dashboard-data.ts'
import { type DashboardFixture, dashboardFixture } from '../support/dashboard-fixture.ts'
import { lookRight, type PageCase } from '../support/page-looks.ts'
import { plannedScheduler } from '../support/planned-scheduler.ts'

const pages: readonly PageCase[] = [
  ['nodes', '/nodes', 'answers this page'],
  ['groups', '/groups', 'Nothing is in it yet'],
  ['timeline', '/timeline', 'mail/slow'],
  ['timeline-minute', '/timeline?span=minute', 'mail/slow'],
  ['timeline-month', '/timeline?span=month&by=trigger', 'Run by hand'],
  ['timeline-nodes', '/timeline?by=node&span=day', 'Planned, by any node'],
  ['timeline-empty', '/timeline?from=0', 'Nothing ran in this time'],
  ['misfires', '/misfires', script],
  ['misfires-none', '/misfires?cause=lost', 'No misfire fits'],
  ['calendars', '/calendars', 'holidays'],
  ['calendar', '/calendars/of/holidays?month=2199-12', 'Excluded'],
  ['calendar-new', '/calendars/new', 'Preview the change'],
  ['settings', '/settings', 'Operations that you may call'],
]

inBrowser('further pages', (browser) => {
  let fixture: DashboardFixture
  beforeAll(async () => {
    fixture = await dashboardFixture({ served: await plannedScheduler() })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
  })

  lookRight(pages, browser, () => fixture.address)
})
