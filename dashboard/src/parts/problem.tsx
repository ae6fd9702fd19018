import type { JSX } from 'preact'
import { common } from '../words/common.ts'
import { problemText } from '../words/problem-text.ts'
import { Button } from './button.tsx'

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
