import type { EpochMs } from '../../time/clock.ts'
import {
  type ExecutionLogChunk,
  type ExecutionLogLine,
  type ExecutionLogQuery,
  pageOfLines,
} from '../execution-log.ts'
import { type Page, pageSize } from '../queries.ts'
import type { ResolvedRecordOptions } from '../record-options.ts'

/** What executions logged, in the order in which they logged last. */
export class RamExecutionLog {
  readonly #options: ResolvedRecordOptions['executionLog']
  readonly #lines = new Map<string, ExecutionLogLine[]>()
  #count = 0

  constructor(options: ResolvedRecordOptions['executionLog']) {
    this.#options = options
  }

  write(chunks: readonly ExecutionLogChunk[]): void {
    for (const { fireInstanceId, lines } of chunks) {
      const known = this.#lines.get(fireInstanceId) ?? []
      const added = lines.filter(({ line }) => line > (known.at(-1)?.line ?? 0))
      this.#lines.delete(fireInstanceId)
      this.#lines.set(fireInstanceId, [...known, ...added])
      this.#count += added.length
    }
    for (const [id, lines] of this.#lines) {
      if (this.#count <= this.#options.maxRows) return
      this.#delete(id, lines)
    }
  }

  prune(nowMs: EpochMs): void {
    for (const [id, lines] of this.#lines) {
      if (nowMs - (lines.at(-1)?.timeMs ?? 0) > this.#options.maxAgeMs) this.#delete(id, lines)
    }
  }

  query(fireInstanceId: string, query: ExecutionLogQuery): Page<ExecutionLogLine, number> {
    const size = pageSize('queryExecutionLog', query)
    return pageOfLines(this.#lines.get(fireInstanceId) ?? [], query, size)
  }

  #delete(id: string, lines: readonly ExecutionLogLine[]): void {
    this.#lines.delete(id)
    this.#count -= lines.length
  }
}
