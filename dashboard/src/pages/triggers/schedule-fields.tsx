import type { JSX } from 'preact'
import { CheckField, ChoiceField, TextField } from '../../parts/fields.tsx'
import { ZoneInput } from '../../parts/zone-input.tsx'
import { CronFields } from '../cron/cron-fields.tsx'
import { dialects, dstRules, inDialect } from '../cron/cron-text.ts'
import { words as cronWords } from '../cron/words.ts'
import { unitsOf, wholeNumber } from './draft.ts'
import type { DraftProps } from './trigger-form.tsx'
import { words } from './words.ts'

/** The fields of one kind of trigger. */
export function ScheduleFields(props: DraftProps): JSX.Element {
  switch (props.draft.type) {
    case 'cron':
      return <CronSchedule {...props} />
    case 'simple':
      return (
        <div class="field-grid">
          <Interval {...props} />
          <Repeats {...props} />
        </div>
      )
    case 'calendarInterval':
      return <CalendarSchedule {...props} />
    case 'dailyTimeInterval':
      return <DailySchedule {...props} />
  }
}

function CronSchedule({ draft, onChange }: DraftProps): JSX.Element {
  const text = cronWords()
  return (
    <div class="form">
      <CronFields
        text={draft.expression}
        dialect={draft.dialect}
        position={null}
        onChange={(expression) => {
          onChange({ expression })
        }}
      />
      <div class="field-grid">
        <ChoiceField
          label={text.dialect}
          value={draft.dialect}
          choices={dialects.map((value) => ({ value, text: text.dialects[value] }))}
          onChange={(dialect) => {
            onChange({ dialect, expression: inDialect(draft.expression, draft.dialect, dialect) })
          }}
        />
        <Zone draft={draft} onChange={onChange} />
        <ChoiceField
          label={text.dst}
          value={draft.dst}
          hint={text.dstHint}
          choices={dstRules.map((value) => ({ value, text: text.dstRules[value] }))}
          onChange={(dst) => {
            onChange({ dst })
          }}
        />
      </div>
    </div>
  )
}

function CalendarSchedule(props: DraftProps): JSX.Element {
  const { draft, onChange } = props
  const text = words()
  return (
    <div class="form">
      <div class="field-grid">
        <Interval {...props} />
        <Zone {...props} />
      </div>
      <CheckField
        label={text.preserveHour}
        isChecked={draft.preserveHour}
        onChange={(preserveHour) => {
          onChange({ preserveHour })
        }}
      />
      <CheckField
        label={text.skipDay}
        isChecked={draft.skipDay}
        onChange={(skipDay) => {
          onChange({ skipDay })
        }}
      />
    </div>
  )
}

function DailySchedule(props: DraftProps): JSX.Element {
  const { draft, onChange } = props
  const text = words()
  return (
    <div class="form">
      <div class="field-grid">
        <Interval {...props} />
        <TextField
          label={text.dailyStart}
          type="time"
          value={draft.dailyStart}
          onChange={(dailyStart) => {
            onChange({ dailyStart })
          }}
        />
        <TextField
          label={text.dailyEnd}
          type="time"
          value={draft.dailyEnd}
          onChange={(dailyEnd) => {
            onChange({ dailyEnd })
          }}
        />
        <Zone {...props} />
        <Repeats {...props} />
      </div>
      <Weekdays {...props} />
    </div>
  )
}

function Weekdays({ draft, onChange }: DraftProps): JSX.Element {
  const { days, weekdays } = words()
  return (
    <fieldset class="weekdays">
      <legend>{days}</legend>
      {[2, 3, 4, 5, 6, 7, 1].map((day) => (
        <CheckField
          key={day}
          label={weekdays[day] ?? ''}
          isChecked={(draft.daysMask & (1 << day)) !== 0}
          onChange={() => {
            onChange({ daysMask: draft.daysMask ^ (1 << day) })
          }}
        />
      ))}
    </fieldset>
  )
}

/** What is wrong with a number that somebody types. */
export function numberProblem(text: string): string | null {
  return Number.isNaN(wholeNumber(text)) ? words().wrongNumber : null
}

function Interval({ draft, onChange }: DraftProps): JSX.Element {
  const text = words()
  return (
    <>
      <TextField
        label={text.interval}
        type="number"
        min={1}
        value={draft.interval}
        problem={numberProblem(draft.interval)}
        onChange={(interval) => {
          onChange({ interval })
        }}
      />
      <ChoiceField
        label={text.unit}
        value={draft.unit}
        choices={unitsOf(draft.type).map((value) => ({ value, text: text.units[value] }))}
        onChange={(unit) => {
          onChange({ unit })
        }}
      />
    </>
  )
}

function Repeats({ draft, onChange }: DraftProps): JSX.Element {
  const text = words()
  return (
    <div class="form">
      <CheckField
        label={text.isForever}
        isChecked={draft.isForever}
        onChange={(isForever) => {
          onChange({ isForever })
        }}
      />
      {!draft.isForever && (
        <TextField
          label={text.repeatCount}
          type="number"
          min={0}
          value={draft.repeatCount}
          problem={numberProblem(draft.repeatCount)}
          onChange={(repeatCount) => {
            onChange({ repeatCount })
          }}
        />
      )}
    </div>
  )
}

function Zone({ draft, onChange }: DraftProps): JSX.Element {
  return (
    <ZoneInput
      label={words().timeZone}
      value={draft.timeZone}
      onChange={(timeZone) => {
        onChange({ timeZone })
      }}
    />
  )
}
