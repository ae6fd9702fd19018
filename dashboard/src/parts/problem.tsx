import type { JSX } from 'preact'
import { isGone } from '../api/problem.ts'
import { nowMs } from '../time/clock.ts'
import { instantText } from '../time/format.ts'
import { common } from '../words/common.ts'
import { problemText } from '../words/problem-text.ts'
import { Button } from './button.tsx'

/** Why something is not shown. */
export function ProblemNote({
  error,
  knownMs = null,
  retry,
}: {
  readonly error: unknown
  /** When what is shown all the same was loaded. */
  readonly knownMs?: number | null
  readonly retry?: () => unknown
}): JSX.Element {
  const words = common()
  return (
    <div class="note bad" role="alert">
      <strong>{words.failed}</strong>
      <span>
        {problemText(error)}
        {isGone(error) && ` ${words.mayBeDeleted}`}
        {knownMs !== null && ` ${words.knownAsOf(instantText(knownMs, nowMs()))}`}
      </span>
      {retry !== undefined && <Button text={words.retry} onPress={retry} />}
    </div>
  )
}
