import type { JSX } from 'preact'
import { ApiProblem, isGone } from '../api/problem.ts'
import { common } from '../words/common.ts'
import { Button } from './button.tsx'

export function problemText(error: unknown): string {
  const words = common()
  if (isGone(error)) return words.gone
  if (error instanceof ApiProblem && error.status === 0) return words.noAnswer
  return error instanceof Error ? error.message : String(error)
}

/** Why something is not shown. */
export function ProblemNote({
  error,
  retry,
}: {
  readonly error: unknown
  readonly retry?: () => void
}): JSX.Element {
  const words = common()
  return (
    <div class="note bad" role="alert">
      <strong>{words.failed}</strong>
      <span>{problemText(error)}</span>
      {retry !== undefined && <Button text={words.retry} onPress={retry} />}
    </div>
  )
}
