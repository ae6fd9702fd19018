import type { JSX } from 'preact'
import { ApiProblem } from '../../api/problem.ts'
import { problemText } from '../../words/problem-text.ts'

interface CronProblemProps {
  readonly error: unknown
  /** The expression that is wrong. */
  readonly text: string
}

/** What is wrong with an expression and where, with what to write instead. */
export function CronProblem({ error, text }: CronProblemProps): JSX.Element {
  const position = error instanceof ApiProblem ? error.problem.position : undefined
  return (
    <div class="note bad" role="alert">
      <div class="prose">
        <span>{problemText(error)}</span>
        {position !== undefined && (
          <pre>
            {text.slice(0, position)}
            <mark>{text.slice(position, position + 1) || ' '}</mark>
            {text.slice(position + 1)}
          </pre>
        )}
      </div>
    </div>
  )
}
