import type { JSX } from 'preact'
import type { ExecutingJson, ExecutionDetailsJson } from '../../../../src/server/wire/runs.ts'
import { executionHref } from '../../parts/execution-table.tsx'
import { itemsTerm } from '../../parts/filter-term.ts'
import { FiredBy, JobLink } from '../../parts/links.tsx'
import { type Fact, Facts } from '../../parts/panel.tsx'
import { Progress } from '../../parts/progress.tsx'
import { Duration, Elapsed, When } from '../../parts/time.tsx'
import { href } from '../../state/place.ts'
import { unknownText } from '../../time/format.ts'
import { common } from '../../words/common.ts'
import { words } from './words.ts'

interface ExecutionFactsProps {
  readonly running: ExecutingJson | null
  readonly ended: ExecutionDetailsJson | null
}

/** What is known of an execution that runs, or has ended. */
export function ExecutionFacts({ running, ended }: ExecutionFactsProps): JSX.Element | null {
  const text = words()
  const names = common()
  const known = ended ?? running
  if (known === null) return null
  const facts: readonly Fact[] = [
    { name: names.job, value: <JobLink of={known.jobKey} /> },
    { name: names.trigger, value: <FiredBy of={known.triggerKey} /> },
    { name: names.node, value: known.node },
    { name: names.planned, value: <When ms={known.scheduledFireTimeMs} /> },
    { name: names.began, value: <When ms={known.fireTimeMs} /> },
    { name: names.late, value: <Duration ms={known.fireTimeMs - known.scheduledFireTimeMs} /> },
    ...(ended === null
      ? [{ name: names.took, value: <Elapsed sinceMs={known.fireTimeMs} /> }]
      : endedFacts(ended)),
    {
      name: text.progress,
      value: <Progress text={known.progressText} />,
      isLeftOut: known.progressText === null,
    },
    { name: text.instance, value: <span class="mono">{known.fireInstanceId}</span> },
  ]
  return <Facts facts={facts} />
}

function endedFacts(ended: ExecutionDetailsJson): readonly Fact[] {
  const text = words()
  const names = common()
  const { previousFireInstanceId: previous, triggeredBy, shard } = ended
  return [
    { name: names.ended, value: <When ms={ended.finishedTimeMs} /> },
    { name: names.took, value: <Duration ms={ended.durationMs} /> },
    { name: names.type, value: <span class="mono">{ended.jobType ?? unknownText}</span> },
    { name: names.attempt, value: ended.attempt },
    { name: names.item, value: shard?.item, isLeftOut: shard === null },
    {
      name: text.firing,
      value: shard && (
        <a href={href('/history', { filter: itemsTerm(shard.firingId) })}>{text.itemsOfFiring}</a>
      ),
      isLeftOut: shard === null,
    },
    { name: text.recovering, value: names.yes, isLeftOut: !ended.recovering },
    { name: text.manual, value: triggeredBy ?? names.yes, isLeftOut: !ended.manual },
    {
      name: text.previous,
      value: previous !== null && <a href={executionHref(previous)}>{previous}</a>,
      isLeftOut: previous === null,
    },
  ]
}
