import type { JobKey } from '../core/key.ts'
import type { ExecutionContext } from './execution-context.ts'

/** The executions that this scheduler runs now. */
export class ExecutingJobs {
  readonly #contexts = new Set<ExecutionContext>()
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
