import { prometheusPlugin } from '../../dist/metrics.js'
import { openTelemetryPlugin } from '../../dist/otel.js'
import { drain, oneShots } from '../lib/drain.mjs'
import { ramJobStore } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'
import { summaryOf } from '../lib/stats.mjs'

const stores = {
  RAM: {
    count: 50_000,
    place: async () => ({ open: ramJobStore, settle: async () => {}, close: async () => {} }),
  },
  SQLite: { count: 10_000, place: places.sqlite },
}
/** Without an SDK the API of OpenTelemetry does nothing: what is measured is the way to it. */
const plugins = {
  off: () => [],
  Prometheus: () => [prometheusPlugin()],
  'OpenTelemetry without an SDK': () => [openTelemetryPlugin()],
}

/** How often each is measured, one after the other, so that a noisy minute of the machine touches all alike. */
const turns = 5

export const benchmark = {
  name: 'metrics',
  title: 'What measuring costs: one-shot triggers due now, a job each, no-op inline job, 100 slots',
  variants: Object.keys(stores),
  rounds: 1,
  goals: (median) =>
    Object.keys(stores).map((store) => ({
      what: `${store}: processor of a fire without measuring, share of that with Prometheus`,
      value: median(`${store}: off, processor µs`) / median(`${store}: Prometheus, processor µs`),
      relation: '>=',
      limit: 0.75,
    })),
  async run(variant, { once }) {
    const fires = once ? 500 : stores[variant].count
    // The first schedulers of a process run unoptimised code.
    for (const plugin of Object.keys(plugins)) await fire(variant, plugin, Math.min(fires, 5000))
    const measured = new Map(Object.keys(plugins).map((plugin) => [plugin, []]))
    for (let turn = 0; turn < (once ? 1 : turns); turn++) {
      for (const [plugin, drains] of measured) drains.push(await fire(variant, plugin, fires))
    }
    return Object.fromEntries(
      [...measured].flatMap(([plugin, drains]) => [
        [`${plugin}, fires/s`, summaryOf(drains.map(({ perSecond }) => perSecond)).median],
        [`${plugin}, processor µs`, summaryOf(drains.map(({ microsecondsEach }) => microsecondsEach)).median],
      ]),
    )
  },
}

async function fire(store, plugin, count) {
  const place = await stores[store].place()
  const drained = await drain({
    place,
    slots: 100,
    count,
    entriesOf: (job) => oneShots(job, count),
    options: { plugins: plugins[plugin](), logger: false },
  })
  await place.close()
  return drained
}
