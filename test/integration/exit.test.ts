import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { cleanEnd, type ProcessEnd, runProcess } from '../support/process-run.ts'

const script = fileURLToPath(new URL('../fixtures/exit/process.mjs', import.meta.url))

describe('a process ends by itself', () => {
  it.each([
    ['after inline and worker jobs and a shutdown that waits', 'work'],
    ['after a shutdown that waits for no job', 'noWait'],
    ['after a shutdown before a delayed start', 'delayed'],
    ["T14: when only timers and executors wait that are unref'ed", 'unref'],
  ])('%s, and nothing keeps it', async (_name, life) => {
    expect(await runProcess(script, [life])).toEqual({ ...cleanEnd, lines: ['left []'] })
  })

  it("T14: when the last executor that is ref'ed has run its task", async () => {
    expect(await runProcess(script, ['ref'])).toEqual({ ...cleanEnd, lines: ['ran'] })
  })

  it("T14: when an executor that is unref'ed has ended, for whose end the program waits", async () => {
    expect(await runProcess(script, ['unrefAwaited'])).toEqual({
      ...cleanEnd,
      lines: ['ran', 'true', 'ran', 'true', 'false', 'left []'],
    })
  })

  it('when a worker task was interrupted while its thread started, without a shutdown', async () => {
    expect(await runProcess(script, ['interruptedAtStart'])).toEqual({
      ...cleanEnd,
      lines: ['ERR_TASK_CANCELLED', 'ERR_TASK_CANCELLED'],
    })
  })

  it('when a thread that was in native code at the end of a shutdown has left it', async () => {
    expect(await runProcess(script, ['stuckInNativeCode'])).toEqual({
      ...cleanEnd,
      lines: ['shut down', 'job ended ERR_JOB_INTERRUPTED'],
    })
  })

  it('when it is told to stop, once the running job has ended', async () => {
    const end = await runProcess(script, ['hook'], (line, child) => {
      if (line === 'running') child.kill('SIGTERM')
    })
    expect(end).toEqual({ ...cleanEnd, lines: ['running', 'job ended', 'shut down'] })
  })

  it('at once when it is told a second time', async () => {
    const end = await runProcess(script, ['stubborn'], (line, child) => {
      if (line === 'running' || line === 'draining') child.kill('SIGTERM')
    })
    expect(end).toEqual({ lines: ['running', 'draining'], errors: '', code: null, signal: 'SIGTERM' })
  })
})

describe('a process that ends with triggers and never called start()', () => {
  const inFile = async (life: string): Promise<ProcessEnd> => {
    const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-exit-'))
    try {
      const end = await runProcess(script, [life, join(folder, 'jobs.db')])
      // Node.js 22 says of its own SQLite, where better-sqlite3 is not built for it, that it may change.
      return {
        ...end,
        errors: end.errors.replace(/^.*ExperimentalWarning: SQLite .*\n.*--trace-warnings.*\n/, ''),
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  it('says once that they are lost, when they were in memory', async () => {
    const end = await runProcess(script, ['neverStarted'])
    expect(end).toMatchObject({ code: 0, signal: null, lines: ['left []'] })
    expect(end.errors).toMatch(/^\S+Z WARN quartz-ts: .*start\(\) was never called.*they are lost.*\n$/)
  })

  it('says so when they are in a file and nothing was shut down', async () => {
    const end = await inFile('neverStartedInFile')
    expect(end.errors).toMatch(/^\S+Z WARN quartz-ts: .*start\(\) was never called.*another process.*\n$/)
  })

  it('says nothing when it scheduled into a file and shut down', async () => {
    expect(await inFile('schedulesInFile')).toEqual({ ...cleanEnd, lines: [] })
  })

  it('says nothing when it failed', async () => {
    expect(await runProcess(script, ['failsBeforeStart'])).toEqual({ ...cleanEnd, code: 3, lines: [] })
  })
})
