import { ApiProblem, isGone } from '../api/problem.ts'
import { common } from './common.ts'

/** What a viewer is told of a failure. */
export function problemText(error: unknown): string {
  const words = common()
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error)
  if (isGone(error)) return error.problem.detail ?? words.gone
  if (error.mayBeDone) return words.mayBeDone
  if (error.status === 0) return words.noAnswer
  return error.status < 400 ? words.otherAnswered : error.message
}
