import type { JSX } from 'preact'
import { visible } from '../../../../src/core/visible-text.ts'
import type { ExecutionLogLine } from '../../../../src/jobstore/execution-log.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { Instant } from '../../parts/time.tsx'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { ExecutorLog } from './executor-log.tsx'
import { words } from './words.ts'

/** A store keeps more of them when it is told to. */
const linesMax = 1000

interface ExecutionLogProps {
  readonly id: string
  readonly isRunning: boolean
}

/** What the job logged; while it runs, new lines appear as they are written. */
export function ExecutionLog({ id, isRunning }: ExecutionLogProps): JSX.Element {
  const text = words()
  const log = useResource(
    (signal) => call('executions.log', { params: { fireInstanceId: id }, query: { take: linesMax }, signal }),
    [id, isRunning],
    { everyMs: isRunning ? 1500 : 5000 },
  )
  const error = log.error.value
  const isLoading = log.value.value === null && error === null
  const lines = log.value.value?.items ?? []
  const next = log.value.value?.next ?? null
  return (
    <>
      {lines.some(isSent) && <ExecutorLog id={id} isRunning={isRunning} />}
      <Panel title={text.log}>
        {error !== null && <ProblemNote error={error} retry={log.reload} />}
        {lines.length === 0 ? (
          error === null && <p class="muted">{isLoading ? common().loading : text.noLog}</p>
        ) : (
          // It scrolls, which the keyboard can do where it has the focus.
          <ol class="log" tabIndex={0} aria-label={text.log}>
            {lines.map((line) => (
              <Line key={line.line} line={line} />
            ))}
          </ol>
        )}
        {next !== null && <p class="muted">{text.moreLog(lines.length)}</p>}
      </Panel>
    </>
  )
}

/** A job of `xxlJob` logs where it was sent: the rest of its log is there. */
function isSent({ fieldsText }: ExecutionLogLine): boolean {
  return fieldsText?.startsWith('{"xxlJob":') === true && may('xxlJob.log')
}

function Line({
  line: { timeMs, level, message, fieldsText },
}: {
  readonly line: ExecutionLogLine
}): JSX.Element {
  return (
    <li class={`is-${level}`}>
      <Instant ms={timeMs} />
      <span class="log-level">{level}</span>
      <span class="log-message">
        {visible(message)}
        {fieldsText !== null && <span class="muted"> {visible(fieldsText)}</span>}
      </span>
    </li>
  )
}
