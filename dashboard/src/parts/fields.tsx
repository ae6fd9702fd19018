import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { common } from '../words/common.ts'
import { Field } from './field.tsx'

interface TextFieldProps {
  readonly label: string
  readonly value: string
  /** Also called with {@link halfTyped}, which is no number and no date. */
  readonly onChange: (value: string) => void
  readonly hint?: ComponentChildren
  readonly type?: 'text' | 'number' | 'datetime-local' | 'time'
  readonly min?: number
  readonly max?: number
  readonly isRequired?: boolean
  readonly isDisabled?: boolean
  /** In the place of the hint. */
  readonly problem?: string | null
}

/** In place of the text of a date or a number that is not whole, for which browsers give the empty text. */
export const halfTyped = '?'

/** The types of elements ask for one type of input at a time. */
function oneType(type: 'text' | 'number' | 'datetime-local' | 'time'): 'text' {
  return type as 'text'
}

export function TextField(props: TextFieldProps): JSX.Element {
  const {
    label,
    value,
    onChange,
    hint,
    type = 'text',
    min,
    max,
    isRequired = false,
    isDisabled = false,
    problem = null,
  } = props
  const isHalf = useSignal(false)
  // Browsers judge no text: in one the mark is a character that was typed, as in the days of a cron expression.
  const shown = type !== 'text' && value === halfTyped ? '' : value
  const halfProblem = isHalf.value && shown === '' ? common().halfTyped : null
  const read = (input: HTMLInputElement): string => {
    isHalf.value = input.validity.badInput
    return isHalf.value ? halfTyped : input.value
  }
  return (
    <Field label={label} hint={hint} problem={problem ?? halfProblem}>
      {(ids) => (
        <input
          {...ids}
          type={oneType(type)}
          value={shown}
          min={min}
          max={max}
          step={type === 'time' || type === 'datetime-local' ? 1 : undefined}
          required={isRequired}
          disabled={isDisabled}
          autocomplete="off"
          onInput={({ currentTarget }) => {
            onChange(read(currentTarget))
          }}
          onBlur={({ currentTarget }) => {
            // Half a date in a field that was empty is no input event.
            if (currentTarget.validity.badInput !== isHalf.value) onChange(read(currentTarget))
          }}
        />
      )}
    </Field>
  )
}

export interface Choice<Value extends string> {
  readonly value: Value
  readonly text: string
}

interface ChoiceFieldProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly choices: readonly Choice<Value>[]
  readonly onChange: (value: Value) => void
  readonly hint?: ComponentChildren
}

export function ChoiceField<Value extends string>(props: ChoiceFieldProps<Value>): JSX.Element {
  const { label, value, choices, onChange, hint } = props
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select
          {...ids}
          value={value}
          onChange={({ currentTarget }) => {
            const chosen = choices.find((choice) => choice.value === currentTarget.value)
            if (chosen !== undefined) onChange(chosen.value)
          }}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface CheckFieldProps {
  readonly label: string
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
  readonly hint?: string
}

export function CheckField({ label, isChecked, onChange, hint }: CheckFieldProps): JSX.Element {
  return (
    <label class="check-field">
      <input
        type="checkbox"
        checked={isChecked}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.checked)
        }}
      />
      <span>
        {label}
        {hint !== undefined && (
          <>
            <br />
            <small>{hint}</small>
          </>
        )}
      </span>
    </label>
  )
}
