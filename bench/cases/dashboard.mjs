import { fileURLToPath } from 'node:url'
import { remember, schedulerName } from '../lib/big-store.mjs'
import { copyTrigger } from '../lib/bulk-rows.mjs'
import { hasChromium, startChromium } from '../lib/chromium.mjs'
import {
  createScheduler,
  defineJob,
  JobBuilder,
  SimpleScheduleBuilder,
  TriggerBuilder,
} from '../lib/quartz-ts.mjs'
import { token, viewedServer } from '../lib/server.mjs'
import { places } from '../lib/sql-stores.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const built = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))

/** No step waits longer than this, so that a page that hangs ends the benchmark. */
const patienceMs = 15_000

export const benchmark = {
  name: 'dashboard',
  title: 'The dashboard in Chromium: 100,000 triggers and 1,000,000 executions, SQLite',
  // Nothing is measured on a machine without a browser.
  variants: hasChromium ? ['SQLite'] : [],
  rounds: 1,
  goals: (median) =>
    hasChromium
      ? [
          { what: 'first load, cold, ms', value: median('first load p50 ms'), relation: '<=', limit: 1000 },
          { what: 'longest frame, ms', value: median('longest frame ms'), relation: '<', limit: 100 },
        ]
      : [],
  async run(_variant, { once }) {
    const size = once
      ? { triggers: 2000, executions: 20_000, loads: 1, steps: 2 }
      : { triggers: 100_000, executions: 1_000_000, loads: 5, steps: 15 }
    const place = await places.sqlite()
    const scheduler = await filledScheduler(place, size)
    const server = await viewedServer(scheduler, { dashboard: built })
    try {
      const address = await server.listen({ port: 0 })
      return { ...(await firstLoads(address, size.loads)), ...(await usedLists(address, size)) }
    } finally {
      await server.close()
      await scheduler.shutdown()
      await place.close()
    }
  },
}

/** One trigger of the API's, and copies of it that the database makes. */
async function filledScheduler(place, { triggers, executions }) {
  const noop = defineJob('noop', () => {})
  const scheduler = await createScheduler({
    schedulerName,
    jobs: [noop],
    jobStore: place.open({ history: { record: 'all', maxRows: 10_000_000 } }),
    logger: false,
  })
  const job = JobBuilder.newJob(noop).withIdentity('job').build()
  const first = TriggerBuilder.newTrigger()
    .withIdentity('invoice-0')
    .startAt(new Date(Date.now() + 86_400_000))
    .withSchedule(SimpleScheduleBuilder.repeatHourlyForever())
    .build()
  await scheduler.scheduleJob(job, first)
  copyTrigger(place, { name: 'invoice', count: triggers - 1 })
  await remember(place, executions)
  return scheduler
}

/** Each in a browser that was just started: from the address until the Overview has its verdict and waits for nothing. */
async function firstLoads(address, count) {
  const taken = []
  for (let load = 0; load < count; load++) {
    const browser = await startChromium()
    const page = await browser.newPage()
    page.setDefaultTimeout(patienceMs)
    await page.goto(`${address}/#token=${token}`, { waitUntil: 'commit' })
    taken.push(await page.evaluate(whenTrue(isUseful)))
    await browser.close()
  }
  const sorted = sortedCopy(taken)
  return { 'first load p50 ms': quantile(sorted, 0.5), 'first load, longest ms': sorted.at(-1) }
}

/** Scrolls and filters the two long lists as a person does, while the page counts the time between its frames. */
async function usedLists(address, { triggers, steps }) {
  const browser = await startChromium()
  const page = await browser.newPage({ viewport: { width: 1360, height: 900 } })
  page.setDefaultTimeout(patienceMs)
  await page.goto(`${address}/#token=${token}`)
  await page.locator('.verdict[role=status]').waitFor()
  const used = { frames: [], waits: [] }
  await useList(page, `${address}/triggers`, steps, used, (step) => `invoice-${(step * 4321 + 7) % triggers}`)
  await useList(page, `${address}/history`, steps, used, (step) => {
    const job = (step * 321 + 7) % 1000
    return `job:group-${job % 100}/job-${job}`
  })
  await browser.close()
  const frames = sortedCopy(used.frames)
  const waits = sortedCopy(used.waits)
  return {
    'frames, p50 ms': quantile(frames, 0.5),
    'frames, p99 ms': quantile(frames, 0.99),
    'longest frame ms': frames.at(-1),
    'from the typed text to its rows, p50 ms': quantile(waits, 0.5),
    'from the typed text to its rows, longest ms': waits.at(-1),
  }
}

async function useList(page, address, steps, { frames, waits }, textOf) {
  await page.goto(address)
  await page.locator('tbody tr td a').first().waitFor()
  await page.evaluate(countFrames)
  await page.mouse.move(600, 500)
  for (let step = 0; step < steps; step++) {
    await page.mouse.wheel(0, step % 2 === 0 ? 900 : -900)
    await page.evaluate(someFrames)
  }
  const box = page.locator('.search-box input')
  for (let step = 0; step < steps; step++) {
    const text = textOf(step)
    const startedMs = performance.now()
    await box.fill(text)
    await page.evaluate(whenTrue(everyRowHas(text.split('/').at(-1))))
    waits.push(performance.now() - startedMs)
  }
  frames.push(...(await page.evaluate('globalThis.frameTimes')))
}

const countFrames = `
  globalThis.frameTimes = []
  let beforeMs = null
  requestAnimationFrame(function next(nowMs) {
    if (beforeMs !== null) globalThis.frameTimes.push(nowMs - beforeMs)
    beforeMs = nowMs
    requestAnimationFrame(next)
  })
  undefined`

const someFrames = `new Promise((resolve) => {
  let left = 10
  requestAnimationFrame(function next() {
    if (--left === 0) resolve()
    else requestAnimationFrame(next)
  })
})`

const isUseful = `document.querySelector('.verdict[role=status]') !== null &&
  document.querySelector('main [aria-busy=true]') === null`

function everyRowHas(name) {
  return `document.querySelector('tbody tr') !== null &&
    [...document.querySelectorAll('tbody tr')].every((row) => row.textContent.includes('${name}'))`
}

/** Resolves in the page with the time since it was opened. The page's policy has no \`eval\`, so it is one text. */
function whenTrue(condition) {
  return `new Promise((resolve, reject) => {
    const endMs = performance.now() + ${patienceMs}
    requestAnimationFrame(function look(nowMs) {
      if (${condition}) resolve(performance.now())
      else if (nowMs > endMs) reject(new Error('not within ${patienceMs} ms: ' + location.href))
      else requestAnimationFrame(look)
    })
  })`
}
