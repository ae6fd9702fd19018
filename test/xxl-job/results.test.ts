import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import { ManualClock } from '../../src/testing.ts'
import { SendOrder } from '../../src/xxl-job/executor/results/send-order.ts'
import { latch } from '../support/latch.ts'
import { callExecutor, FakeAdmin } from '../support/xxl-job-admin.ts'
import { advanceUntil, startedAdmin, startRig, temporaryFolder } from './executor-fixture.ts'

const handlers = { demo: () => {} }
const folderOf = (logPath: string): string => join(logPath, 'callbacklogs', 'app-demo-executor')
const filesOf = (logPath: string): string[] => readdirSync(folderOf(logPath))

test('an executor answers before it registers', async () => {
  const admin = await startedAdmin()
  const beats: string[] = []
  // An admin may call back at once.
  admin.behaviour = ({ path, body }, response) => {
    if (!path.endsWith('/registry')) return false
    const { registryValue } = JSON.parse(body) as { registryValue: string }
    callExecutor(registryValue, '/beat', '').then(
      ({ text }) => {
        beats.push(text)
        response.end('{"code":200}')
      },
      () => response.destroy(),
    )
    return true
  }
  const { executor } = await startRig({ handlers }, admin)
  if (executor.status().lastBeat === null) await executor.events.next('registered')
  expect(beats).toEqual(['{"code":200,"msg":"Success","data":null,"content":null}'])
})

test('the log of a run says that its result is not sent, and when it is, to whom', async () => {
  const clock = new ManualClock()
  const admin = await startedAdmin()
  const { run, executor, call } = await startRig({ handlers, clock }, admin)
  await admin.stop()
  const waiting = executor.events.next('resultsWaiting')
  await run(1)
  await waiting
  await admin.start()
  await advanceUntil(clock, () => executor.status().waitingResults === 0)
  const { data } = await call('/log', { logId: 1, logDateTime: 1_790_000_000_123, fromLineNum: 1 })
  const lines = (data as { logContent: string }).logContent.trim().split('\n')
  expect(lines.at(-2)).toContain('result not sent, it is sent again: ')
  expect(lines.at(-1)).toMatch(new RegExp(`result sent to ${admin.address}$`))
})

