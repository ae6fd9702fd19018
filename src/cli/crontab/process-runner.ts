import { type ChildProcess, spawn } from 'node:child_process'
import type { Clock, Timer } from '../../time/clock.ts'
import { CapturedOutput } from './captured-output.ts'

export interface ProcessRequest {
  readonly shell: string
  readonly command: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Standard input; null for none. */
  readonly input: string | null
  /** Aborting ends the process and its children: SIGTERM, then SIGKILL after the grace. */
  readonly signal: AbortSignal
}

/** How a process ended. Either `exitCode` or `signalName` is null. */
export interface ProcessResult {
  readonly exitCode: number | null
  readonly signalName: string | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs commands. */
export interface ProcessRunner {
  /**
   * Runs a command in a shell and resolves when it has ended and closed its output.
   *
   * @throws Error of `node:child_process` when the shell cannot be started
   */
  run(request: ProcessRequest): Promise<ProcessResult>
  /** Ends every process that runs with SIGKILL. */
  killAll(): void
}

/**
 * Runs commands as processes, each the leader of a group of its own, so that a signal reaches its children too, and
 * the terminal's Ctrl-C reaches none of them.
 */
export function processRunner(clock: Clock, killGraceMs: number): ProcessRunner {
  const running = new Set<RunningProcess>()
  return {
    async run(request) {
      const started = new RunningProcess(request, clock, killGraceMs)
      running.add(started)
      try {
        return await started.ended
      } finally {
        running.delete(started)
      }
    },
    killAll() {
      for (const started of running) started.kill()
    },
  }
}

class RunningProcess {
  readonly ended: Promise<ProcessResult>
  readonly #clock: Clock
  readonly #killGraceMs: number
  readonly #child: ChildProcess
  #timer: Timer | null = null

  constructor(request: ProcessRequest, clock: Clock, killGraceMs: number) {
    this.#clock = clock
    this.#killGraceMs = killGraceMs
    this.#child = spawn(request.shell, ['-c', request.command], {
      detached: true,
      env: { ...request.environment },
      stdio: [request.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    this.ended = this.#watch(request)
  }

  /** Asks the group to end; it has the grace to do so. */
  terminate(): void {
    if (this.#timer !== null) return
    this.#signalGroup('SIGTERM')
    this.#timer = this.#clock.setTimer(this.#killGraceMs, () => {
      this.kill()
    })
  }

  kill(): void {
    this.#timer?.cancel()
    this.#signalGroup('SIGKILL')
    // A process that left the group may hold the pipes open for ever: wait no longer for what it writes.
    this.#timer = this.#clock.setTimer(this.#killGraceMs, () => {
      this.#child.stdout?.destroy()
      this.#child.stderr?.destroy()
    })
  }

  async #watch({ input, signal }: ProcessRequest): Promise<ProcessResult> {
    const child = this.#child
    const stdout = new CapturedOutput()
    const stderr = new CapturedOutput()
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout.add(chunk)
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr.add(chunk)
    })
    // A command that does not read its input closes the pipe: that is its right.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    const terminate = (): void => {
      this.terminate()
    }
    signal.addEventListener('abort', terminate, { once: true })
    if (signal.aborted) this.terminate()
    try {
      const { exitCode, signalName } = await exitOf(child)
      return { exitCode, signalName, stdout: stdout.text, stderr: stderr.text }
    } finally {
      this.#timer?.cancel()
      signal.removeEventListener('abort', terminate)
    }
  }

  #signalGroup(signalName: 'SIGTERM' | 'SIGKILL'): void {
    const { pid } = this.#child
    // Without a pid it never started, and its error says so.
    if (pid === undefined) return
    try {
      process.kill(-pid, signalName)
    } catch (error) {
      // The whole group has ended already; its output may still be open in a process that left the group.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

function exitOf(child: ChildProcess): Promise<{ exitCode: number | null; signalName: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signalName) => {
      resolve({ exitCode, signalName })
    })
  })
}
