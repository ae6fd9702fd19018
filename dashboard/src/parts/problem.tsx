import type { JSX } from 'preact'
import { isGone } from '../api/problem.ts'
import { common } from '../words/common.ts'
import { problemText } from '../words/problem-text.ts'
import { Button } from './button.tsx'

/** Why something is not shown. */
export function ProblemNote({
  error,
  retry,
}: {
  readonly error: unknown
  readonly retry?: () => unknown
}): JSX.Element {
  const words = common()
  return (
    <div class="note bad" role="alert">
      <strong>{words.failed}</strong>
      <span>
        {problemText(error)}
        {isGone(error) && ` ${words.mayBeDeleted}`}
      </span>
      {retry !== undefined && <Button text={words.retry} onPress={retry} />}
    </div>
  )
}
