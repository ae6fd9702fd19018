import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { noFiringLaterThan, schedulerHealth } from '../../src/index.ts'
import { prometheusPlugin } from '../../src/metrics.ts'
import { createScheduler } from '../../src/scheduler/create-scheduler.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { ask, filledScheduler, serverFixture, tokens } from '../support/server-fixture.ts'
import { unableToCheckIn } from '../support/unable-to-check-in.ts'

describe('health', () => {
  test('says who asks without a token only whether it is well', async () => {
    await using fixture = await serverFixture()
    const reasons = [
      {
        scheduler: 'QuartzScheduler',
        code: 'notStarted',
        message: 'The scheduler stands by: it fires nothing.',
      },
    ]
    expect(await fixture.ask('GET /health/ready', { who: null })).toMatchObject({
      status: 503,
      json: { isOk: false, reasons: null },
    })
    expect(await fixture.ask('GET /health/ready', { who: 'reports' })).toMatchObject({
      json: { isOk: false, reasons: null },
    })
    expect(await fixture.ask('GET /health/ready', { who: 'viewer' })).toMatchObject({
      status: 503,
      json: { isOk: false, reasons },
    })
    await fixture.scheduler.start()
    expect(await fixture.ask('GET /health/ready', { who: null })).toMatchObject({
      status: 200,
      json: { isOk: true, reasons: null },
    })
    const atRoot = await fetch(`${fixture.address}/health/live`)
    expect(atRoot.status).toBe(200)
    expect(atRoot.headers.get('cache-control')).toBe('no-store')
  })

  test('answers probes by any name and at any rate, and nothing else', async () => {
    await using fixture = await serverFixture({ allowedHosts: ['ops.example.com'], requestsPerMinute: 1 })
    const asked: string[] = []
    for (const path of ['/health/live', '/health/live', '/health/ready', '/jobs']) {
      const { status } = await fixture.server.fetch(new Request(`http://10.0.0.7/api${path}`))
      asked.push(`${path} ${status}`)
    }
    expect(asked).toEqual(['/health/live 200', '/health/live 200', '/health/ready 503', '/jobs 403'])
  })

  test('answers a probe without a Host header, as of HTTP/1.0, and refuses anything else without one', async () => {
    await using fixture = await serverFixture()
    await using named = await serverFixture({ allowedHosts: ['ops.example.com'] })
    for (const { address } of [fixture, named]) {
      expect(await askWithoutHost(address, '/health/live')).toMatch(/^HTTP\/1\.1 200 .*"isOk":true/s)
      expect(await askWithoutHost(address, '/api/health/ready')).toMatch(/^HTTP\/1\.1 503 .*"isOk":false/s)
      for (const path of ['/api/jobs', '/health/rules', '/metrics']) {
        const refused = await askWithoutHost(address, path)
        expect(refused, path).toMatch(/^HTTP\/1\.1 403 .*"code":"ERR_FOREIGN_ORIGIN".*has no Host header/s)
      }
    }
  })

  test('answers probes also while the host cannot tell who asks, and does not ask it for strangers', async () => {
    const failures: string[] = []
    const ignore = (): void => {}
    const error = (_: object, message: string): void => {
      failures.push(message)
    }
    const logger = { debug: ignore, info: ignore, warn: ignore, error }
    let asked = 0
    const authenticate = async (): Promise<never> => {
      asked += 1
      throw new Error('the directory is away')
    }
    await using fixture = await serverFixture({
      logger,
      requestsPerMinute: 2,
      auth: { kind: 'hook', authenticate },
    })
    expect(await fixture.ask('GET /health/live', { who: null })).toMatchObject({ status: 200 })
    expect(asked).toBe(0)
    for (const headers of [{ cookie: 'a=b' }, { authorization: 'Bearer c' }, { authorization: 'Bearer d' }]) {
      expect(await fixture.ask('GET /health/live', { who: null, headers })).toMatchObject({
        status: 200,
        json: { isOk: true, reasons: null },
      })
    }
    expect(asked).toBe(2)
    expect(failures).toEqual(Array(2).fill('it could not be found out who asks a probe'))
  })

  test('says with the scheduler why its node is not ready, also to those with a role on a group alone', async () => {
    await using fixture = await unableToCheckIn()
    for (const who of ['viewer', 'reports'] as const) {
      expect(await fixture.ask('GET /scheduler', { who })).toMatchObject({
        json: { status: 'started', notReady: ['notCheckingIn'] },
      })
    }
    fixture.mend()
    await fixture.clock.advance(60_000)
    expect(await fixture.ask('GET /scheduler')).toMatchObject({ json: { notReady: [] } })
    expect(await fixture.ask('GET /schedulers')).toMatchObject({ json: { items: [{ notReady: [] }] } })
  })

  test('answers the rules that it was given', async () => {
    const scheduler = await filledScheduler()
    const rule = {
      name: 'never',
      check: async () => ({ code: 'ruleFailed', message: 'never well' }) as const,
    }
    const health = schedulerHealth(scheduler, { rules: [rule, noFiringLaterThan(1000)] })
    await using fixture = await serverFixture({ served: scheduler, health })
    expect(await fixture.ask('GET /health/rules', { who: 'viewer' })).toMatchObject({
      status: 503,
      json: { reasons: [{ scheduler: 'QuartzScheduler', code: 'ruleFailed', message: 'never well' }] },
    })
  })

  test('is not ready for a while before the server ends', async () => {
    const clock = new ManualClock()
    const scheduler = await filledScheduler()
    await scheduler.start()
    await using fixture = await serverFixture({ served: scheduler, clock })
    const closing = fixture.server.close({ notReadyMs: 5000 })
    expect(await fixture.ask('GET /health/ready', { who: 'viewer' })).toMatchObject({
      status: 503,
      json: { reasons: [{ code: 'stopping' }] },
    })
    expect(await fixture.ask('GET /jobs')).toMatchObject({ status: 200 })
    await clock.advance(5000)
    await closing
    await expect(fetch(`${fixture.address}/health/ready`)).rejects.toThrow()
  })

  test('of another scheduler than those that are served is refused', async () => {
    const [served, other] = [await filledScheduler(), await filledScheduler({ schedulerName: 'other' })]
    await expect(serverFixture({ served, health: schedulerHealth(other) })).rejects.toMatchObject({
      code: 'ERR_INVALID_OPTION',
    })
    await served.shutdown()
    await other.shutdown()
  })
})

