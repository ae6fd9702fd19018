import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { fill, keyOf, nameOf, remember, schedulerName } from '../lib/big-store.mjs'
import { createScheduler, defineJob, triggerKey } from '../lib/quartz-ts.mjs'
import { token, viewedServer } from '../lib/server.mjs'
import { places } from '../lib/sql-stores.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const stores = { PostgreSQL: 'postgres', SQLite: 'sqlite' }
/** The executions are those of so many triggers. */
const remembered = 5000
/** What takes longer on a page does not happen any more. */
const giveUpMs = 30_000
/** The overview's line on how the scheduler is, once that is known. */
const verdict = '.verdict:not([aria-busy])'
const page = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))
const program = process.env.QUARTZ_TS_BENCH_CHROMIUM ?? '/usr/bin/chromium'
const { chromium } = createRequire(new URL('../../package.json', import.meta.url))('playwright-core')

export const benchmark = {
  name: 'dashboard',
  title: 'The dashboard in Chromium: 100,000 triggers and 1,000,000 executions',
  needs: 'postgres',
  variants: Object.keys(stores),
  rounds: 1,
  goals: (median) =>
    Object.keys(stores).flatMap((store) => [
      {
        what: `${store}: the first page of a browser is useful, ms`,
        value: median(`${store}: cold, median ms`),
        relation: '<=',
        limit: 1000,
      },
      {
        what: `${store}: longest frame of scrolling and filtering, ms`,
        value: median(`${store}: longest frame ms`),
        relation: '<',
        limit: 100,
      },
      {
        what: `${store}: longest frame of a timeline of thousands of bars, ms`,
        value: median(`${store}: timeline, longest frame ms`),
        relation: '<',
        limit: 100,
      },
      {
        what: `${store}: from a change to the open page, ms`,
        value: median(`${store}: live, median ms`),
        relation: '<',
        limit: 1000,
      },
    ]),
  async run(variant, { once }) {
    const place = await places[stores[variant]]()
    const size = once
      ? { triggers: 2000, executions: 2000, loads: 1, steps: 2 }
      : { triggers: 100_000, executions: 1_000_000, loads: 5, steps: 20 }
    const noop = defineJob('noop', () => {})
    const jobStore = place.open({ history: { record: 'all', maxRows: 10_000_000 } })
    const scheduler = await createScheduler({ schedulerName, jobs: [noop], jobStore, logger: false })
    await fill(scheduler, noop, size.triggers)
    await remember(place, size.executions)
    await place.settle()
    const server = await viewedServer(scheduler, { dashboard: page })
    const address = await server.listen({ port: 0 })
    const measured = {
      ...(await coldLoads(address, size.loads)),
      ...(await usedLists(address, size)),
      ...(await usedTimeline(address)),
      ...(await seenChanges(address, scheduler, size.steps)),
    }
    await server.close()
    await scheduler.shutdown()
    await place.close()
    return measured
  },
}

/** Each in a browser that was just started, with nothing in its cache: from the address to the verdict. */
async function coldLoads(address, count) {
  const taken = []
  for (let load = 0; load < count; load++) {
    const browser = await launch()
    const opened = await browser.newPage()
    await opened.goto(`${address}/#token=${token}`, { waitUntil: 'commit' })
    taken.push(
      await opened.evaluate(`new Promise((resolve, reject) => {
        const look = () => {
          if (document.querySelector('${verdict}') !== null) resolve(performance.now())
          else if (performance.now() > ${giveUpMs}) reject(new Error('No verdict within ${giveUpMs} ms'))
          else requestAnimationFrame(look)
        }
        look()
      })`),
    )
    await browser.close()
  }
  const sorted = sortedCopy(taken)
  return { 'cold, median ms': quantile(sorted, 0.5), 'cold, longest ms': sorted.at(-1) }
}

async function openPage(path) {
  const browser = await launch()
  const opened = await browser.newPage({ viewport: { width: 1360, height: 900 } })
  await opened.goto(`${path}#token=${token}`)
  return { browser, opened }
}

/** Moves the pointer over all bars that a timeline of six hours draws, by nodes: each execution is one. */
async function usedTimeline(address) {
  const { browser, opened } = await openPage(`${address}/timeline?by=node&span=quarterDay`)
  await opened.locator('.timeline-canvas canvas').waitFor()
  const [, bars] = /with (\d+) /.exec(await opened.locator('canvas').getAttribute('aria-label')) ?? []
  if (!(Number(bars) > 0)) throw new Error('The timeline does not say how many bars it has.')
  await opened.evaluate(countFrames)
  const box = await opened.locator('canvas').boundingBox()
  for (let step = 0; step < 90; step++) {
    const y = box.y + 40 + ((step * 37) % (Math.min(box.height, 860) - 40))
    await opened.mouse.move(box.x + (box.width * step) / 90, y)
    await opened.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  }
  const frames = sortedCopy(await opened.evaluate('globalThis.frameTimes'))
  await browser.close()
  return {
    'timeline, bars': Number(bars),
    'timeline, p99 of frames ms': quantile(frames, 0.99),
    'timeline, longest frame ms': frames.at(-1),
  }
}

