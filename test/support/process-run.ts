import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Far more than a loaded machine needs, and far less than any timer that could keep the process alive. */
const limitMs = 60_000

export interface ProcessEnd {
  readonly lines: string[]
  readonly errors: string
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** What a process leaves that ended by itself and had nothing to complain of. */
export const cleanEnd: Omit<ProcessEnd, 'lines'> = { errors: '', code: 0, signal: null }

/** Runs a script to its end; a process that does not end by itself is killed, which the answer shows. */
export async function runProcess(
  script: string,
  args: readonly string[],
  onLine: (line: string, child: ChildProcess) => void = () => {},
  timeout: number = limitMs,
): Promise<ProcessEnd> {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
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
