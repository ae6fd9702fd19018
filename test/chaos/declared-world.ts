import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../support/sqlite.ts'

const declared = fileURLToPath(new URL('./declared-node.mjs', import.meta.url))

const killer = fileURLToPath(new URL('./kill-at-statement.mjs', import.meta.url))

export interface Line {
  readonly kind: string
  readonly planned: number
  readonly node: string
  readonly code: string
  readonly count: number
  /** The recovery of a run whose process died. */
  readonly recovering: boolean
}

export type Code = 'old' | 'new'

/** Processes over one database, and what they wrote down. */
export class World {
  readonly #engine: string
  readonly #where: string
  readonly #program: string
  readonly #log: string = join(temporaryFolder(), 'log')

  constructor(engine: string, where: string, program: string = declared) {
    this.#engine = engine
    this.#where = where
    this.#program = program
  }

  async start(instanceId: string, code: Code, failedAfterMs?: number): Promise<ChildProcess> {
    const node = this.#fork(instanceId, code, { failedAfterMs })
    await once(node, 'message')
    return node
  }

  /** Starts a node that dies while it declares: after so many members. */
  async dieAfterMembers(instanceId: string, code: Code, members: number): Promise<void> {
    await once(this.#fork(instanceId, code, { members }), 'exit')
  }

  /** Starts a node that dies while it declares: when it has sent the statement that stores a job. */
  async dieAtStatement(instanceId: string, code: Code): Promise<void> {
    const texts = ['INSERT INTO qrtz_job_details']
    const env = { ...process.env, QUARTZ_TS_TEST_KILL_AT: JSON.stringify({ texts, when: 'after' }) }
    await once(this.#fork(instanceId, code, {}, { env, execArgv: ['--import', killer] }), 'exit')
  }

  /** Has a node die in its next run of the counter, and waits until that run is recovered. */
  async dieInRun(node: ChildProcess, startHeir?: () => Promise<ChildProcess>): Promise<ChildProcess | null> {
    node.send('dieInRun')
    await once(node, 'exit')
    const died = (await this.lines('dying')).at(-1)
    const heir = (await startHeir?.()) ?? null
    await vi.waitUntil(
      async () =>
        (await this.lines('counter')).some(
          ({ planned, recovering }) => recovering && planned === died?.planned,
        ),
      { timeout: 60_000, interval: 100 },
    )
    return heir
  }

  #fork(
    instanceId: string,
    code: Code,
    fate: { readonly failedAfterMs?: number | undefined; readonly members?: number },
    options: ForkOptions = {},
  ): ChildProcess {
    const args = [this.#engine, this.#where, this.#log, instanceId, code, JSON.stringify(fate)]
    const node = fork(this.#program, args, options)
    onTestFinished(() => void node.kill('SIGKILL'))
    return node
  }

  async lines(kind?: string): Promise<Line[]> {
    const text = await readFile(this.#log, 'utf8').catch(() => '')
    const all = text.split('\n').filter((line) => line !== '')
    return all
      .map((line) => JSON.parse(line) as Line)
      .filter((line) => kind === undefined || line.kind === kind)
  }

  /** Waits for so many further ticks, of this code where one is named. */
  async ticks(count: number, code?: Code): Promise<void> {
    const seen = async (): Promise<number> =>
      (await this.lines('tick')).filter((line) => code === undefined || line.code === code).length
    const before = await seen()
    await vi.waitUntil(async () => (await seen()) >= before + count, { timeout: 60_000, interval: 100 })
  }
}

export async function stop(node: ChildProcess): Promise<void> {
  node.send('stop')
  await once(node, 'exit')
}

export async function pauseHeld(node: ChildProcess): Promise<number> {
  node.send('pause')
  await once(node, 'message')
  return Date.now()
}
