import { fill, groups, keyOf, nameOf, remember, rememberMore, schedulerName } from '../lib/big-store.mjs'
import { createScheduler, defineJob } from '../lib/quartz-ts.mjs'
import { seededRandom } from '../lib/random.mjs'
import { headers, viewedServer } from '../lib/server.mjs'
import { places } from '../lib/sql-stores.mjs'
import { quantile, sortedCopy } from '../lib/stats.mjs'

const stores = { PostgreSQL: 'postgres', SQLite: 'sqlite' }

export const benchmark = {
  name: 'server-lists',
  title: 'Lists and searches of the HTTP API: 100,000 triggers and 1,000,000 executions, without the network',
  needs: 'postgres',
  variants: Object.keys(stores),
  rounds: 1,
  goals: (median) =>
    Object.keys(stores).map((store) => ({
      what: `${store}: all calls, p99 ms`,
      value: median(`${store}: all p99 ms`),
      relation: '<=',
      limit: 50,
    })),
  async run(variant, { once, seed }) {
    const place = await places[stores[variant]]()
    const size = once
      ? { triggers: 2000, executions: 2000, others: 2000, calls: 2 }
      : { triggers: 100_000, executions: 1_000_000, others: 100_000, calls: 30 }
    const measured = await measure(place, size, seed)
    await place.close()
    return measured
  },
}

async function measure(place, { triggers, executions, others, calls }, seed) {
  const noop = defineJob('noop', () => {})
  const jobStore = place.open({ history: { record: 'all', maxRows: 10_000_000 } })
  const scheduler = await createScheduler({ schedulerName, jobs: [noop], jobStore, logger: false })
  await fill(scheduler, noop, triggers)
  await remember(place, executions, triggers)
  await rememberMore(jobStore, others)
  await place.settle()
  // Viewers do not see the audit.
  const server = await viewedServer(scheduler, { role: 'admin' })
  const random = seededRandom(seed)
  const pick = (count) => Math.floor(random() * count)
  const kinds = callsOf({ triggers, executions, others }, pick)
  const taken = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]))
  for (const call of Object.values(kinds)) await timed(server, call())
  for (let round = 0; round < calls; round++) {
    for (const [kind, call] of Object.entries(kinds)) taken[kind].push(await timed(server, call()))
  }
  const wholeSearch = await searchedWhole(server)
  await server.close()
  await scheduler.shutdown()
  const all = Object.values(taken).flat()
  return {
    'all p50 ms': quantileOf(all, 'takenMs', 0.5),
    'all p99 ms': quantileOf(all, 'takenMs', 0.99),
    'all p99 ms of the processor': quantileOf(all, 'processorMs', 0.99),
    ...Object.fromEntries(
      Object.entries(taken).flatMap(([kind, samples]) => [
        [`${kind}: p50 ms`, quantileOf(samples, 'takenMs', 0.5)],
        [`${kind}: p99 ms`, quantileOf(samples, 'takenMs', 0.99)],
        [`${kind}: p99 ms of the processor`, quantileOf(samples, 'processorMs', 0.99)],
      ]),
    ),
    'a search of everything that finds nothing, ms': wholeSearch.ms,
    'the same, requests': wholeSearch.requests,
  }
}

function quantileOf(samples, field, share) {
  return quantile(sortedCopy(samples.map((sample) => sample[field])), share)
}

