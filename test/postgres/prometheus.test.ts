import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
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
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freshDatabase } from '../support/postgres-database.ts'
import { projectRoot } from '../support/source-files.ts'

const rulesFile = join(projectRoot, 'docs/grafana/quartz-ts.rules.yml')
const hasPrometheus = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0)
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

withPrometheus('a Prometheus that scrapes a node', () => {
  const leaving = new AsyncDisposableStack()
  let prometheus = ''

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-prometheus-'))
    leaving.defer(() => rm(folder, { recursive: true, force: true }))
    const { connectionString } = leaving.use(await freshDatabase())
    const metrics = prometheusPlugin()
    const fails = defineJob(
      'fails',
      () => {
        throw new Error('never well')
      },
      { retry: { attempts: 2, backoff: { type: 'fixed', initialMs: 10 } } },
    )
    const scheduler = leaving.use(
      await createScheduler({
        logger: false,
        jobStore: postgresJobStore({ connectionString, checkInIntervalMs: 1000 }),
        jobs: [defineJob('ends', () => 'well'), fails],
        plugins: [metrics],
      }),
    )
    await scheduler.schedule('ends', { key: 'often', every: '500ms' })
    await scheduler.schedule('fails', { key: 'fails', every: '1s' })
    await scheduler.start()
    const token = 'a token of a viewer alone'
    const sha256 = createHash('sha256').update(token).digest('hex')
    const server = leaving.use(
      await createServer({
        scheduler,
        metrics,
        logger: false,
        auth: { kind: 'token', tokens: [{ name: 'prometheus', sha256, role: 'viewer' }] },
      }),
    )
    const { host } = new URL(await server.listen({ port: 0 }))
    const config = join(folder, 'prometheus.yml')
    const settings = {
      global: { scrape_interval: '500ms', evaluation_interval: '500ms' },
      rule_files: [rulesFile],
      scrape_configs: [
        {
          job_name: 'quartz-ts',
          authorization: { credentials: token },
          static_configs: [{ targets: [host] }],
        },
      ],
    }
    // JSON is YAML as well.
    await writeFile(config, JSON.stringify(settings))
    const address = `127.0.0.1:${await freePort()}`
    prometheus = `http://${address}`
    const child: ChildProcess = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
      ],
      { stdio: 'ignore' },
    )
    leaving.defer(async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    })
    await vi.waitFor(
      async () => {
        expect((await fetch(`${prometheus}/-/ready`)).status).toBe(200)
      },
      { timeout: 30_000 },
    )
  })
  afterAll(() => leaving.disposeAsync())

  async function ask(path: string): Promise<unknown> {
    const answer = await fetch(`${prometheus}/api/v1/${path}`)
    const { status, error, data } = (await answer.json()) as {
      readonly status: string
      readonly error?: string
      readonly data: unknown
    }
    expect([path, status, error]).toEqual([path, 'success', undefined])
    return data
  }

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

  test('takes the file of rules', () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', rulesFile], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('rules found')
  })
})
