import type { JSX } from 'preact'
import { visibleName } from '../../../../src/core/visible-text.ts'
import type { CronPreviewJson } from '../../../../src/server/operations/cron.ts'
import { call } from '../../api/client.ts'
import { ApiProblem } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { ChoiceField, halfTyped, TextField } from '../../parts/fields.tsx'
import { Fresh } from '../../parts/fresh.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useSettled } from '../../parts/use-settled.ts'
import { ZoneInput } from '../../parts/zone-input.tsx'
import { href, type Search, useSearch } from '../../state/place.ts'
import { browserZone } from '../../state/preferences.ts'
import { may } from '../../state/session.ts'
import { durationText } from '../../time/format.ts'
import { msOfLocal } from '../../time/local-input.ts'
import { cronWords } from '../../words/cron-words.ts'
import { CronFields } from './cron-fields.tsx'
import { CronProblem } from './cron-problem.tsx'
import { type Dialect, type DstRule, dialects, dstRules, inDialect, presetsOf } from './cron-text.ts'
import { FireList } from './fire-list.tsx'
import { words } from './words.ts'

interface Asked {
  readonly expression: string
  readonly timeZone: string
  readonly dialect: Dialect
  readonly dst: DstRule
  readonly calendarName: string
  readonly from: string
}

/** Stands in the address for a field that was emptied, because without one the address stands for the first choice. */
const emptied = ' '

function typedIn(search: Search, field: 'expression' | 'zone', first: string): string {
  const text = search.get(field)
  if (text === '') return first
  return text === emptied ? '' : text
}

function askedOf(search: Search): Asked {
  const dialect = dialects.find((each) => each === search.get('dialect')) ?? 'quartz'
  return {
    expression: typedIn(search, 'expression', presetsOf(dialect).weekdays),
    timeZone: typedIn(search, 'zone', browserZone),
    dialect,
    dst: dstRules.find((each) => each === search.get('dst')) ?? 'vixie',
    calendarName: search.get('calendar'),
    from: search.get('from'),
  }
}

/** All of it is in the address, so a link shows an expression to somebody else. */
export function CronPage(): JSX.Element {
  const text = words()
  const search = useSearch()
  const asked = askedOf(search)
  const settled = useSettled(asked)
  const preview = useResource(
    (signal) => {
      const { from, ...query } = settled.value
      const fromMs = msOfLocal(from) ?? undefined
      return call('cron.preview', { query: { ...query, fromMs, count: 20 }, signal })
    },
    [JSON.stringify(settled.value)],
    { everyMs: 60_000 },
  )
  const error = preview.error.value
  const isOld = preview.isOfOthers.value || settled.isBehind
  const position = error instanceof ApiProblem ? (error.problem.position ?? null) : null
  const change = (changes: Readonly<Record<string, string>>): void => {
    search.set(changes, { replace: true })
  }
  return (
    <>
      <PageHead
        title={text.title}
        below={text.below}
        actions={
          may('triggers.put') && (
            <a
              class="button plain"
              href={href('/triggers/new', {
                expression: asked.expression,
                zone: asked.timeZone,
                dialect: asked.dialect,
                dst: asked.dst,
                ...(asked.calendarName !== '' && { calendar: asked.calendarName }),
                ...(msOfLocal(asked.from) !== null && { from: asked.from }),
              })}
            >
              {text.schedule}
            </a>
          )
        }
      />
      <Panel title={text.expression}>
        <div class="form">
          <CronFields
            text={asked.expression}
            dialect={asked.dialect}
            position={position}
            onChange={(expression) => {
              change({ expression: expression || emptied })
            }}
          />
          <Choices asked={asked} onChange={change} />
        </div>
      </Panel>
      {error !== null ? (
        <CronProblem error={error} text={settled.value.expression} />
      ) : (
        <Fresh isOld={isOld}>
          <Answer preview={preview.value.value} asked={settled.value} />
        </Fresh>
      )}
    </>
  )
}

interface ChoicesProps {
  readonly asked: Asked
  readonly onChange: (changes: Readonly<Record<string, string>>) => void
}

function Choices({ asked, onChange }: ChoicesProps): JSX.Element {
  const text = words()
  const calendars = useResource(
    async (signal) => (may('calendars.list') ? call('calendars.list', { signal }) : { items: [] }),
    [],
    { everyMs: 60_000 },
  )
  const names = calendars.value.value?.items.map(({ name }) => name) ?? []
  return (
    <div class="field-grid">
      <ChoiceField
        label={text.dialect}
        value={asked.dialect}
        choices={dialects.map((value) => ({ value, text: text.dialects[value] }))}
        onChange={(dialect) => {
          onChange({ dialect, expression: inDialect(asked.expression, asked.dialect, dialect) || emptied })
        }}
      />
      <ZoneInput
        label={text.zone}
        hint={text.zoneHint}
        value={asked.timeZone}
        onChange={(zone) => {
          onChange({ zone: zone || emptied })
        }}
      />
      <ChoiceField
        label={text.dst}
        value={asked.dst}
        hint={text.dstHint}
        choices={dstRules.map((value) => ({ value, text: text.dstRules[value] }))}
        onChange={(dst) => {
          onChange({ dst })
        }}
      />
      {names.length > 0 && (
        <ChoiceField
          label={text.calendar}
          value={asked.calendarName}
          choices={[
            { value: '', text: text.noCalendar },
            ...names.map((value) => ({ value, text: visibleName(value) })),
          ]}
          onChange={(calendar) => {
            onChange({ calendar })
          }}
        />
      )}
      <TextField
        label={text.from}
        type="datetime-local"
        value={asked.from}
        onChange={(from) => {
          onChange({ from: from === halfTyped ? '' : from })
        }}
      />
    </div>
  )
}

/** A firing every few seconds is more often meant to be one every few minutes. */
const oftenMs = 30_000

interface AnswerProps {
  readonly preview: CronPreviewJson | null
  readonly asked: Asked
}

function Answer({ preview, asked: { dialect, timeZone } }: AnswerProps): JSX.Element {
  const text = words()
  if (preview === null) return <Panel title={text.fires}>…</Panel>
  const { expression, fires, isComplete, words: meaning } = preview
  const gaps = fires.slice(1).map(({ atMs }, index) => atMs - (fires[index]?.atMs ?? atMs))
  const leastMs = gaps.length === 0 ? null : Math.min(...gaps)
  return (
    <>
      <p class="note info" role="status">
        <span>{text.means}</span>
        <strong>{cronWords(expression, dialect, meaning)}</strong>
      </p>
      {leastMs !== null && leastMs < oftenMs && <p class="note warn">{text.often(durationText(leastMs))}</p>}
      <Panel title={text.fires} isFlush>
        <FireList fires={fires} zone={timeZone} />
        {isComplete && <p class="panel-body muted">{text.complete}</p>}
      </Panel>
    </>
  )
}
