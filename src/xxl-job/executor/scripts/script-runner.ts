import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { textOf } from '../../../core/thrown-value.ts'
import type { Clock, ClockTimer, EpochMs } from '../../../time/clock.ts'
import { settledWithin } from '../../../time/settled-within.ts'
import { xxlJobCodes } from '../../protocol/reply.ts'
import type { JobRunner, RunningJob } from '../handlers/job-runner.ts'
import type { HandleResult } from '../run-context.ts'

/** The kinds of scripts. Groovy is none: it would run within this process. */
export type XxlJobScript =
  | 'GLUE_SHELL'
  | 'GLUE_PYTHON'
  | 'GLUE_PYTHON2'
  | 'GLUE_NODEJS'
  | 'GLUE_POWERSHELL'
  | 'GLUE_PHP'

/** The programs that run scripts, and how script files end. */
const interpreters: Readonly<Record<XxlJobScript, { readonly command: string; readonly extension: string }>> =
  {
    GLUE_SHELL: { command: 'bash', extension: 'sh' },
    GLUE_PYTHON: { command: 'python3', extension: 'py' },
    GLUE_PYTHON2: { command: 'python', extension: 'py' },
    GLUE_NODEJS: { command: process.execPath, extension: 'js' },
    GLUE_POWERSHELL: { command: 'pwsh', extension: 'ps1' },
    GLUE_PHP: { command: 'php', extension: 'php' },
  }

export const scriptTypes: readonly string[] = Object.keys(interpreters)

/** How long the rest of the output may take after the script has ended; something it left behind may hold it open. */
const outputGraceMs = 1000

export interface ScriptOptions {
  /** Where script files are kept. */
  readonly folder: string
  /** How long a script that is asked to end may take before it is killed. */
  readonly interruptGraceMs: number
  readonly clock: Clock
}

/** Runs one version of the script of a job, each time in a process of its own. */
export class ScriptRunner implements JobRunner {
  readonly kind = 'script'
  readonly canBeStopped = true
  readonly name: XxlJobScript
  readonly #jobId: number
  readonly #version: EpochMs
  readonly #source: string
  readonly #options: ScriptOptions

  constructor(type: XxlJobScript, jobId: number, version: EpochMs, source: string, options: ScriptOptions) {
    this.name = type
    this.#jobId = jobId
    this.#version = version
    this.#source = source
    this.#options = options
  }

  isSame(other: JobRunner): boolean {
    return other instanceof ScriptRunner && other.name === this.name && other.#version === this.#version
  }

  /** Writes the file of this version, and deletes those of earlier ones. */
  init(): void {
    const { folder } = this.#options
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(folder)) {
      if (name.startsWith(`${this.#jobId}_`)) rmSync(join(folder, name), { force: true })
    }
    writeFileSync(`${this.#path}.tmp`, this.#source, { mode: 0o600 })
    renameSync(`${this.#path}.tmp`, this.#path)
  }

  destroy(): void {
    // The file stays: a run of the next version may have written it, and operators look at it.
  }

  async execute(run: RunningJob): Promise<HandleResult> {
    run.signal.throwIfAborted()
    if (!existsSync(this.#path)) this.init()
    const { command } = interpreters[this.name]
    let exitValue: number
    try {
      exitValue = await this.#exitOfRun(command, run)
    } catch (error) {
      // No program of that name, or a parameter that is too long for one.
      const msg = `the script was not started with '${command}': ${textOf(error)}`
      return { code: xxlJobCodes.failure, msg }
    }
    if (exitValue === 0) return { code: xxlJobCodes.success, msg: '' }
    return { code: xxlJobCodes.failure, msg: `script exit value(${exitValue}) is failed` }
  }

  /** @throws the error of Node.js when no process was made */
  async #exitOfRun(command: string, { facts, signal, log }: RunningJob): Promise<number> {
    // Node.js would speak of the place of an argument.
    if (facts.param.includes('\0')) throw new Error('the parameter holds a NUL character')
    const args = [this.#path, facts.param, String(facts.shardIndex), String(facts.shardTotal)]
    // A group of its own, so that what the script starts is killed with it.
    const child: ChildProcess = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    // First of all: an error without a listener ends this process.
    const exit = this.#exitOf(child)
    // A process that has no file descriptors left gets a child without streams.
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8')
      stream?.on('data', (text: string) => {
        log.raw(text)
      })
    }
    const killer = new GroupKiller(child, this.#options)
    const interrupt = (): void => {
      killer.start()
    }
    signal.addEventListener('abort', interrupt, { once: true })
    try {
      return await exit
    } finally {
      signal.removeEventListener('abort', interrupt)
      killer.ended()
    }
  }

  get #path(): string {
    const { extension } = interpreters[this.name]
    return join(this.#options.folder, `${this.#jobId}_${this.#version}.${extension}`)
  }

  async #exitOf(child: ChildProcess): Promise<number> {
    const closed = new Promise<void>((resolve) => {
      child.once('close', () => {
        resolve()
      })
    })
    const value = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => {
        // As shells have it: 128 and the number of the signal.
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]))
      })
    })
    await settledWithin(this.#options.clock, outputGraceMs, closed)
    child.stdout?.destroy()
    child.stderr?.destroy()
    return value
  }
}

/** Asks a process and all that it started to end, and kills what does not. */
class GroupKiller {
  readonly #child: ChildProcess
  readonly #options: ScriptOptions
  #timer: ClockTimer | null = null

  constructor(child: ChildProcess, options: ScriptOptions) {
    this.#child = child
    this.#options = options
  }

  start(): void {
    this.#kill('SIGTERM')
    const { clock, interruptGraceMs } = this.#options
    this.#timer = clock.setTimer(interruptGraceMs, () => {
      this.#kill('SIGKILL')
    })
  }

  /** The script has ended: of one that was asked to, nothing that it started is left. */
  ended(): void {
    if (this.#timer === null) return
    this.#timer.cancel()
    this.#kill('SIGKILL')
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      process.kill(-pid, signal)
    } catch {
      // The group is gone.
    }
  }
}
