import { type ChildProcess, spawn } from 'node:child_process'
import type { Clock, ClockTimer } from '../../time/clock.ts'
import { CapturedOutput } from './captured-output.ts'

export interface ProcessRequest {
  readonly shell: string
  readonly command: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Standard input; null for none. */
  readonly input: string | null
  /** Aborting ends the process and its children: SIGTERM, then SIGKILL after the grace period. */
  readonly signal: AbortSignal
}

/** How a process ended. Either `exitCode` or `signalName` is null; both are while it goes on. */
export interface ProcessResult {
  readonly exitCode: number | null
  readonly signalName: string | null
  readonly stdout: string
  readonly stderr: string
  /** The reason why the process, or one of its children, could not be ended and was left running; null otherwise. */
  readonly leftRunning?: string
}

/** Runs commands. */
export interface ProcessRunner {
  /**
   * Runs a command in a shell and resolves when it has ended and closed its output, or is left running.
   *
   * @throws Error of `node:child_process` when the shell cannot be started
   */
  run(request: ProcessRequest): Promise<ProcessResult>
  /** Ends every process that runs with SIGKILL; answers a sentence for each that cannot be ended. */
  killAll(): readonly string[]
}

/** Sends a signal to a process, or to a group when the number is negative; throws as `process.kill` does. */
export type Kill = (pid: number, signalName: NodeJS.Signals) => void

const signalProcess: Kill = (pid, signalName) => {
  process.kill(pid, signalName)
}

/**
 * Runs commands as processes, each the leader of a group of its own, so that a signal reaches its children too, and
 * the terminal's Ctrl-C reaches none of them.
 */
export function processRunner(clock: Clock, killGraceMs: number, kill: Kill = signalProcess): ProcessRunner {
  const running = new Set<RunningProcess>()
  return {
    async run(request) {
      const started = new RunningProcess(request, { clock, killGraceMs, kill })
      running.add(started)
      try {
        return await started.ended
      } finally {
        running.delete(started)
      }
    },
    killAll() {
      return [...running].map((started) => started.kill()).filter((refusal) => refusal !== null)
    },
  }
}

interface Means {
  readonly clock: Clock
  readonly killGraceMs: number
  readonly kill: Kill
}

class RunningProcess {
  readonly ended: Promise<ProcessResult>
  readonly #means: Means
  readonly #child: ChildProcess
  #timer: ClockTimer | null = null
  #leftRunning: string | null = null
  #abandon: () => void = () => {}

  constructor(request: ProcessRequest, means: Means) {
    this.#means = means
    this.#child = spawn(request.shell, ['-c', request.command], {
      detached: true,
      env: { ...request.environment },
      stdio: [request.input === null ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    this.ended = this.#watch(request)
  }

  /** Sends SIGTERM to the group, which then has the grace period. */
  terminate(): void {
    if (this.#timer !== null) return
    // A process that cannot be signalled may still end by itself within the grace period.
    this.#signalGroup('SIGTERM')
    this.#timer = this.#means.clock.setTimer(this.#means.killGraceMs, () => {
      this.kill()
    })
  }

  /** Ends the group; answers why some of it cannot be ended, or null. */
  kill(): string | null {
    this.#timer?.cancel()
    const refusal = this.#signalGroup('SIGKILL')
    this.#timer = this.#means.clock.setTimer(this.#means.killGraceMs, () => {
      this.#leave(refusal)
    })
    return refusal
  }

  /** Stops reading the output: a process that left the group, or could not be ended, may keep the pipes open. */
  #leave(refusal: string | null): void {
    this.#leftRunning = refusal
    for (const stream of this.#child.stdio) stream?.destroy()
    if (refusal === null) return
    this.#child.unref()
    this.#abandon()
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
    // A command that does not read its input closes the pipe, which is no failure.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    const terminate = (): void => {
      this.terminate()
    }
    const abandoned = new Promise<Exit>((resolve) => {
      this.#abandon = () => {
        resolve({ exitCode: null, signalName: null })
      }
    })
    signal.addEventListener('abort', terminate, { once: true })
    if (signal.aborted) this.terminate()
    try {
      const exit = await Promise.race([exitOf(child), abandoned])
      const result = { ...exit, stdout: stdout.text, stderr: stderr.text }
      return this.#leftRunning === null ? result : { ...result, leftRunning: this.#leftRunning }
    } finally {
      this.#timer?.cancel()
      signal.removeEventListener('abort', terminate)
    }
  }

  /** Null, or why the signal cannot be sent. Never throws, because its callers have further processes to end. */
  #signalGroup(signalName: NodeJS.Signals): string | null {
    const { pid } = this.#child
    // Without a pid the process never started, which its error reports.
    if (pid === undefined) return null
    try {
      this.#means.kill(-pid, signalName)
      return null
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      // The whole group has ended already; its output may still be open in a process that left the group.
      if (code === 'ESRCH') return null
      const reason = code === 'EPERM' ? 'it has become another user' : message
      return `process group ${pid} cannot be ended (${code ?? 'unknown error'}): ${reason}`
    }
  }
}

interface Exit {
  readonly exitCode: number | null
  readonly signalName: string | null
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode, signalName) => {
      resolve({ exitCode, signalName })
    })
  })
}
