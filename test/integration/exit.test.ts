import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const script = fileURLToPath(new URL('../fixtures/exit/process.mjs', import.meta.url))

/** Far more than a loaded machine needs, and far less than any timer that could keep the process alive. */
const limitMs = 60_000

interface End {
  readonly lines: string[]
  readonly errors: string
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Runs the process to its end; one that does not end by itself is killed, which the answer shows. */
async function run(
  life: string,
  onLine: (line: string, child: ChildProcess) => void = () => {},
  args: readonly string[] = [],
): Promise<End> {
  const child = spawn(process.execPath, [script, life, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  const lines: string[] = []
  let errors = ''
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    onLine(line, child)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { lines, errors, code, signal }
}

const clean = { errors: '', code: 0, signal: null }

describe('a process ends by itself', () => {
  it.each([
    ['after inline and worker jobs and a shutdown that waits', 'work'],
    ['after a shutdown that waits for no job', 'noWait'],
    ['after a shutdown before a delayed start', 'delayed'],
    ["T14: when only timers and executors wait that are unref'ed", 'unref'],
  ])('%s, and nothing keeps it', async (_name, life) => {
    expect(await run(life)).toEqual({ ...clean, lines: ['left []'] })
  })

  it("T14: when the last executor that is ref'ed has run its task", async () => {
    expect(await run('ref')).toEqual({ ...clean, lines: ['ran'] })
  })

  it('when it is told to stop, once the running job has ended', async () => {
    const end = await run('hook', (line, child) => {
      if (line === 'running') child.kill('SIGTERM')
    })
    expect(end).toEqual({ ...clean, lines: ['running', 'job ended', 'shut down'] })
  })

  it('at once when it is told a second time', async () => {
    const end = await run('stubborn', (line, child) => {
      if (line === 'running' || line === 'draining') child.kill('SIGTERM')
    })
    expect(end).toEqual({ lines: ['running', 'draining'], errors: '', code: null, signal: 'SIGTERM' })
  })
})

describe('a process that ends with triggers and never called start()', () => {
  const inFile = async (life: string): Promise<End> => {
    const folder = await mkdtemp(join(tmpdir(), 'quartz-ts-exit-'))
    try {
      return await run(life, undefined, [join(folder, 'jobs.db')])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  it('says once that they are lost, when they were in memory', async () => {
    const end = await run('neverStarted')
    expect(end).toMatchObject({ code: 0, signal: null, lines: ['left []'] })
    expect(end.errors).toMatch(/^\S+Z WARN quartz-ts: .*start\(\) was never called.*they are lost.*\n$/)
  })

  it('says so when they are in a file and nothing was shut down', async () => {
    const end = await inFile('neverStartedInFile')
    expect(end.errors).toMatch(/^\S+Z WARN quartz-ts: .*start\(\) was never called.*another process.*\n$/)
  })

  it('says nothing when it scheduled into a file and shut down', async () => {
    expect(await inFile('schedulesInFile')).toEqual({ ...clean, lines: [] })
  })

  it('says nothing when it failed', async () => {
    expect(await run('failsBeforeStart')).toEqual({ ...clean, code: 3, lines: [] })
  })
})
