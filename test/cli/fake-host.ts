import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CliHost } from '../../src/cli/host.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import type { Output } from '../../src/cli/terminal/output.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'
import { ManualClock } from '../../src/time/manual-clock.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** An output that keeps what is written, and lets tests wait for it. */
export class FakeOutput implements Output {
  readonly isTerminal: boolean
  columns: number
  rows: number
  text = ''
  readonly #resized = new Set<() => void>()
  readonly #waiting = new Set<() => void>()

  constructor(size: { isTerminal?: boolean; columns?: number; rows?: number } = {}) {
    this.isTerminal = size.isTerminal ?? false
    this.columns = size.columns ?? 80
    this.rows = size.rows ?? 24
  }

  get lines(): readonly string[] {
    return this.text.split('\n')
  }

  write(text: string): void {
    this.text += text
    for (const look of [...this.#waiting]) look()
  }

  /** Resolves with the text once it matches. */
  async until(pattern: RegExp): Promise<string> {
    if (pattern.test(this.text)) return this.text
    return new Promise((resolve) => {
      const look = (): void => {
        if (!pattern.test(this.text)) return
        this.#waiting.delete(look)
        resolve(this.text)
      }
      this.#waiting.add(look)
    })
  }

  onResize(listener: () => void): () => void {
    this.#resized.add(listener)
    return () => {
      this.#resized.delete(listener)
    }
  }

  resizeTo(columns: number): void {
    this.columns = columns
    for (const listener of this.#resized) listener()
  }

  get resizeListeners(): number {
    return this.#resized.size
  }
}

export interface FakeHostOptions {
  readonly clock?: Clock
  readonly stdout?: FakeOutput
  readonly environment?: Record<string, string>
  readonly userName?: string
  readonly knownUsers?: readonly string[]
  /** What is typed where something is asked for. */
  readonly secret?: string
}

/** A host without a process: texts in memory, a clock that stands still, signals that are sent by the test. */
export class FakeHost implements CliHost {
  readonly stdout: FakeOutput
  readonly stderr = new FakeOutput()
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly userName: string
  readonly #users: readonly string[]
  readonly #secret: string
  readonly #signals = new Map<string, Set<() => void>>()

  constructor(options: FakeHostOptions = {}) {
    this.stdout = options.stdout ?? new FakeOutput()
    this.clock = options.clock ?? new ManualClock()
    this.environment = options.environment ?? {}
    this.userName = options.userName ?? 'alice'
    this.#secret = options.secret ?? ''
    this.#users = options.knownUsers ?? ['root', 'alice', 'www-data', 'mail']
  }

  readSecret = async (): Promise<string> => this.#secret
  knownUsers = (): readonly string[] => this.#users

  onSignal(signal: NodeJS.Signals, listener: () => void): () => void {
    const listeners = this.#signals.get(signal) ?? new Set()
    this.#signals.set(signal, listeners.add(listener))
    return () => {
      listeners.delete(listener)
    }
  }

  send(signal: NodeJS.Signals): void {
    for (const listener of [...(this.#signals.get(signal) ?? [])]) listener()
  }

  get signalListeners(): number {
    return [...this.#signals.values()].reduce((sum, listeners) => sum + listeners.size, 0)
  }
}

/** Runs a command in this process. */
export async function run(
  args: readonly string[],
  options: FakeHostOptions = {},
): Promise<{ code: number; out: string; err: string }> {
  const host = new FakeHost(options)
  const code = await runCli(args, host)
  return { code, out: host.stdout.text, err: host.stderr.text }
}

/** The same by the clock of the system, for commands that wait for others. */
export function runNow(
  args: readonly string[],
  environment: Record<string, string> = {},
): ReturnType<typeof run> {
  return run(args, { clock: systemClock, environment })
}

/** Path of a new file with that text. */
export function temporaryFile(name: string, text: string): string {
  const path = join(temporaryFolder('quartz-ts-cli-'), name)
  writeFileSync(path, text)
  return path
}