describe('results that no admin takes', () => {
  test('wait on disk while the admin is away for a minute, and are sent once it is back', async () => {
    const clock = new ManualClock()
    const admin = await startedAdmin()
    const { run, executor, logPath } = await startRig({ handlers, clock }, admin)
    await admin.stop()
    const waiting = executor.events.next('resultsWaiting')
    for (const logId of [1, 2, 3]) await run(logId)
    expect((await waiting).error).toMatchObject({ code: 'ERR_XXL_JOB_ADMIN' })
    expect(filesOf(logPath)).toHaveLength(3)
    for (let second = 0; second < 60; second++) await clock.advance(1000)
    expect(executor.status().waitingResults).toBe(3)
    await admin.start()
    await advanceUntil(clock, () => executor.status().waitingResults === 0)
    expect(filesOf(logPath)).toEqual([])
    expect(admin.results.map(({ logId, code }) => [logId, code])).toEqual([
      [1, 200],
      [2, 200],
      [3, 200],
    ])
  })

  test('are sent after a restart, the oldest first', async () => {
    const admin = await startedAdmin()
    const logPath = temporaryFolder()
    const first = await startRig({ handlers, logPath }, admin)
    await admin.stop()
    const waiting = first.executor.events.next('resultsWaiting')
    await first.run(1)
    await waiting
    await first.run(2)
    await first.executor.close()
    expect(filesOf(logPath)).toHaveLength(2)
    await admin.start()
    await startRig({ handlers, logPath }, admin)
    await admin.until(({ results }) => results.length === 2)
    expect(admin.results.map(({ logId }) => logId)).toEqual([1, 2])
  })

  test('of a file that broke off or holds nonsense do not hold up the others', async () => {
    const logPath = temporaryFolder()
    const folder = folderOf(logPath)
    mkdirSync(folder, { recursive: true })
    const whole = { logId: 7, logDateTimeMs: 1_790_000_000_123, handleCode: 200, handleMsg: 'kept' }
    writeFileSync(join(folder, '1.json'), '{"logId":5,')
    writeFileSync(join(folder, '2.json.tmp'), '{"logId":6,')
    writeFileSync(join(folder, '3.json'), JSON.stringify(whole))
    const { admin } = await startRig({ handlers, logPath })
    expect(await admin.resultOf(7)).toEqual({ logId: 7, code: 200, msg: 'kept' })
    await admin.until(() => !filesOf(logPath).includes('3.json'))
    expect(filesOf(logPath)).toEqual(['1.json.broken'])
  })

  test('of a file that the disk does not give are sent when it does', async () => {
    const clock = new ManualClock()
    const logPath = temporaryFolder()
    const folder = folderOf(logPath)
    mkdirSync(folder, { recursive: true })
    const resultOf = (logId: number): string =>
      JSON.stringify({ logId, logDateTimeMs: 1_790_000_000_123, handleCode: 200, handleMsg: '' })
    // It cannot be opened, whoever tries.
    symlinkSync('1.json', join(folder, '1.json'))
    writeFileSync(join(folder, '2.json'), resultOf(2))
    const { admin, executor } = await startRig({ handlers, logPath, clock })
    await admin.resultOf(2)
    await advanceUntil(clock, () => !filesOf(logPath).includes('2.json'))
    expect(filesOf(logPath)).toEqual(['1.json'])
    expect(executor.status().waitingResults).toBe(1)
    rmSync(join(folder, '1.json'))
    writeFileSync(join(folder, '1.json'), resultOf(1))
    await advanceUntil(clock, () => admin.results.length === 2)
    expect(await admin.resultOf(1)).toMatchObject({ code: 200 })
  })

  test('of many files that the disk does not give hold up none behind them', async () => {
    const clock = new ManualClock()
    const logPath = temporaryFolder()
    const folder = folderOf(logPath)
    mkdirSync(folder, { recursive: true })
    const count = 1000
    for (let index = 0; index < count; index++) symlinkSync(`0${index}.json`, join(folder, `0${index}.json`))
    const kept = { logId: 1, logDateTimeMs: 1_790_000_000_123, handleCode: 200, handleMsg: '' }
    writeFileSync(join(folder, '1.json'), JSON.stringify(kept))
    const { admin, executor, run } = await startRig({ handlers, logPath, clock })
    await admin.resultOf(1)
    await run(2)
    await advanceUntil(clock, () => admin.results.length === 2 && executor.status().waitingResults === count)
    expect(admin.results.map(({ logId }) => logId)).toEqual([1, 2])
  })

  test.each([
    ['an admin', 200, '{"code":500,"msg":"not this one"}'],
    ['a gate before the admin', 403, '<h1>Forbidden</h1>'],
  ])('are sent without the one that %s refuses; it waits for its next turn', async (_, status, text) => {
    const clock = new ManualClock()
    const admin = await startedAdmin()
    const { run, executor } = await startRig({ handlers, clock }, admin)
    let refuses = (body: string): boolean => body !== ''
    admin.behaviour = ({ path, body }, response) => {
      if (!path.endsWith('/callback') || !refuses(body)) return false
      response.writeHead(status).end(text)
      return true
    }
    const waiting = executor.events.next('resultsWaiting')
    const ended = executor.events.next('runEnded', ({ logId }) => logId === 20)
    for (let logId = 1; logId <= 20; logId++) await run(logId)
    await Promise.all([waiting, ended])
    await clock.settle()
    refuses = (body) => body.includes('"logId":3,')
    await advanceUntil(clock, () => admin.results.length === 19)
    expect(admin.results.some(({ logId }) => logId === 3)).toBe(false)
    refuses = () => false
    await executor.close()
    expect(await admin.resultOf(3)).toMatchObject({ code: 200 })
  })

  test.each([
    ['never answered for', () => {}],
    ['answered for with HTTP 500', (response: ServerResponse) => response.writeHead(500).end()],
  ])('of which one is %s do not wait for that one', async (_, answer) => {
    const clock = new ManualClock()
    const admin = await startedAdmin()
    admin.behaviour = ({ path, body }, response) => {
      const isTheOne = path.endsWith('/callback') && body.includes('"logId":1,')
      if (isTheOne) answer(response)
      return isTheOne
    }
    const { run, executor } = await startRig({ handlers, clock }, admin)
    for (let logId = 1; logId <= 60; logId++) await run(logId)
    const endMs = clock.now() + 300_000
    await advanceUntil(clock, () => executor.status().waitingResults === 1 || clock.now() > endMs)
    expect(admin.results).toHaveLength(59)
    expect(admin.results.map(({ logId }) => logId)).not.toContain(1)
    admin.behaviour = () => false
    await advanceUntil(clock, () => executor.status().waitingResults === 0)
    expect(admin.results.map(({ logId }) => logId).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 1),
    )
  })

  test.each([500, 502, 504])('go many in one request after an outage with HTTP %i', async (status) => {
    const clock = new ManualClock()
    const admin = await startedAdmin()
    admin.behaviour = (_request, response) => {
      response.writeHead(status).end()
      return true
    }
    const { run, executor } = await startRig({ handlers, clock }, admin)
    for (let logId = 1; logId <= 120; logId++) await run(logId)
    const requests = (): number => admin.callbacks.length
    await advanceUntil(clock, () => requests() >= 12)
    admin.behaviour = () => false
    const before = requests()
    await advanceUntil(clock, () => executor.status().waitingResults === 0)
    expect(admin.results).toHaveLength(120)
    expect(requests() - before).toBeLessThan(16)
  })

  test('are counted also while an admin has not answered', async () => {
    const admin = await startedAdmin()
    const { run, executor } = await startRig({ handlers, maxResults: 1 }, admin)
    const { promise, open } = latch<() => void>()
    admin.behaviour = ({ path }, response) => {
      if (!path.endsWith('/callback')) return false
      open(() => response.end('{"code":200}'))
      return true
    }
    await run(1)
    const answer = await promise
    expect(executor.status().waitingResults).toBe(1)
    expect(await run(2)).toMatchObject({ code: 500 })
    const sent = executor.events.next('resultsSent')
    answer()
    await sent
    expect(executor.status().waitingResults).toBe(0)
  })

  test('beyond the bound have further runs refused', async () => {
    const admin = await startedAdmin()
    const { run, executor } = await startRig({ handlers, maxResults: 2 }, admin)
    await admin.stop()
    for (const logId of [1, 2]) {
      const ended = executor.events.next('runEnded')
      await run(logId)
      await ended
    }
    expect(await run(3)).toMatchObject({ code: 500, msg: expect.stringContaining('maxResults') as string })
  })

  test('that the disk did not take are written to it later, and at the latest at the end', async () => {
    const clock = new ManualClock()
    const admin = await startedAdmin()
    const logPath = temporaryFolder()
    const { run, executor } = await startRig({ handlers, logPath, clock }, admin)
    await admin.stop()
    const runWithoutFolder = async (logId: number): Promise<void> => {
      renameSync(folderOf(logPath), join(logPath, 'away'))
      const ended = executor.events.next('runEnded')
      await run(logId)
      await ended
      renameSync(join(logPath, 'away'), folderOf(logPath))
    }
    const waiting = executor.events.next('resultsWaiting')
    await runWithoutFolder(1)
    await waiting
    await advanceUntil(clock, () => filesOf(logPath).length === 1)
    await runWithoutFolder(2)
    expect(filesOf(logPath)).toHaveLength(1)
    await executor.close()
    expect(filesOf(logPath)).toHaveLength(2)
    await admin.start()
    await startRig({ handlers, logPath }, admin)
    await admin.until(({ results }) => results.length === 2)
  })

  test('that the disk never took are counted as lost when the executor closes', async () => {
    const admin = await startedAdmin()
    const logPath = temporaryFolder()
    const said: unknown[] = []
    const error = (fields: object, message: string): void => {
      if (message.includes('they are lost')) said.push(fields)
    }
    const { run, executor } = await startRig({ handlers, logPath, logger: { ...silentLogger, error } }, admin)
    await admin.stop()
    rmSync(folderOf(logPath), { recursive: true })
    const ended = executor.events.next('runEnded')
    await run(1)
    await ended
    await executor.close()
    expect(said).toEqual([{ count: 1 }])
  })

  test('stay in memory when the disk takes none', async () => {
    const logPath = temporaryFolder()
    const { run, admin, executor } = await startRig({ handlers, logPath })
    rmSync(folderOf(logPath), { recursive: true })
    writeFileSync(folderOf(logPath), 'no folder')
    const sent = executor.events.next('resultsSent')
    await run(1)
    await sent
    expect(await admin.resultOf(1)).toMatchObject({ code: 200 })
    expect(executor.status().waitingResults).toBe(0)
  })
})

