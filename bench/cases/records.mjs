import { drain, oneShots, repeating } from '../lib/drain.mjs'
import { defineJob } from '../lib/quartz-ts.mjs'
import { places } from '../lib/sql-stores.mjs'

const off = { history: false, jobStatus: false, executionLog: false }
const all = { history: { record: 'all', maxRows: 1_000_000 } }
/** The history of all, and job status. */
const runs = { ...all, executionLog: false }
const kept = { off, runs, all }
const variants = ['sqlite', 'postgres'].flatMap((store) =>
  ['repeating', 'one-shot'].flatMap((shape) =>
    Object.keys(kept).map((records) => `${store}, ${shape}, ${records}`),
  ),
)

/** Every job logs a line; with `off` and `runs` it goes to no store. */
export const benchmark = {
  name: 'records',
  title: 'history of all and job status (runs), a log line a job too (all), against none of it; 100 slots',
  needs: 'postgres',
  variants,
  rounds: 3,
  goals: (median) =>
    ['sqlite', 'postgres'].map((store) => ({
      what: `share of the fires a second without, 200 repeating jobs, ${store}`,
      value: median(`${store}, repeating, runs: fires/s`) / median(`${store}, repeating, off: fires/s`),
      relation: '>=',
      limit: 0.75,
    })),
  async run(variant, { once }) {
    const [store, shape, records] = variant.split(', ')
    const count = once ? 500 : 20_000
    const place = await places[store]()
    const entriesOf = (job) => (shape === 'repeating' ? repeating(job, 200) : oneShots(job, count))
    const storeOptions = kept[records]
    const { perSecond, microsecondsEach } = await drain({
      place,
      storeOptions,
      slots: 100,
      count,
      entriesOf,
      options: { logger: false },
      jobOf: loggingJob,
    })
    await place.close()
    return { 'fires/s': perSecond, 'processor µs a fire': microsecondsEach }
  },
}

function loggingJob(note) {
  return defineJob('noop', ({ log }) => {
    log.info({}, 'one line')
    note()
  })
}
