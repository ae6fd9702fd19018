import { readFile } from 'node:fs/promises'

/** A job began, failed on purpose, or ended. */
export interface RunLine {
  readonly kind: 'started' | 'failed' | 'ended'
  readonly at: number
  readonly node: string
  readonly pid: number
  /** Key of the trigger that planned the run, also of a retry or a recovery. */
  readonly trigger: string
  readonly planned: number
  readonly firedAt: number
  readonly job: string
  readonly id: string
  readonly attempt: number
  readonly recovering: boolean
}

interface EventFields {
  readonly at: number
  readonly node: string
  readonly pid: number
}

/** What a scheduler said, and what became of its process. */
export type EventLine = EventFields &
  (
    | { readonly kind: 'schedulerError'; readonly message: string; readonly error: string }
    | { readonly kind: 'nodeFailed' | 'nodeRecovered'; readonly instanceId: string }
    | { readonly kind: 'recoveredByPeer' }
    | { readonly kind: 'clockSkewed'; readonly offsetMs: number }
    | {
        readonly kind: 'executionLost'
        readonly trigger: string
        readonly planned: number
        readonly id: string
        readonly instanceId: string
      }
    | { readonly kind: 'triggerMisfired'; readonly trigger: string; readonly planned: number }
    | { readonly kind: 'triggerInError'; readonly trigger: string; readonly reason: string }
    | { readonly kind: 'killed' | 'frozen'; readonly point: string }
    | { readonly kind: 'uncaught'; readonly error: string }
    | { readonly kind: 'memory'; readonly heapBytes: number; readonly rssBytes: number }
  )

export type LogLine = RunLine | EventLine

export function isRun(line: LogLine): line is RunLine {
  return line.kind === 'started' || line.kind === 'failed' || line.kind === 'ended'
}

/** Everything that was written, in the order of what happened. */
export async function readLog(path: string): Promise<LogLine[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine)
}

export function textOf(line: LogLine): string {
  const { at, kind, ...rest } = line
  return `${new Date(at).toISOString().slice(11, 23)} ${kind} ${JSON.stringify(rest)}`
}
