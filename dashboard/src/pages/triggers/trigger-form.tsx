import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { visibleName } from '../../../../src/core/visible-text.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { DataEditor } from '../../parts/data-editor.tsx'
import { ChoiceField, TextField } from '../../parts/fields.tsx'
import { Panel } from '../../parts/panel.tsx'
import { viewerZone } from '../../state/preferences.ts'
import { may } from '../../state/session.ts'
import { common } from '../../words/common.ts'
import { type Draft, misfiresOf, triggerTypes, unitsOf } from './draft.ts'
import { numberProblem, ScheduleFields } from './schedule-fields.tsx'
import { words } from './words.ts'

export interface DraftProps {
  readonly draft: Draft
  readonly onChange: (changes: Partial<Draft>) => void
}

interface FormProps extends DraftProps {
  readonly isNew: boolean
}

/** All fields of a trigger. */
export function TriggerForm({ draft, onChange, isNew }: FormProps): JSX.Element {
  const text = words()
  return (
    <>
      <Panel title={text.identity}>
        <Identity draft={draft} onChange={onChange} isNew={isNew} />
      </Panel>
      <Panel title={text.when}>
        <div class="form">
          <div class="field-grid">
            <KindChoice draft={draft} onChange={onChange} />
          </div>
          <ScheduleFields draft={draft} onChange={onChange} />
        </div>
      </Panel>
      <Panel title={text.further}>
        <Further draft={draft} onChange={onChange} isNew={isNew} />
      </Panel>
    </>
  )
}

function KindChoice({ draft, onChange }: DraftProps): JSX.Element {
  const { kinds } = common()
  return (
    <ChoiceField
      label={words().kind}
      value={draft.type}
      choices={triggerTypes.map((value) => ({ value, text: kinds[value] }))}
      onChange={(type) => {
        const units = unitsOf(type)
        const unit = units.includes(draft.unit) ? draft.unit : 'HOUR'
        const misfire = misfiresOf(type).includes(draft.misfire) ? draft.misfire : 'smart'
        onChange({ type, unit, misfire })
      }}
    />
  )
}

function Identity({ draft, onChange, isNew }: FormProps): JSX.Element {
  const text = words()
  const names = common()
  const field = (
    name: 'group' | 'name' | 'jobGroup' | 'jobName' | 'description',
    label: string,
    isFixed = false,
  ) => (
    <TextField
      label={label}
      value={draft[name]}
      isDisabled={isFixed}
      onChange={(value) => {
        onChange({ [name]: value })
      }}
    />
  )
  return (
    <div class="field-grid">
      {field('group', names.group, !isNew)}
      {field('name', names.name, !isNew)}
      {field('jobGroup', text.jobGroup)}
      {field('jobName', text.jobName)}
      {field('description', names.description)}
    </div>
  )
}

function Further({ draft, onChange, isNew }: FormProps): JSX.Element {
  const text = words()
  const names = common()
  const data = useSignal(draft.data)
  useEffect(() => {
    if (data.value !== draft.data) onChange({ data: data.value })
  }, [data.value])
  return (
    <div class="form">
      <div class="field-grid">
        <ChoiceField
          label={text.misfire}
          value={draft.misfire}
          hint={text.misfires[draft.misfire]}
          choices={misfiresOf(draft.type).map((value) => ({ value, text: value }))}
          onChange={(misfire) => {
            onChange({ misfire })
          }}
        />
        <CalendarChoice draft={draft} onChange={onChange} />
        <TextField
          label={names.priority}
          type="number"
          value={draft.priority}
          problem={numberProblem(draft.priority)}
          onChange={(priority) => {
            onChange({ priority })
          }}
        />
        <TextField
          label={text.start}
          type="datetime-local"
          value={draft.start}
          hint={(isNew ? text.startHint : text.startHintOfStored)(viewerZone())}
          onChange={(start) => {
            onChange({ start })
          }}
        />
        <TextField
          label={text.end}
          type="datetime-local"
          value={draft.end}
          hint={text.endHint(viewerZone())}
          onChange={(end) => {
            onChange({ end })
          }}
        />
      </div>
      <DataEditor label={names.data} text={data} />
    </div>
  )
}

function CalendarChoice({ draft, onChange }: DraftProps): JSX.Element {
  const names = common()
  const calendars = useResource(
    async (signal) => (may('calendars.list') ? call('calendars.list', { signal }) : { items: [] }),
    [],
    { everyMs: 60_000 },
  )
  const known = new Set([...(calendars.value.value?.items.map(({ name }) => name) ?? []), draft.calendarName])
  known.delete('')
  return (
    <ChoiceField
      label={names.calendar}
      value={draft.calendarName}
      choices={[
        { value: '', text: names.none },
        ...[...known].map((value) => ({ value, text: visibleName(value) })),
      ]}
      onChange={(calendarName) => {
        onChange({ calendarName })
      }}
    />
  )
}
