import type { JobKey } from '../core/key.ts'
import type { Clock } from '../time/clock.ts'
import { Waiters } from '../time/waiters.ts'
import type { ExecutionContext } from './execution-context.ts'

/** The executions that this scheduler runs now. */
export class ExecutingJobs {
  readonly #contexts = new Set<ExecutionContext>()
  readonly #draining = new Waiters()
  #started = 0

  /** Executions begun since the scheduler was made. */
  get startedCount(): number {
    return this.#started
  }

  add(context: ExecutionContext): void {
    this.#contexts.add(context)
    this.#started++
  }

  remove(context: ExecutionContext): void {
    this.#contexts.delete(context)
    if (this.#contexts.size === 0) this.#draining.wakeAll()
  }

  get count(): number {
    return this.#contexts.size
  }

  /** Resolves when none runs. */
  async drained(clock: Clock): Promise<void> {
    if (this.#contexts.size > 0) await this.#draining.wait(clock)
  }

  get(fireInstanceId: string): ExecutionContext | null {
    return this.all().find((context) => context.fireInstanceId === fireInstanceId) ?? null
  }

  ofJob(jobKey: JobKey): readonly ExecutionContext[] {
    return this.all().filter((context) => context.jobKey.equals(jobKey))
  }

  all(): readonly ExecutionContext[] {
    return [...this.#contexts]
  }
}
