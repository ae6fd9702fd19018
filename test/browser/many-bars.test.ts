import { expect, test, vi } from 'vitest'
import { defineJob } from '../../src/jobs/define-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import { sqliteJobStore } from '../../src/jobstore/sqlite/sqlite-job-store.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import type { Scheduler } from '../../src/scheduler/scheduler.ts'
import { systemClock } from '../../src/time/clock.ts'
import { SimpleScheduleBuilder } from '../../src/triggers/families/simple/simple-trigger.ts'
import { TriggerBuilder } from '../../src/triggers/families/trigger-builder.ts'
import { inBrowser } from '../support/browser-suite.ts'
import { dashboardFixture, openDashboard, picture } from '../support/dashboard-fixture.ts'

const executions = 3000
const rows = 20

/** As many executions as the timeline draws, and thousands of planned firings. */
async function manyFirings(): Promise<Scheduler> {
  let count = 0
  let onEnd = (): void => undefined
  const many = defineJob('many', () => {
    count++
    if (count % 9 === 0) throw new Error('each ninth fails')
    if (count >= executions) onEnd()
  })
  const scheduler = await createScheduler({
    logger: false,
    jobs: [many],
    jobStore: sqliteJobStore({ filename: ':memory:', history: { record: 'all' } }),
  })
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve
  })
  const nowMs = systemClock.now()
  for (let row = 0; row < rows; row++) {
    const key = [`row-${String(row).padStart(2, '0')}`, 'many'] as const
    const job = JobBuilder.newJob(many)
      .withIdentity(...key)
      .build()
    const past = TriggerBuilder.newTrigger()
      .withIdentity(key[0], 'past')
      .forJob(job)
      .startAt(new Date(nowMs - 1000))
      .withSchedule(
        SimpleScheduleBuilder.simpleSchedule()
          .withIntervalInMilliseconds(1)
          .withRepeatCount(executions / rows)
          .withMisfireInstruction('ignore'),
      )
      .build()
    const later = TriggerBuilder.newTrigger()
      .withIdentity(key[0], 'later')
      .forJob(job)
      .startAt(new Date(nowMs + 60_000))
      .withSchedule(SimpleScheduleBuilder.repeatSecondlyForever())
      .build()
    await scheduler.scheduleJob(job, [past, later])
  }
  await scheduler.start()
  await ended
  return scheduler
}

/** Moves the pointer over the drawing, frame by frame, and answers how long each frame took, in milliseconds. */
const pointedFrames = `new Promise((resolve) => {
  const canvas = document.querySelector('canvas')
  const at = canvas.getBoundingClientRect()
  const frames = []
  let last = performance.now()
  const step = () => {
    const now = performance.now()
    frames.push(now - last)
    last = now
    const clientX = at.left + (at.width * frames.length) / 180
    const clientY = at.top + 40 + ((frames.length * 28) / 9) % (at.height - 40)
    canvas.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX, clientY }))
    if (frames.length < 180) requestAnimationFrame(step)
    else resolve(frames.slice(1).sort((one, other) => one - other))
  }
  requestAnimationFrame(step)
})`

inBrowser('a timeline of thousands of bars', (browser) => {
  test('is drawn whole, also while it is pointed at', async () => {
    await using fixture = await dashboardFixture({ served: await manyFirings() })
    const { page, errors } = await openDashboard(browser(), fixture.address, '/timeline?span=quarter')
    await page.getByRole('link', { name: 'many/row-19' }).waitFor()
    // The last executions come into the history, and onto the page, a moment after they ended.
    const bars = await vi.waitFor(
      async () => {
        const label = (await page.locator('canvas').getAttribute('aria-label')) ?? ''
        const count = Number(/with (\d+) /.exec(label)?.[1])
        expect(count).toBeGreaterThan(5000)
        return count
      },
      { timeout: 60_000, interval: 200 },
    )
    const frames = (await page.evaluate(pointedFrames)) as number[]
    const at = (share: number): string => (frames[Math.floor((frames.length - 1) * share)] ?? 0).toFixed(1)
    console.info(`${bars} bars: a frame takes ${at(0.5)} ms, ${at(0.99)} ms at the 99th, ${at(1)} ms at most`)
    await picture(page, 'timeline-many')
    for (const [by, name] of [
      ['trigger', 'past/row-00'],
      ['node', 'Planned, by any node'],
    ] as const) {
      await page.locator('.choice-box select').first().selectOption(by)
      await page.locator('main').getByText(name).first().waitFor()
    }
    for (const span of ['minute', 'hour', 'month']) {
      await page
        .locator('.choice-box select')
        .nth(1)
        .selectOption(span === 'hour' ? '' : span)
      await page.waitForURL(new RegExp(span === 'hour' ? '/timeline\\?by=node$' : `span=${span}`))
      await page.locator('canvas').waitFor()
    }
    expect(errors).toEqual([])
    await page.close()
  })
})