test('an order of sending takes more than a call has arguments, and gives them in their order', () => {
  const order = new SendOrder<number>()
  const many = Array.from({ length: 300_000 }, (_, index) => index)
  order.add(many)
  const taken = many.slice(0, 200_000).map(() => order.takeFirst())
  expect(order.first).toBe(200_000)
  order.putBack(taken as number[])
  order.add([-1])
  expect(order.size).toBe(300_001)
  const all: (number | undefined)[] = []
  while (order.size > 0) all.push(order.takeFirst())
  expect(all).toEqual([...many, -1])
  expect(order.takeFirst()).toBeUndefined()
})

describe('admins', () => {
  test('are asked in turn until one takes a request, and that one first from then on', async () => {
    const dead = await new FakeAdmin().start()
    await dead.stop()
    const second = await startedAdmin()
    const { run, admin } = await startRig(
      { handlers, adminAddresses: `${dead.address}/, ${second.address}` },
      second,
    )
    await run(1)
    expect(await admin.resultOf(1)).toMatchObject({ code: 200 })
    expect(second.beats).toHaveLength(1)
  })

  test('that answer slowly, break off or answer nonsense are passed over', async () => {
    const clock = new ManualClock()
    const [slow, reset, nonsense, redirecting] = await Promise.all([
      startedAdmin(),
      startedAdmin(),
      startedAdmin(),
      startedAdmin(),
    ])
    const good = await startedAdmin()
    slow.behaviour = () => true
    reset.behaviour = (_request, response) => {
      response.destroy()
      return true
    }
    nonsense.behaviour = (_request, response) => {
      response.end('<html>Sign in</html>')
      return true
    }
    redirecting.behaviour = (_request, response) => {
      response.writeHead(302, { location: '/login' }).end()
      return true
    }
    const adminAddresses = [slow, reset, nonsense, redirecting, good].map(({ address }) => address)
    const { executor } = await startRig({ handlers, clock, adminAddresses }, good)
    const registered = executor.events.next('registered')
    await slow.until(({ beats }) => beats.length === 1)
    await clock.advance(3000)
    expect(await registered).toEqual({ adminAddress: good.address })
    for (const each of [reset, nonsense, redirecting]) expect(each.beats).toHaveLength(1)
  })

  test('hear of the executor at once and then every 25 to 30 seconds; all away is said once', async () => {
    const clock = new ManualClock()
    const admin = await startedAdmin()
    const failures: string[] = []
    const { executor } = await startRig({ handlers, clock }, admin)
    executor.events.on('registrationFailed', ({ error }) => failures.push(error.message))
    const isKnown = (): boolean => executor.status().lastBeat !== null
    await advanceUntil(clock, isKnown)
    const firstMs = Number(executor.status().lastBeat)
    await clock.advance(firstMs + 23_000 - clock.now())
    expect(admin.beats).toHaveLength(1)
    await advanceUntil(clock, () => Number(executor.status().lastBeat) > firstMs)
    expect(Number(executor.status().lastBeat) - firstMs).toBeLessThan(33_000)
    await admin.stop()
    await advanceUntil(clock, () => failures.length === 1)
    expect(failures[0]).toContain(admin.address)
    await clock.advance(60_000)
    await admin.start()
    const back = executor.events.next('registered')
    const before = clock.now()
    await advanceUntil(clock, () => Number(executor.status().lastBeat) >= before)
    expect(await back).toEqual({ adminAddress: admin.address })
    expect(failures).toHaveLength(1)
  })

  test('beats of executors that start together spread (C.6 5)', async () => {
    const clock = new ManualClock()
    const admin = await startedAdmin()
    const count = 40
    for (let index = 0; index < count; index++) await startRig({ handlers, clock }, admin)
    await admin.until(({ beats }) => beats.length === count)
    await clock.settle()
    const times = new Set<number>()
    for (let index = 0; index < count; index++) {
      await clock.advanceToNextTimer()
      times.add(clock.now())
    }
    expect(times.size).toBeGreaterThan(count / 2)
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(2000)
  })
})