function callsOf({ triggers, executions, others }, pick) {
  const cursor = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const executedMs = () => Date.now() - pick(executions) * 1000
  return {
    ...callsOfRecords(others, pick),
    'triggers, first page': () => '/triggers?take=50',
    'triggers, a page': () => `/triggers?take=50&after=${cursor(keyOf(pick(triggers)))}`,
    'triggers, of 1,000': () => '/triggers?take=1000',
    'triggers, search': () => `/triggers?take=50&search=INVOICE-${pick(triggers)}`,
    'triggers, search for nothing': () => '/triggers?take=50&search=nothing',
    'triggers, in error': () => '/triggers?take=50&state=ERROR',
    'triggers, paused': () => '/triggers?take=50&state=PAUSED,COMPLETE',
    'triggers, of a job': () => `/triggers?jobGroup=group-${pick(groups)}&jobName=job-${pick(1000)}`,
    'triggers, of a group of jobs': () => `/triggers?take=50&jobGroup=group-${pick(groups)}`,
    'triggers, in fire order': () => '/triggers?take=50&order=nextFireTime',
    'triggers, due': () => `/triggers?take=50&dueBeforeMs=${Date.now() + 90_000_000}`,
    'jobs, first page': () => '/jobs?take=50',
    'jobs, search for nothing': () => '/jobs?take=50&search=nothing',
    'jobs, search': () => `/jobs?take=50&search=job-${pick(1000)}`,
    groups: () => '/groups',
    overview: () => '/overview',
    planned: () => `/planned?take=50&toMs=${Date.now() + 90_000_000}`,
    'executions, first page': () => '/executions?take=50',
    'executions, a page': () =>
      `/executions?take=50&after=${cursor({ fireTimeMs: executedMs(), fireInstanceId: 'f-1' })}`,
    'executions, of a trigger': () => `/executions?take=50&filter=trigger:DEFAULT/${nameOf(pick(5000))}`,
    'executions, of a job': () => {
      const job = pick(1000)
      return `/executions?take=50&filter=job:group-${job % 100}/job-${job}`
    },
    'executions, failed': () => '/executions?take=50&filter=outcome:failed',
    'executions, slow': () => '/executions?take=50&filter=took%3E1m',
    'executions, late': () => '/executions?take=50&filter=late%3E1m',
    'executions, of data': () => `/executions?take=50&filter=data.customer%3D${pick(5000)}`,
    'executions, of data that none has': () => '/executions?take=50&filter=data.customer%3Dnothing',
    'executions, with an error': () => `/executions?take=50&filter=error:%22printer ${pick(1000)} has%22`,
    'executions, in numbers': () => `/execution-stats?minutes=${1 + pick(1000)}`,
    'completion of a trigger': () => `/completion?of=executions&text=trigger:invoice-${pick(triggers)}`,
  }
}

/** Of what is remembered besides the executions. */
function callsOfRecords(others, pick) {
  const group = () => `group-${pick(groups)}`
  return {
    'misfires, first page': () => '/misfires?take=50',
    'misfires, of a trigger': () => {
      const { name, group } = keyOf(pick(others))
      return `/misfires?take=50&filter=trigger:${group}/${name}`
    },
    'misfires, of a cause': () => '/misfires?take=50&filter=cause:outage',
    'misfires, of a group of jobs': () => `/misfires?take=50&filter=group:${group()}`,
    // Another time each, since an answer is kept for a while.
    'misfires, in numbers': () => `/misfire-stats?hours=${1 + pick(744)}`,
    'audit, first page': () => '/audit?take=50',
    'audit, of a user': () => `/audit?take=50&by=user-${pick(50)}`,
    'audit, of a stranger': () => '/audit?take=50&by=stranger',
    'audit, refused': () => '/audit?take=50&outcome=refused',
    'job status, first page': () => '/job-status?take=50',
    'job status, of a week': () => '/job-status?take=50&days=7',
    'job status, failing': () => '/job-status?take=5&minConsecutiveFailures=3',
    'log of an execution': () => `/executions/f-${pick(others)}/log`,
  }
}

/** Milliseconds by the clock, and of the processor that this process used. */
async function timed(server, path) {
  const before = process.cpuUsage()
  const startedMs = performance.now()
  const response = await server.fetch(new Request(`http://localhost/api${path}`, { headers }))
  const text = await response.text()
  const takenMs = performance.now() - startedMs
  const { user, system } = process.cpuUsage(before)
  if (response.status !== 200) throw new Error(`${path} was answered ${text}`)
  return { takenMs, processorMs: (user + system) / 1000 }
}

async function searchedWhole(server) {
  const startedMs = performance.now()
  let requests = 0
  for (let after = ''; after !== null; requests++) {
    const path = `/triggers?take=50&search=nothing${after === '' ? '' : `&after=${after}`}`
    const response = await server.fetch(new Request(`http://localhost/api${path}`, { headers }))
    after = (await response.json()).next
  }
  return { ms: performance.now() - startedMs, requests }
}
