import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import type { XxlJobContext } from '../../src/xxl-job.ts'
import { latch } from '../support/latch.ts'
import { type Rig, startRig, temporaryFolder } from './executor-fixture.ts'

interface Page {
  readonly fromLineNum: number
  readonly toLineNum: number
  readonly logContent: string
  readonly isEnd: boolean
}

async function pageOf(rig: Rig, logId: number, timeMs: number, fromLineNum: number): Promise<Page> {
  const answer = await rig.call('/log', { logDateTim: timeMs, logId, fromLineNum })
  expect(answer).toMatchObject({ code: 200, msg: 'Success' })
  return answer.data as Page
}

const timeMs = Date.parse('2026-09-21T14:13:20.123Z')

describe('the log of a run (X31)', () => {
  test('has a line for each call, with time, handler, job and run, and is read from a line on', async () => {
    const clock = new ManualClock(Date.parse('2026-09-21T14:13:21Z'))
    const handler = (context: XxlJobContext): void => {
      context.log('one {} {}', 1, { two: 2 })
      context.log('lines\nof text')
      context.log('an error', new Error('here'))
    }
    const rig = await startRig({ handlers: { demo: handler }, clock, timeZone: 'Asia/Shanghai' })
    await rig.run(1, { logDateTime: timeMs, executorParams: 'x' })
    await rig.admin.resultOf(1)
    const path = join(rig.logPath, '2026-09-21', '1.log')
    const lines = readFileSync(path, 'utf8').split('\n')
    const stamp = '2026-09-21 22:13:21 [demo]-[17]-[1]'
    expect(lines[0]).toBe(`${stamp} <br>----------- the run begins -----------<br>----------- Param: x`)
    expect(lines.slice(1, 4)).toEqual([`${stamp} one 1 {"two":2}`, `${stamp} lines`, 'of text'])
    const page = await pageOf(rig, 1, timeMs, 2)
    expect(page).toMatchObject({ fromLineNum: 2, isEnd: false })
    expect(page.logContent.split('\n').slice(0, 2)).toEqual(lines.slice(1, 3))
    expect(page.toLineNum).toBe(page.logContent.split('\n').length)
    expect(await pageOf(rig, 1, timeMs, page.toLineNum + 1)).toEqual({
      fromLineNum: page.toLineNum + 1,
      toLineNum: 0,
      logContent: '',
      isEnd: false,
    })
  })

  test('is found by its id where the admin asks for the day beside it (K2, C.6 1)', async () => {
    for (const [zone, runTime] of [
      ['Asia/Shanghai', '2026-09-21T15:59:59.700Z'],
      ['America/New_York', '2026-09-22T03:59:59.700Z'],
      // The day after is that of the change, and has 23 or 25 hours.
      ['Europe/Paris', '2026-03-28T22:59:59.700Z'],
      ['Europe/Paris', '2026-10-24T21:59:59.700Z'],
      ['Europe/Paris', '2026-10-25T22:59:59.700Z'],
    ] as const) {
      const rig = await startRig({ handlers: { demo: () => {} }, timeZone: zone })
      const runMs = Date.parse(runTime)
      await rig.run(1, { logDateTime: runMs })
      await rig.admin.resultOf(1)
      for (const asked of [runMs, runMs + 300, runMs - 500, runMs + 500]) {
        expect((await pageOf(rig, 1, asked, 1)).toLineNum).toBeGreaterThan(0)
      }
    }
  })

  test('is found without a time, and one that is not there is at its end', async () => {
    const rig = await startRig({ handlers: { demo: () => {} } })
    await rig.run(1)
    await rig.admin.resultOf(1)
    expect((await pageOf(rig, 1, 0, 1)).toLineNum).toBeGreaterThan(0)
    expect(await pageOf(rig, 2, timeMs, 1)).toEqual({
      fromLineNum: 1,
      toLineNum: 0,
      logContent: 'The log of run 2 does not exist.',
      isEnd: true,
    })
  })

  test('of a run that waits is empty and not at its end; a line that is not whole is held back', async () => {
    const { promise, open } = latch()
    const rig = await startRig({ handlers: { demo: () => promise } })
    await rig.run(1, { logDateTime: timeMs })
    await rig.run(2, { logDateTime: timeMs })
    expect(await pageOf(rig, 2, timeMs, 1)).toMatchObject({ toLineNum: 0, isEnd: false })
    const begun = await pageOf(rig, 1, timeMs, 1)
    const path = rig.executor.status().jobs.length === 1 ? logOf(rig, 1) : ''
    appendFileSync(path, 'half')
    expect(await pageOf(rig, 1, timeMs, begun.toLineNum + 1)).toMatchObject({ toLineNum: 0, logContent: '' })
    appendFileSync(path, ' a line\n')
    expect(await pageOf(rig, 1, timeMs, begun.toLineNum + 1)).toMatchObject({ logContent: 'half a line\n' })
    open()
  })

  test('of a million lines is written in bounded memory and read page by page', async () => {
    const count = 1_000_000
    const handler = (context: XxlJobContext): void => {
      for (let line = 1; line <= count; line++) context.log('line {}', line)
    }
    const rig = await startRig({ handlers: { demo: handler } })
    await rig.run(1, { logDateTime: timeMs })
    expect(await rig.admin.resultOf(1)).toMatchObject({ code: 200 })
    let [next, pages, seen] = [1, 0, 0]
    for (;;) {
      const page = await pageOf(rig, 1, timeMs, next)
      if (page.toLineNum === 0) break
      expect(page.logContent.length).toBeLessThan(1_200_000)
      seen += page.logContent.split(' line ').length - 1
      next = page.toLineNum + 1
      pages++
    }
    expect(seen).toBe(count)
    expect(pages).toBeGreaterThan(20)
    expect(next).toBeGreaterThan(count)
  })

  test('of a gigabyte is not read whole, also where it has no line breaks', async () => {
    const rig = await startRig({ handlers: { demo: () => {} } })
    await rig.run(1, { logDateTime: timeMs })
    await rig.admin.resultOf(1)
    const path = logOf(rig, 1)
    writeFileSync(path, 'first\n')
    // Sparse: it takes no room on the disk.
    truncateSync(path, 1_073_741_824)
    const first = await pageOf(rig, 1, timeMs, 1)
    expect(first.logContent.startsWith('first\n')).toBe(true)
    expect(first.logContent.length).toBeLessThan(1_200_000)
    const second = await pageOf(rig, 1, timeMs, first.toLineNum + 1)
    expect(second.toLineNum).toBe(first.toLineNum + 16)
  })

  test.each(['', 'a', 'ab', 'abc', '一'])(
    'with a line that counts as several has all of its characters, after %o',
    async (beginning) => {
      const rig = await startRig({ handlers: { demo: () => {} } })
      await rig.runToEnd(1, { logDateTime: timeMs })
      const line = `${beginning}${'二'.repeat(60_000)}${'🚀'.repeat(40_000)}`
      writeFileSync(logOf(rig, 1), `${line}\nnext\n`)
      let [next, text] = [1, '']
      for (;;) {
        const page = await pageOf(rig, 1, timeMs, next)
        if (page.toLineNum === 0) break
        text += page.logContent
        next = page.toLineNum + 1
      }
      expect(text.replaceAll('\n', '')).toBe(`${line}next`)
      expect(next).toBe(8)
    },
  )

  test('ends where it is full', async () => {
    const handler = (context: XxlJobContext): void => {
      for (let line = 0; line < 10_000; line++) context.log('x'.repeat(100))
    }
    const rig = await startRig({ handlers: { demo: handler }, maxLogBytes: 200_000 })
    await rig.run(1, { logDateTime: timeMs })
    expect(await rig.admin.resultOf(1)).toMatchObject({ code: 200 })
    expect(statSync(logOf(rig, 1)).size).toBeLessThan(210_000)
    expect(readFileSync(logOf(rig, 1), 'utf8')).toContain('The log is full; no more is written.')
  })

  test('cannot be written, and the run goes on', async () => {
    const logPath = temporaryFolder()
    const rig = await startRig({
      handlers: {
        demo: (context) => {
          context.log('x')
        },
      },
      logPath,
      timeZone: 'UTC',
    })
    writeFileSync(join(logPath, '2026-09-21'), 'no folder')
    await rig.run(1, { logDateTime: timeMs })
    expect(await rig.admin.resultOf(1)).toMatchObject({ code: 200 })
  })
})

describe('old logs', () => {
  test('are deleted at the start and once a day, by the day in the name', async () => {
    const clock = new ManualClock(Date.parse('2026-09-21T12:00:00Z'))
    const logPath = temporaryFolder()
    const days = ['2026-09-16', '2026-09-17', '2026-09-18', 'not-a-day']
    for (const day of days) mkdirSync(join(logPath, day))
    await startRig({ handlers: {}, clock, logPath, logRetentionDays: 3, timeZone: 'UTC' })
    const left = (): string[] => days.filter((day) => existsSync(join(logPath, day)))
    await vi.waitFor(
      () => {
        expect(left()).toEqual(['2026-09-18', 'not-a-day'])
      },
      { timeout: 30_000 },
    )
    await clock.advance(86_400_000)
    await vi.waitFor(
      () => {
        expect(left()).toEqual(['not-a-day'])
      },
      { timeout: 30_000 },
    )
  })
})

function logOf(rig: Rig, logId: number): string {
  const day = ['2026-09-20', '2026-09-21', '2026-09-22'].find((each) =>
    existsSync(join(rig.logPath, each, `${logId}.log`)),
  )
  return join(rig.logPath, day ?? 'none', `${logId}.log`)
}