/** Pauses and resumes a trigger that a page shows: how long until the page says so. */
async function seenChanges(address, scheduler, count) {
  const { group, name } = keyOf(1)
  const { browser, opened } = await openPage(`${address}/triggers/${group}/${name}`)
  await opened.locator('.live.is-live').waitFor()
  const taken = []
  for (let step = 0; step < count; step++) {
    const state = step % 2 === 0 ? 'Paused' : 'Waiting'
    await opened
      .locator('.page-below')
      .getByText(step % 2 === 0 ? 'Waiting' : 'Paused')
      .waitFor()
    const seen = opened.evaluate(saysState, { state, giveUpMs })
    const beganMs = performance.now()
    if (step % 2 === 0) await scheduler.pauseTrigger(triggerKey(name, group))
    else await scheduler.resumeTrigger(triggerKey(name, group))
    await seen
    taken.push(performance.now() - beganMs)
  }
  await browser.close()
  const sorted = sortedCopy(taken)
  return { 'live, median ms': quantile(sorted, 0.5), 'live, longest ms': sorted.at(-1) }
}

/** Scrolls and filters the lists, as a person does, while the page counts the time between its frames. */
async function usedLists(address, { triggers, executions, steps }) {
  const { browser, opened } = await openPage(`${address}/`)
  await opened.locator(verdict).waitFor()
  const pasts = Math.min(executions, remembered)
  const frames = []
  const waits = []
  for (const [path, textOf] of [
    ['/triggers', (step) => nameOf(1 + ((step * 4321) % (triggers - 1)))],
    ['/history', (step) => `trigger:DEFAULT/${nameOf(1 + ((step * 321) % (pasts - 1)))}`],
  ]) {
    await opened.goto(`${address}${path}`)
    await opened.locator('tbody tr td a').first().waitFor()
    await opened.evaluate(countFrames)
    for (let step = 0; step < steps; step++) {
      await opened.mouse.move(600, 500)
      await opened.mouse.wheel(0, step % 2 === 0 ? 600 : -600)
      await opened.evaluate(nextFrames)
    }
    const box = opened.locator('.search-box input')
    for (let step = 0; step < steps; step++) {
      const text = textOf(step)
      await box.fill(text)
      waits.push(await opened.evaluate(rowsHave, { name: text.split('/').at(-1), giveUpMs }))
    }
    frames.push(...(await opened.evaluate('globalThis.frameTimes')))
  }
  await browser.close()
  const sortedFrames = sortedCopy(frames)
  const sortedWaits = sortedCopy(waits)
  return {
    'frames, p50 ms': quantile(sortedFrames, 0.5),
    'frames, p99 ms': quantile(sortedFrames, 0.99),
    'longest frame ms': sortedFrames.at(-1),
    'from the text to its rows, p50 ms': quantile(sortedWaits, 0.5),
    'from the text to its rows, longest ms': sortedWaits.at(-1),
  }
}

function launch() {
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
}

const countFrames = `
  globalThis.frameTimes = []
  let beforeMs = performance.now()
  requestAnimationFrame(function next(nowMs) {
    globalThis.frameTimes.push(nowMs - beforeMs)
    beforeMs = nowMs
    requestAnimationFrame(next)
  })
  undefined`

const nextFrames = `new Promise((resolve) => {
  let left = 10
  requestAnimationFrame(function next() {
    if (--left === 0) resolve()
    else requestAnimationFrame(next)
  })
})`

/** In the page: resolves with how long it took until each row has a name in it; rejects when that takes too long. */
function rowsHave({ name, giveUpMs }) {
  const { document, performance, requestAnimationFrame } = globalThis
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const look = () => {
      const rows = [...document.querySelectorAll('tbody tr')]
      const isThere = rows.length > 0 && rows.every((row) => row.textContent.includes(name))
      const takenMs = performance.now() - startedMs
      if (isThere) resolve(takenMs)
      else if (takenMs > giveUpMs) reject(new Error(`No rows of ${name} within ${giveUpMs} ms`))
      else requestAnimationFrame(look)
    }
    look()
  })
}

/** In the page: resolves when its head says a state of the trigger; rejects when that takes too long. */
function saysState({ state, giveUpMs }) {
  const { document, performance, requestAnimationFrame } = globalThis
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const look = () => {
      if (document.querySelector('.page-below')?.textContent.includes(state)) resolve()
      else if (performance.now() - startedMs > giveUpMs) reject(new Error(`${state} is not shown`))
      else requestAnimationFrame(look)
    }
    look()
  })
}
