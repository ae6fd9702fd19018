import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
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
): Promise<End> {
  const child = spawn(process.execPath, [script, life], {
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
    ['with a scheduler that was never started', 'neverStarted'],
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