/** The whole answer to a request of HTTP/1.0, as load balancers send it. */
async function askWithoutHost(address: string, path: string): Promise<string> {
  const { hostname, port } = new URL(address)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.write(`GET ${path} HTTP/1.0\r\nAuthorization: Bearer ${tokens.viewer}\r\n\r\n`)
  return text(socket)
}

describe('/metrics', () => {
  test('answers viewers in the format of Prometheus, also without /api', async () => {
    const metrics = prometheusPlugin()
    const served = await createScheduler({ logger: false, plugins: [metrics] })
    await using fixture = await serverFixture({ served, metrics })
    const found = await fixture.ask('GET /metrics', { who: 'viewer' })
    expect(found.headers.get('content-type')).toBe(metrics.contentType)
    expect(found.text).toContain('quartz_scheduler_started{scheduler="QuartzScheduler"} 0')
    const atRoot = await fetch(`${fixture.address}/metrics`, {
      headers: { authorization: `Bearer ${tokens.viewer}` },
    })
    expect(await atRoot.text()).toContain('quartz_pool_size')
    expect((await fetch(`${fixture.address}/metrics`)).status).toBe(401)
    expect(await fixture.ask('GET /metrics', { who: 'reports' })).toMatchObject({ status: 403 })
  })

  test('is not there when nothing is measured', async () => {
    await using fixture = await serverFixture()
    expect(await ask(fixture.address, 'GET /metrics')).toMatchObject({
      status: 404,
      json: { code: 'ERR_NOT_FOUND' },
    })
  })
})
