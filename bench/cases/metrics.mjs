import { prometheusPlugin } from '../../dist/metrics.js'
import { openTelemetryPlugin } from '../../dist/otel.js'
import { drain, oneShots } from '../lib/drain.mjs'
import { ramJobStore } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'

const stores = {
  RAM: {
    count: 100_000,
    place: async () => ({ open: ramJobStore, settle: async () => {}, close: async () => {} }),
  },
  SQLite: { count: 20_000, place: places.sqlite },
}
/** Without an SDK the API of OpenTelemetry does nothing: what is measured is the way to it. */
const plugins = {
  off: () => [],
  Prometheus: () => [prometheusPlugin()],
  'OpenTelemetry without an SDK': () => [openTelemetryPlugin()],
}

export const benchmark = {
  name: 'metrics',
  title: 'What measuring costs: one-shot triggers due now, a job each, no-op inline job, 100 slots',
  variants: Object.keys(stores).flatMap((store) =>
    Object.keys(plugins).map((plugin) => `${store}, ${plugin}`),
  ),
  rounds: 5,
  goals: (median) =>
    Object.keys(stores).map((store) => ({
      what: `${store}: share of the fires a second with Prometheus`,
      value: median(`${store}, Prometheus: fires/s`) / median(`${store}, off: fires/s`),
      relation: '>=',
      limit: 0.75,
    })),
  async run(variant, { once }) {
    const [store, plugin] = variant.split(', ')
    const { place, count } = stores[store]
    const fire = async (fires) => {
      const opened = await place()
      const { perSecond } = await drain({
        place: opened,
        storeOptions: undefined,
        slots: 100,
        count: fires,
        entriesOf: (job) => oneShots(job, fires),
        options: { plugins: plugins[plugin]() },
      })
      await opened.close()
      return perSecond
    }
    const fires = once ? 500 : count
    // The first scheduler of a process runs unoptimised code; what is measured is the second one.
    await fire(Math.min(fires, 5000))
    return { 'fires/s': await fire(fires) }
  },
}
