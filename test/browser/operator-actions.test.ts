import { afterAll, beforeAll, expect, test } from 'vitest'
import { JobKey, TriggerKey } from '../../src/core/key.ts'
import { GroupMatcher } from '../../src/core/matcher.ts'
import type { JobStore } from '../../src/jobstore/job-store.ts'
import { systemClock } from '../../src/time/clock.ts'
import type { BrowserPage } from '../support/chromium.ts'
import { type EngineStore, inBrowserOnEngines } from '../support/dashboard-engines.ts'
import {
  type DashboardFixture,
  dashboardFixture,
  desktop,
  openDashboard,
  picture,
  seen,
} from '../support/dashboard-fixture.ts'
import { interceptJobStore } from '../support/intercept-job-store.ts'
import {
  addHourly,
  addMissed,
  Fragile,
  type Steered,
  steeredScheduler,
} from '../support/steered-scheduler.ts'

const hourMs = 3_600_000
const laterMs = Date.UTC(2199, 0, 1)

const press = (page: BrowserPage, name: string): Promise<void> =>
  page.locator('main').getByRole('button', { name, exact: true }).click()
const confirm = (page: BrowserPage, name: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

/** Asks for what is done to all that are listed. */
async function pressAll(page: BrowserPage, name: string): Promise<void> {
  await page.locator('.menu summary').click()
  await page.locator('.menu').getByRole('button', { name }).click()
}

/** Another action, which begins and ends while that on twelve goes on. */
async function resumeAnother(page: BrowserPage, address: string): Promise<void> {
  await page.goto(`${address}/triggers?search=other`)
  await page.getByRole('link', { name: 'few/other' }).first().waitFor()
  await page.getByRole('button', { name: '2 / 12' }).waitFor()
  await pressAll(page, 'Resume')
  await seen(page, 'Resume: 1 trigger')
  await confirm(page, 'Resume')
  await seen(page, /It is done: [01] w(as|ere) changed\./)
  await page.getByRole('dialog').getByText('Close', { exact: true }).click()
}

/** What a store does with the third trigger that is paused waits until it is let go. */
function storeThatWaits(behind: JobStore): { readonly store: JobStore; readonly letGo: () => void } {
  let pauses = 0
  let letGo = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const store = interceptJobStore(behind, async ({ method, proceed }) => {
    if (method === 'pauseTrigger' && ++pauses === 3) await gate
    return proceed()
  })
  return { store, letGo }
}

inBrowserOnEngines('an operator', (browser, newStore) => {
  let opened: EngineStore
  let steered: Steered
  let fixture: DashboardFixture
  let letGo: () => void
  beforeAll(async () => {
    opened = await newStore()
    const waits = storeThatWaits(opened.store)
    letGo = waits.letGo
    steered = await steeredScheduler(waits.store)
    await steered.scheduler.start()
    fixture = await dashboardFixture({ served: steered.scheduler })
  })
  afterAll(async () => {
    await fixture[Symbol.asyncDispose]()
    await opened[Symbol.asyncDispose]()
  })

  test('does to many at once: their number first, then how far it is, and a stop', async () => {
    const { scheduler } = steered
    for (let number = 1; number <= 12; number++) await addHourly(scheduler, `t${number}`, 'many', laterMs)
    await addHourly(scheduler, 'other', 'few', laterMs)
    const { page, errors } = await openDashboard(browser(), fixture.address, '/triggers?search=many')
    const close = (): Promise<void> => page.getByRole('dialog').getByText('Close', { exact: true }).click()
    await page.getByRole('link', { name: 'many/t12' }).first().waitFor()
    await pressAll(page, 'Pause')
    await seen(page, 'Pause: 12 triggers')
    await page.getByRole('dialog').getByText('many/t1', { exact: true }).waitFor()
    await confirm(page, 'Pause')
    await seen(page, '2 of 12 are done.')
    // One look fails, the dialog is closed and the page is left; it can be stopped all the same.
    const failed = { status: 503, contentType: 'application/json', body: '{}' }
    await page.route(/\/api\/bulk\/[^/]+$/, (route) => route.fulfill(failed), { times: 1 })
    await page.waitForResponse(/\/api\/bulk\/[^/]+$/)
    await close()
    await page.getByRole('button', { name: '2 / 12' }).click()
    await seen(page, '2 of 12 are done.')
    await resumeAnother(page, fixture.address)
    await page.getByRole('button', { name: '2 / 12' }).waitFor()
    await page.goto(`${fixture.address}/triggers?search=many`)
    await page.setViewportSize({ width: 390, height: 800 })
    await picture(page, 'bulk-chip')
    await page.setViewportSize(desktop)
    await page.getByRole('button', { name: '2 / 12' }).click()
    // Let go before the server knows of the stop, all of them would be done.
    const stopped = page.waitForResponse(/\/bulk\/[^/]+\/stop$/)
    await confirm(page, 'Stop')
    await stopped
    letGo()
    await seen(page, 'It was stopped; what it has done stays done.')
    await seen(page, '3 of 12 are done.')
    await close()
    expect((await scheduler.queryTriggers({ state: 'PAUSED', take: 100 })).items.length).toBe(3)
    await page.locator('tr').filter({ hasText: 'Paused' }).nth(2).waitFor()

    await pressAll(page, 'Resume')
    await seen(page, 'Resume: 12 triggers')
    await confirm(page, 'Resume')
    await seen(page, /It is done: \d+ were changed\./)
    await close()
    expect((await scheduler.queryTriggers({ state: 'PAUSED', take: 100 })).items).toEqual([])
    await pressAll(page, 'Run now')
    await seen(page, 'Run now: 12 triggers')
    await confirm(page, 'Run now')
    await seen(page, 'It is done: 12 were changed.')
    await close()
    await page.goto(`${fixture.address}/history`)
    await page.locator('tbody tr').nth(11).waitFor()
    await page.getByRole('link', { name: 'many/t12' }).first().waitFor()

    await page.goto(`${fixture.address}/jobs?search=many`)
    await page.getByRole('link', { name: 'many/t3' }).waitFor()
    await pressAll(page, 'Delete')
    const typed = page.getByRole('dialog').getByLabel('Type 12 to confirm')
    await typed.fill('2')
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await typed.fill('12')
    await confirm(page, 'Delete')
    await seen(page, 'It is done: 12 were changed.')
    await close()
    await seen(page, 'No job fits')
    expect(await scheduler.checkExists(new JobKey('slow', 'mail'))).toBe(true)
    expect(errors).toEqual([])
    await page.close()
  })

  test('leaves out the next firing, and is told which one', async () => {
    const { scheduler } = steered
    await addHourly(scheduler, 'hourly', 'mail', laterMs)
    const { page } = await openDashboard(browser(), fixture.address, '/triggers/mail/hourly')
    await press(page, 'Skip next')
    await seen(page, /It does not fire at .*01:00:00.*It fires next at .*02:00:00/)
    await confirm(page, 'Skip next')
    await seen(page, /The firing at .+ is left out/)
    const trigger = await scheduler.getTrigger(new TriggerKey('hourly', 'mail'))
    expect(trigger?.nextFireTime).toEqual(new Date(laterMs + hourMs))
    await page.close()
  })

  test('is told that a run waits for what is paused, and what lets it run', async () => {
    const { scheduler } = steered
    await addHourly(scheduler, 'held', 'held', laterMs)
    await scheduler.pauseJobs(GroupMatcher.groupEquals('held'))
    const { page } = await openDashboard(browser(), fixture.address, '/triggers/held/held')
    await press(page, 'Run now')
    await confirm(page, 'Run now')
    await seen(page, /^held\/held waits: its group, .* is paused\. Resume that, or DEFAULT\/MT_\S+ alone\.$/)
    await scheduler.resumeJobs(GroupMatcher.groupEquals('held'))
    await page.close()
  })

  test('leaves out no other firing than the one that was shown', async () => {
    const { scheduler } = steered
    await addHourly(scheduler, 'once', 'mail', laterMs)
    const { page } = await openDashboard(browser(), fixture.address, '/triggers/mail/once')
    const sent: unknown[] = []
    await page.route(/\/mail\/once\/skip-next$/, (route) => {
      sent.push(JSON.parse(route.request().postData() ?? ''))
      const body = JSON.stringify({ status: 412, code: 'ERR_CHANGED_MEANWHILE', detail: 'It has changed.' })
      return route.fulfill({ status: 412, contentType: 'application/problem+json', body })
    })
    await press(page, 'Skip next')
    await seen(page, /It does not fire at .*01:00:00/)
    await confirm(page, 'Skip next')
    await seen(
      page,
      'Another firing is the next one by now: it has fired, or was skipped. Nothing is left out.',
    )
    expect(sent).toEqual([{ expectedMs: laterMs }])
    await page.close()
  })

  test('resets a trigger that is in error, when its cause is mended', async () => {
    const { scheduler } = steered
    Fragile.isBroken = true
    const failed = scheduler.events.next('triggerInError')
    await addHourly(scheduler, 'broken', 'mail', systemClock.now(), 'fragile')
    await failed
    const { page } = await openDashboard(browser(), fixture.address, '/')
    await seen(page, 'One trigger is in error and does not fire.')
    await page.locator('.problems').getByRole('link', { name: 'Show' }).click()
    await page.getByRole('link', { name: 'mail/broken' }).first().click()
    Fragile.isBroken = false
    await press(page, 'Reset error')
    await seen(page, 'mail/broken is out of its error.')
    await page.getByText('Waiting').first().waitFor()
    expect(await scheduler.getTriggerState(new TriggerKey('broken', 'mail'))).toBe('NORMAL')
    await page.close()
  })

  test('resumes a trigger with and without what it missed', async () => {
    const { scheduler } = steered
    const nowMs = systemClock.now()
    for (const name of ['with', 'without']) await addMissed(scheduler, name, nowMs)
    const { page } = await openDashboard(browser(), fixture.address, '/triggers/missed/without')
    await press(page, 'Resume')
    await page.getByRole('dialog').getByLabel('Without what was missed').check()
    await confirm(page, 'Resume')
    await seen(page, 'missed/without is resumed.')
    await page.goto(`${fixture.address}/triggers/missed/with`)
    const ran = scheduler.events.next('jobWasExecuted')
    await press(page, 'Resume')
    await confirm(page, 'Resume')
    await seen(page, 'Succeeded')
    expect((await ran).context.jobKey.name).toBe('with')
    const without = await scheduler.getTrigger(new TriggerKey('without', 'missed'))
    expect(without?.nextFireTimeMs ?? 0).toBeGreaterThan(nowMs)
    await page.goto(`${fixture.address}/triggers/missed/without`)
    await seen(page, 'The store remembers no execution of this trigger.')
    await page.close()
  })

  test('sees what an execution says while it runs, and interrupts it', async () => {
    await steered.scheduler.triggerJob(new JobKey('slow', 'mail'))
    const context = await steered.nextExecution()
    const { page, errors } = await openDashboard(browser(), fixture.address, '/running')
    await page.getByRole('link', { name: 'mail/slow' }).waitFor()
    context.progress(0.25)
    await seen(page, '25%')
    context.progress(0.5)
    await seen(page, '50%')
    await page.getByRole('link', { name: context.fireInstanceId }).click()
    await seen(page, '50%')
    context.log.info({ rows: 3 }, 'the first line')
    await seen(page, 'the first line')
    context.log.warn({}, 'the second line')
    await seen(page, 'the second line')
    await page.reload()
    await seen(page, 'the second line')
    await press(page, 'Interrupt')
    await confirm(page, 'Interrupt')
    await seen(page, 'mail/slow was asked to stop.')
    await page.getByText('Phases').first().waitFor()
    await seen(page, 'the first line')
    expect(errors).toEqual([])
    await page.close()
  })
})
