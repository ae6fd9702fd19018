import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { visible } from '../../../../src/core/visible-text.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { Panel } from '../../parts/panel.tsx'
import { ProblemNote } from '../../parts/problem.tsx'
import { words } from './executor-log-words.ts'

/** So much of the end of a log is kept in the page. */
const textMax = 200_000

interface Read {
  readonly text: string
  readonly isCut: boolean
  readonly nextLine: number
  /** Where the run is; null before the first page. */
  readonly place: { readonly address: string; readonly logId: number } | null
  readonly problem: string | null
  /** Nothing comes any more. */
  readonly isOver: boolean
}

const nothingRead: Read = {
  text: '',
  isCut: false,
  nextLine: 1,
  place: null,
  problem: null,
  isOver: false,
}

interface ExecutorLogProps {
  readonly id: string
  readonly isRunning: boolean
}

/** What the executor of XXL-JOB has of the log; while the run goes on, new lines appear as they are written. */
export function ExecutorLog({ id, isRunning }: ExecutorLogProps): JSX.Element {
  const text = words()
  const read = useRef(nothingRead)
  const log = useResource(
    async (signal) => {
      if (!read.current.isOver) read.current = await readOn(id, read.current, isRunning, signal)
      return read.current
    },
    [id, isRunning],
    { everyMs: 1500 },
  )
  const error = log.error.value
  const shown = log.value.value
  return (
    <Panel title={text.log}>
      {error !== null && <ProblemNote error={error} retry={log.reload} />}
      {shown !== null && <Shown read={shown} />}
    </Panel>
  )
}

function Shown({ read: { text: lines, isCut, place, problem } }: { readonly read: Read }): JSX.Element {
  const text = words()
  return (
    <div class="stack">
      {place !== null && <p class="muted">{text.place(place.address, place.logId)}</p>}
      {problem !== null && <p class="note warn">{problem}</p>}
      {isCut && <p class="muted">{text.cut}</p>}
      {lines === '' ? (
        <p class="muted">{text.none}</p>
      ) : (
        // It scrolls, which the keyboard can do where it has the focus.
        <pre class="log" tabIndex={0} role="group" aria-label={text.log}>
          {visible(lines)}
        </pre>
      )}
    </div>
  )
}

/** Executors of Java write line breaks of HTML into their logs. */
async function readOn(id: string, before: Read, isRunning: boolean, signal: AbortSignal): Promise<Read> {
  const page = await call('xxlJob.log', {
    params: { fireInstanceId: id },
    query: { fromLine: before.nextLine },
    signal,
  })
  const { address, logId, fromLine, toLine, problem } = page
  const isEmpty = toLine < fromLine
  const gap = before.text === '' || before.text.endsWith('\n') ? '' : '\n'
  const all = isEmpty ? before.text : `${before.text}${gap}${page.text.replaceAll('<br>', '\n')}`
  return {
    text: all.slice(-textMax),
    isCut: before.isCut || all.length > textMax,
    nextLine: Math.max(before.nextLine, toLine + 1),
    place: { address, logId },
    problem,
    isOver: !isRunning && isEmpty && problem === null,
  }
}
