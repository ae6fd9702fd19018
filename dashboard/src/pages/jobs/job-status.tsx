import type { JSX } from 'preact'
import type { JobStatusJson } from '../../../../src/server/wire/job-status.ts'
import { OutcomeBadge } from '../../parts/badge.tsx'
import { executionHref } from '../../parts/execution-table.tsx'
import { Facts, Panel } from '../../parts/panel.tsx'
import { Duration, When } from '../../parts/time.tsx'
import { numberText, percentText, unknownText } from '../../time/format.ts'
import { words } from './words.ts'

/** How a job is doing, which is remembered longer than its executions are. */
export function Status({ status }: { readonly status: JobStatusJson }): JSX.Element | null {
  const text = words()
  // It never ran, as far as is known.
  if (status.lastFireTimeMs === null && status.days.length === 0) return null
  const { lastOutcome, lastFireInstanceId: last, days } = status
  const counts = days.map((day) => day.counts)
  const succeeded = counts.reduce((sum, count) => sum + count.succeeded, 0)
  const failed = counts.reduce((sum, count) => sum + count.failed + count.timedOut + count.lost, 0)
  const ranMs = days.reduce((sum, { runTimeMs }) => sum + runTimeMs, 0)
  const ended = succeeded + failed
  return (
    <Panel title={text.status}>
      <Facts
        facts={[
          {
            name: text.lastOutcome,
            value:
              lastOutcome === null || last === null ? (
                unknownText
              ) : (
                <a href={executionHref(last)}>
                  <OutcomeBadge outcome={lastOutcome} />
                </a>
              ),
          },
          { name: text.lastRun, value: <When ms={status.lastFireTimeMs} /> },
          { name: text.lastSuccess, value: <When ms={status.lastSuccessTimeMs} /> },
          { name: text.lastFailure, value: <When ms={status.lastFailureTimeMs} /> },
          { name: text.failingFor, value: numberText(status.consecutiveFailures) },
          { name: text.success(days.length), value: percentText(ended === 0 ? null : succeeded / ended) },
          { name: text.average, value: <Duration ms={ended === 0 ? null : Math.round(ranMs / ended)} /> },
        ]}
      />
    </Panel>
  )
}
