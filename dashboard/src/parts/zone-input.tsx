import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import { Field } from './field.tsx'

interface ZoneInputProps {
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly onChange: (zone: string) => void
}

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** A time zone by its IANA name, with those that the browser knows to choose from. */
export function ZoneInput({ label, hint, value, onChange }: ZoneInputProps): JSX.Element {
  const id = useId()
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <>
          <input
            {...ids}
            value={value}
            list={id}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => {
              onChange(currentTarget.value)
            }}
          />
          <datalist id={id}>
            {zones.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
