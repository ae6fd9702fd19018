import { JobBoard } from '../../src/cli/crontab/job-board.ts'
import { type Outcome, outcomeNote } from '../../src/cli/crontab/outcome.ts'
import type { JobExecutionError } from '../../src/core/errors.ts'
import { jobKey } from '../../src/core/key.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { JobExecutionContext } from '../../src/jobs/job-definition.ts'
import { SchedulerEventEmitter } from '../../src/listeners/events.ts'

/** One execution as the events of a scheduler tell of it. */
export interface FakeExecution {
  readonly job: string
  readonly dueMs: number
  readonly lateMs?: number
  readonly tookMs?: number
  readonly nextMs?: number | null
  readonly outcome?: Outcome
  readonly result?: unknown
  readonly error?: JobExecutionError
}

/** A board with a scheduler's events in the hands of the test. */
export class FakeBoard {
  readonly board = new JobBoard(0)
  readonly #events = new SchedulerEventEmitter(silentLogger)

  constructor() {
    this.board.watch(this.#events)
  }

  add(job: string, nextMs: number | null): this {
    this.board.add(jobKey(job), job, nextMs)
    return this
  }

  begin(execution: FakeExecution): void {
    this.#events.emit('jobToBeExecuted', { context: contextOf(execution) })
  }

  progress(execution: FakeExecution, value: unknown): void {
    this.#events.emit('jobProgress', { context: contextOf(execution), value })
  }

  end(execution: FakeExecution): void {
    this.#events.emit('jobWasExecuted', { context: contextOf(execution), error: execution.error ?? null })
  }

  execute(execution: FakeExecution): void {
    this.begin(execution)
    this.end(execution)
  }
}

function contextOf(execution: FakeExecution): JobExecutionContext {
  const { dueMs, job, lateMs = 0, nextMs = null, outcome, result, tookMs = 0 } = execution
  const context = {
    jobKey: jobKey(job),
    fireTime: new Date(dueMs + lateMs),
    scheduledFireTime: new Date(dueMs),
    jobRunTimeMs: tookMs,
    trigger: { nextFireTimeMs: nextMs },
    result,
    get: (key: string) => (key === outcomeNote ? outcome : undefined),
  }
  return context as unknown as JobExecutionContext
}
