import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createScheduler, defineJob } from 'quartz-ts'
import { prometheusPlugin } from 'quartz-ts/metrics'
import { postgresJobStore } from 'quartz-ts/postgres'
import { createServer } from 'quartz-ts/server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { projectRoot } from '../support/source-files.ts'

const rulesFile = join(projectRoot, 'docs/grafana/quartz-ts.rules.yml')
const hasPrometheus = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0)
if (!hasPrometheus && process.env['QUARTZ_TS_REQUIRE_PROMETHEUS'] === '1')
  throw new Error('There is no Prometheus.')
const withPrometheus = describe.skipIf(!hasPrometheus) // reason: not every machine has a Prometheus

/** What has no series before the trouble that it counts. */
const ofTrouble = /quartz_errors_total|quartz_store_lock_wait|result="error"/

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string }[]
}

async function freePort(): Promise<number> {
  const server = createHttpServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** What has to end, the last one first. */
class Ends {
  readonly #ends: (() => unknown)[] = []

  add(end: () => unknown): void {
    this.#ends.unshift(end)
  }

  use<Used extends AsyncDisposable>(used: Used): Used {
    this.add(() => used[Symbol.asyncDispose]())
    return used
  }

  async all(): Promise<void> {
    for (const end of this.#ends) await end()
  }
}

const token = 'a-token-of-a-viewer'

/** A node with a job that ends well and one that never does; answers where its metrics are. */
async function servedNode(ends: Ends): Promise<string> {
  const { connectionString } = ends.use(await freshDatabase())
  const metrics = prometheusPlugin()
  const well = defineJob('ends', () => 'well')
  const fails = defineJob(
    'fails',
    () => {
      throw new Error('never well')
    },
    { retry: { attempts: 2, backoff: { type: 'fixed', initialMs: 10 } } },
  )
  const scheduler = ends.use(
    await createScheduler({
      logger: false,
      jobStore: postgresJobStore({ connectionString, checkInIntervalMs: 1000 }),
      jobs: [well, fails],
      plugins: [metrics],
    }),
  )
  await scheduler.schedule(well, { key: 'often', every: '500ms' })
  await scheduler.schedule(fails, { key: 'fails', every: '1s' })
  await scheduler.start()
  const sha256 = createHash('sha256').update(token).digest('hex')
  const tokens = [{ name: 'prometheus', sha256, role: 'viewer' as const }]
  const server = ends.use(
    await createServer({ scheduler, metrics, logger: false, auth: { kind: 'token', tokens } }),
  )
  return new URL(await server.listen({ port: 0 })).host
}

/** Answers the address of a Prometheus that scrapes a node. */
async function startPrometheus(ends: Ends, host: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-prometheus-'))
  ends.add(() => rm(folder, { recursive: true, force: true }))
  const config = join(folder, 'prometheus.yml')
  const scrape = {
    job_name: 'quartz-ts',
    authorization: { credentials: token },
    static_configs: [{ targets: [host] }],
  }
  const settings = {
    global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
    rule_files: [rulesFile],
    scrape_configs: [scrape],
  }
  // JSON is YAML as well.
  await writeFile(config, JSON.stringify(settings))
  const address = `127.0.0.1:${await freePort()}`
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, 'data')}`]
  const child = spawn('prometheus', [...args, `--web.listen-address=${address}`], { stdio: 'ignore' })
  ends.add(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  await vi.waitFor(
    async () => {
      expect((await fetch(`http://${address}/-/ready`)).status).toBe(200)
    },
    { timeout: 30_000 },
  )
  return `http://${address}`
}

async function answerOf(prometheus: string, path: string): Promise<unknown> {
  const answer = await fetch(`${prometheus}/api/v1/${path}`)
  const { status, error, data } = (await answer.json()) as {
    readonly status: string
    readonly error?: string
    readonly data: unknown
  }
  expect([path, status, error]).toEqual([path, 'success', undefined])
  return data
}

