import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { ManualClock } from '../../src/testing.ts'
import { advanceUntil, type Rig, startRig } from './executor-fixture.ts'

const script = (glueType: string, glueSource: string, more: object = {}): object => ({
  glueType,
  glueSource,
  glueUpdatetime: 1_780_000_000_000,
  executorHandler: '',
  ...more,
})

async function logText(rig: Rig, logId: number): Promise<string> {
  const { data } = await rig.call('/log', { logId, logDateTime: 1_790_000_000_123, fromLineNum: 1 })
  return (data as { logContent: string }).logContent
}

/** Goes on until it is killed. Where another one has begun, says whether that one has ended. */
const stubborn = (marker: string): string => `if [ -e ${marker} ]; then
    kill -0 $(cat ${marker}) && echo beside || echo after
  else
    trap '' TERM
    echo $$ > ${marker}.part
    mv ${marker}.part ${marker}
    while :; do sleep 1; done
  fi`

const all = ['GLUE_SHELL', 'GLUE_PYTHON', 'GLUE_NODEJS'] as const

describe('scripts (X29)', () => {
  test.each([
    ['GLUE_SHELL', 'echo "$1,$2,$3"; echo err >&2', 'sh'],
    ['GLUE_PYTHON', 'import sys\nprint(",".join(sys.argv[1:]))\nprint("err", file=sys.stderr)', 'py'],
    ['GLUE_NODEJS', 'console.log(process.argv.slice(2).join(",")); console.error("err")', 'js'],
  ] as const)('%s gets parameter and shard, and its output is the log', async (type, source, extension) => {
    const rig = await startRig({ scripts: [type] })
    const fields = { executorParams: 'a b;$c', broadcastIndex: 1, broadcastTotal: 2 }
    expect(await rig.run(1, script(type, source, fields))).toMatchObject({ code: 200 })
    expect(await rig.admin.resultOf(1)).toEqual({ logId: 1, code: 200, msg: '' })
    const text = await logText(rig, 1)
    expect(text).toContain('\na b;$c,1,2\n')
    expect(text).toContain('\nerr\n')
    const file = join(rig.logPath, 'gluesource', `17_1780000000000.${extension}`)
    expect(readFileSync(file, 'utf8')).toBe(source)
  })

  test('that end with another value than 0 have failed', async () => {
    const rig = await startRig({ scripts: all })
    await rig.run(1, script('GLUE_SHELL', 'exit 3'))
    expect(await rig.admin.resultOf(1)).toMatchObject({ code: 500, msg: 'script exit value(3) is failed' })
    await rig.run(2, script('GLUE_SHELL', 'kill -9 $$', { jobId: 18 }))
    expect(await rig.admin.resultOf(2)).toMatchObject({ code: 500, msg: 'script exit value(137) is failed' })
  })

  test.each([
    [
      'a NUL character',
      'a\0b',
      "the script was not started with 'bash': the parameter holds a NUL character",
    ],
    ['too many characters', 'x'.repeat(3_000_000), "the script was not started with 'bash': spawn E2BIG"],
  ])('whose parameter has %s have failed, which the result says', async (_what, executorParams, msg) => {
    const rig = await startRig({ scripts: all })
    await rig.run(1, script('GLUE_SHELL', 'echo', { executorParams }))
    expect(await rig.admin.resultOf(1)).toEqual({ logId: 1, code: 500, msg })
  })

  test('run in their newest version, whose file replaces the last one', async () => {
    const rig = await startRig({ scripts: all })
    await rig.run(1, script('GLUE_SHELL', 'echo one'))
    await rig.admin.resultOf(1)
    await rig.run(2, script('GLUE_SHELL', 'echo two', { glueUpdatetime: 1_780_000_001_000 }))
    await rig.admin.resultOf(2)
    expect(await logText(rig, 2)).toContain('\ntwo\n')
    expect(readdirSync(join(rig.logPath, 'gluesource'))).toEqual(['17_1780000001000.sh'])
  })

  test('of another version or kind replace the lane, each with its reason', async () => {
    const rig = await startRig({ scripts: all, handlers: { demo: () => {} } })
    const endless = 'sleep 1000'
    await rig.run(1, script('GLUE_SHELL', endless))
    await rig.run(2, script('GLUE_SHELL', endless, { glueUpdatetime: 1_780_000_001_000 }))
    expect((await rig.admin.resultOf(1)).msg).toBe(
      'change job source or glue type, and terminate the old job thread. [job running, killed]',
    )
    await rig.run(3)
    expect((await rig.admin.resultOf(2)).msg).toBe(
      'change jobhandler or glue type, and terminate the old job thread. [job running, killed]',
    )
    expect(await rig.admin.resultOf(3)).toMatchObject({ code: 200 })
  })

  test('that are killed take along what they started, also when they ignore the request', async () => {
    const rig = await startRig({ scripts: all, interruptGraceMs: 200 })
    const marker = join(rig.logPath, 'pids')
    const source = `trap '' TERM
      sleep 1000 & echo $! $$ > ${marker}.part
      mv ${marker}.part ${marker}
      while :; do wait; done`
    await rig.run(1, script('GLUE_SHELL', source))
    await vi.waitFor(
      () => {
        expect(existsSync(marker)).toBe(true)
      },
      { timeout: 30_000 },
    )
    const pids = readFileSync(marker, 'utf8').trim().split(' ').map(Number)
    await rig.call('/kill', { jobId: 17 })
    expect(await rig.admin.resultOf(1)).toMatchObject({
      code: 500,
      msg: 'scheduling center kill job. [job running, killed]',
    })
    expect(pids).toHaveLength(2)
    await vi.waitFor(
      () => {
        expect(pids.filter(isAlive)).toEqual([])
      },
      { timeout: 30_000 },
    )
  })

  test('that take too long are ended', async () => {
    const rig = await startRig({ scripts: all })
    await rig.run(1, script('GLUE_NODEJS', 'setInterval(() => {}, 1000)', { executorTimeout: 1 }))
    expect(await rig.admin.resultOf(1)).toMatchObject({ code: 502, msg: 'job execute timeout ' })
  })

  test('that take too long have ended before the next run of the job begins', async () => {
    const clock = new ManualClock()
    const rig = await startRig({ scripts: all, clock })
    const marker = join(rig.logPath, 'pid')
    const source = stubborn(marker)
    await rig.run(1, script('GLUE_SHELL', source, { executorTimeout: 5 }))
    await rig.run(2, script('GLUE_SHELL', source))
    await vi.waitFor(
      () => {
        expect(existsSync(marker)).toBe(true)
      },
      { timeout: 30_000 },
    )
    await clock.advance(5000)
    expect(await rig.admin.resultOf(1)).toMatchObject({ code: 502 })
    expect(rig.executor.status().jobs).toMatchObject([{ runningLogId: 1, queued: 1 }])
    await clock.advance(5000)
    expect(await rig.admin.resultOf(2)).toMatchObject({ code: 200 })
    expect(await logText(rig, 2)).toContain('\nafter\n')
  })

  test.each([
    ['are killed', (rig: Rig) => rig.call('/kill', { jobId: 17 }), {}],
    ['are covered by the next run', async () => {}, { executorBlockStrategy: 'COVER_EARLY' }],
    ['are changed', async () => {}, { glueUpdatetime: 1_780_000_000_001 }],
  ])('that %s have ended before the next run of the job begins', async (_, kill, fields) => {
    const clock = new ManualClock()
    const rig = await startRig({ scripts: all, clock })
    const marker = join(rig.logPath, 'pid')
    await rig.run(1, script('GLUE_SHELL', stubborn(marker)))
    await vi.waitFor(
      () => {
        expect(existsSync(marker)).toBe(true)
      },
      { timeout: 30_000 },
    )
    await kill(rig)
    expect(await rig.run(2, script('GLUE_SHELL', stubborn(marker), fields))).toMatchObject({ code: 200 })
    // A run that is dropped while it waits lets none begin either.
    await rig.call('/kill', { jobId: 17 })
    expect(await rig.admin.resultOf(2)).toMatchObject({ code: 500 })
    expect(await rig.run(3, script('GLUE_SHELL', stubborn(marker), fields))).toMatchObject({ code: 200 })
    expect(rig.executor.status().jobs.map(({ runningLogId }) => runningLogId)).toContain(1)
    await advanceUntil(clock, () => rig.admin.results.length === 3)
    expect(await rig.admin.resultOf(3)).toMatchObject({ code: 200 })
    expect(await logText(rig, 3)).toContain('\nafter\n')
  })

  test('whose program is not there, or whose parameter cannot be passed, have failed', async () => {
    const rig = await startRig({ scripts: ['GLUE_PHP', 'GLUE_SHELL'] })
    await rig.run(1, script('GLUE_SHELL', 'echo', { executorParams: 'a\u0000b' }))
    expect(await rig.admin.resultOf(1)).toMatchObject({ code: 500 })
    const path = process.env['PATH']
    process.env['PATH'] = '/nowhere'
    try {
      await rig.run(2, script('GLUE_PHP', '<?php', { jobId: 18 }))
      expect(await rig.admin.resultOf(2)).toMatchObject({
        code: 500,
        msg: expect.stringContaining('ENOENT') as string,
      })
    } finally {
      process.env['PATH'] = path
    }
  })

  test('are refused where their kind is not enabled, and Groovy always', async () => {
    const rig = await startRig({ scripts: ['GLUE_SHELL'] })
    expect(await rig.run(1, script('GLUE_PYTHON', 'x'))).toMatchObject({
      code: 500,
      msg: 'fail, current glue type [GLUE(Python3)] not supported.',
    })
    expect(await rig.run(2, script('GLUE_GROOVY', 'x'))).toMatchObject({ code: 500 })
    expect(existsSync(join(rig.logPath, 'gluesource'))).toBe(false)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A child that nothing has waited for yet is no more than a name.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
