import type { JSX } from 'preact'
import type { KeyJson } from '../../../../src/server/wire/fields.ts'
import type { TriggerFieldsJson } from '../../../../src/server/wire/triggers.ts'
import { call } from '../../api/client.ts'
import type { Operations } from '../../api/operations.ts'
import { useResource } from '../../api/resource.ts'
import { FireTimes } from '../../parts/fire-times.tsx'
import { Fresh } from '../../parts/fresh.tsx'
import { MinuteLoad, useMinuteLoads } from '../../parts/minute-load.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useSettled } from '../../parts/use-settled.ts'
import { CronProblem } from '../cron/cron-problem.tsx'
import { zoneOf } from './schedule-text.ts'
import { words } from './words.ts'

type Edited = Operations['triggers.put']['answer']

interface TriggerPreviewProps {
  readonly of: KeyJson
  /** Null while the fields are not right. */
  readonly fields: TriggerFieldsJson | null
}

/** The fire times as they are stored and as they would be, side by side; the server computes both. */
export function TriggerPreview({ of: key, fields }: TriggerPreviewProps): JSX.Element {
  const text = words()
  const settled = useSettled({ key, fields })
  const preview = useResource(
    async (signal) => {
      const { key: params, fields: body } = settled.value
      return body === null ? null : call('triggers.put', { params, body, dryRun: true, signal })
    },
    [JSON.stringify(settled.value)],
    { everyMs: 60_000 },
  )
  const error = preview.error.value
  const expression = fields?.type === 'cron' ? fields.cronExpression.expression : ''
  if (settled.value.fields === null) return <p class="note info">{text.fixFirst}</p>
  if (error !== null) return <CronProblem error={error} text={expression} />
  const answer = preview.value.value
  if (answer === null) return <p class="note info">…</p>
  const isOld = preview.isOfOthers.value || settled.isBehind
  return (
    <Fresh isOld={isOld}>
      <FiresBeforeAndAfter of={settled.value.key} answer={answer} isOld={isOld} />
    </Fresh>
  )
}

interface FiresProps {
  readonly of: KeyJson
  readonly answer: Edited
  /** Whether it is about other fields than those of now. */
  readonly isOld: boolean
}

function FiresBeforeAndAfter({ of: key, answer, isOld }: FiresProps): JSX.Element {
  const text = words()
  const { before, beforeMs, after, afterMs } = answer.result
  const loads = useMinuteLoads(afterMs, key)
  return (
    <>
      {!answer.changed && !isOld && (
        <p class="note info" role="status">
          {text.same}
        </p>
      )}
      <div class="columns" aria-live="polite">
        <Panel title={`${text.preview}: ${text.before}`} isFlush>
          <FireTimes
            fireTimesMs={beforeMs}
            zone={zoneOf(before)}
            empty={before === null ? text.noneBefore : text.noFireTimes}
          />
        </Panel>
        <Panel title={`${text.preview}: ${text.after}`} isFlush>
          <FireTimes
            fireTimesMs={afterMs}
            zone={zoneOf(after)}
            empty={text.noFireTimes}
            isNew={(ms) => before !== null && !beforeMs.includes(ms)}
            note={(ms) => <MinuteLoad loads={loads} atMs={ms} />}
          />
        </Panel>
      </div>
    </>
  )
}