/** Runs rules over made-up samples, one a minute, and compares the alerts of one instant. */
async function unitTestOfRules(
  series: readonly { readonly series: string; readonly values: string }[],
  evalTime: string,
  alerts: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-promtool-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'test.yml')
  const expected = Object.entries(alerts).map(([alertname, labels]) => ({
    eval_time: evalTime,
    alertname,
    exp_alerts: labels.map(({ summary, ...exp_labels }) => ({
      exp_labels,
      exp_annotations: { summary },
    })),
  }))
  const tests = [{ interval: '1m', input_series: series, alert_rule_test: expected }]
  await writeFile(file, JSON.stringify({ rule_files: [rulesFile], tests }))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  expect([status, stderr], stdout).toEqual([0, ''])
}
const started = (scheduler: string, values: string) => ({
  series: `quartz_scheduler_started{scheduler="${scheduler}",instance="${scheduler}-host"}`,
  values,
})

withPrometheus('a Prometheus that scrapes a node', () => {
  const ends = new Ends()
  let prometheus = ''
  beforeAll(async () => {
    prometheus = await startPrometheus(ends, await servedNode(ends))
  })
  afterAll(() => ends.all())
  const ask = (path: string): Promise<unknown> => answerOf(prometheus, path)

  test('may scrape it with the token of a viewer', async () => {
    await vi.waitFor(
      async () => {
        const { activeTargets } = (await ask('targets')) as { readonly activeTargets: readonly object[] }
        expect(activeTargets).toMatchObject([{ health: 'up', lastError: '' }])
      },
      { timeout: 30_000, interval: 200 },
    )
  })

  test('has values for what the Grafana dashboard asks for', async () => {
    const text = await readFile(join(projectRoot, 'docs/grafana/quartz-ts.json'), 'utf8')
    const { panels } = JSON.parse(text) as { readonly panels: readonly Panel[] }
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
    const empty = async (): Promise<string[]> => {
      const found: string[] = []
      for (const query of queries) {
        const filled = query.replace(/\$(scheduler|job_group)\b/g, '.*').replaceAll('$__rate_interval', '4s')
        const { result } = (await ask(`query?query=${encodeURIComponent(filled)}`)) as {
          readonly result: readonly unknown[]
        }
        if (result.length === 0 && !ofTrouble.test(query)) found.push(query)
      }
      return found
    }
    await vi.waitFor(
      async () => {
        expect(await empty()).toEqual([])
      },
      { timeout: 30_000, interval: 500 },
    )
  })

  test('evaluates each of the alert rules, and one finds what fails', async () => {
    await vi.waitFor(
      async () => {
        const { groups } = (await ask('rules')) as {
          readonly groups: readonly { readonly rules: readonly Record<string, unknown>[] }[]
        }
        const rules = groups.flatMap((group) => group.rules)
        expect(rules.length).toBeGreaterThan(5)
        expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
        const active = rules.filter(({ state }) => state === 'firing').map(({ name }) => name)
        expect(active).toEqual(['QuartzJobsGivenUp'])
      },
      { timeout: 30_000, interval: 500 },
    )
  })
})

withPrometheus('the file of rules', () => {
  test('learns of a node that the others have recovered', async () => {
    const labels = 'scheduler="jobs",instance="survivor"'
    const summary = 'A node of jobs stopped checking in, in the last 15 minutes.'
    await unitTestOfRules(
      [
        { series: `quartz_node_failures_total{${labels}}`, values: '0x10 1x30' },
        // Between two scrapes the row of the dead node has come and gone.
        { series: `quartz_nodes{${labels},state="alive"}`, values: '2x10 1x30' },
        { series: `quartz_nodes{${labels},state="failed"}`, values: '0x40' },
      ],
      '13m',
      { QuartzNodeDown: [{ scheduler: 'jobs', summary }] },
    )
  })

  test('learns that all processes of one scheduler are gone', async () => {
    await unitTestOfRules([started('jobs', '1x10 stale'), started('others', '1x40')], '20m', {
      QuartzNotFiring: [],
      QuartzGone: [{ scheduler: 'jobs', summary: 'No process of jobs answers Prometheus.' }],
      QuartzAllGone: [],
    })
  })

  test('learns that no process was ever there, or is for long', async () => {
    const gone = { QuartzAllGone: [{ summary: 'No process answers Prometheus.' }] }
    await unitTestOfRules([], '10m', gone)
    await unitTestOfRules([started('jobs', '1x10 stale')], '2h', gone)
  })

  test('is right for promtool', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', rulesFile], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('rules found')
  })
})
