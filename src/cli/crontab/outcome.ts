import type { JobExecutionError } from '../../core/errors.ts'
import { oneLine } from '../terminal/text.ts'

/** How one execution ended, in the words that the table shows. */
export interface Outcome {
  readonly isGood: boolean
  /** `exit 0`, `exit 2`, `timeout`, `SIGSEGV`, `done`, `failed`. */
  readonly status: string
  /** The first line of its output; may be empty. */
  readonly text: string
}

/** The note of an execution under which a job leaves its own outcome. */
export const outcomeNote = 'outcome'

/** The outcome of a job that left none, made from what it returned or threw. */
export function outcomeOf(result: unknown, error: JobExecutionError | null): Outcome {
  if (error !== null) {
    const status = error.code === 'ERR_JOB_TIMEOUT' ? 'timeout' : 'failed'
    return { isGood: false, status, text: firstLine(error.message) }
  }
  const summary: unknown =
    typeof result === 'object' && result !== null && 'summary' in result ? result.summary : result
  return { isGood: true, status: 'done', text: typeof summary === 'string' ? firstLine(summary) : '' }
}

/** The first line that is not blank, safe to print. */
export function firstLine(text: string): string {
  for (const line of text.split('\n')) {
    const shown = oneLine(line)
    if (shown !== '') return shown
  }
  return ''
}
