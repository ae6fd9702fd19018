import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Field } from '../../parts/field.tsx'
import { TextField } from '../../parts/fields.tsx'
import {
  type Dialect,
  fieldsOf,
  hasGap,
  type PresetName,
  presetsOf,
  splitFields,
  withField,
} from './cron-text.ts'
import { words } from './words.ts'

interface CronFieldsProps {
  readonly text: string
  readonly dialect: Dialect
  /** The character at which the text is wrong, from 0; null when it is right. */
  readonly position: number | null
  readonly onChange: (text: string) => void
}

/** A cron expression as one text and as its fields: a change of one changes the other. */
export function CronFields({ text, dialect, position, onChange }: CronFieldsProps): JSX.Element {
  const { expression, fields, names, emptyField } = words()
  // Fields one of which is empty for now: the expression changes when something stands there again.
  const gapped = useSignal<readonly string[] | null>(null)
  useEffect(() => {
    gapped.value = null
  }, [text, dialect])
  const parts = gapped.value ?? splitFields(text, dialect)
  const changeField = (index: number, value: string): void => {
    if (parts === null) return
    const next = withField(parts, index, value)
    if (hasGap(next)) gapped.value = next
    else {
      gapped.value = null
      onChange(next.join(' ').trim())
    }
  }
  return (
    <div class="cron-fields">
      <Field label={expression} isWrong={position !== null}>
        {(ids) => (
          <input
            {...ids}
            class="mono cron-text"
            value={text}
            spellcheck={false}
            autocomplete="off"
            maxLength={500}
            onInput={({ currentTarget }) => {
              onChange(currentTarget.value)
            }}
          />
        )}
      </Field>
      <fieldset class="cron-parts" disabled={parts === null}>
        <legend>{fields}</legend>
        {fieldsOf(dialect).map((name, index) => (
          <TextField
            key={name}
            label={names[name]}
            value={parts?.[index] ?? ''}
            problem={parts?.[index] === '' && name !== 'year' ? emptyField : null}
            onChange={(value) => {
              changeField(index, value)
            }}
          />
        ))}
      </fieldset>
      <Presets dialect={dialect} text={text} onChange={onChange} />
    </div>
  )
}

function Presets({
  dialect,
  text,
  onChange,
}: Pick<CronFieldsProps, 'dialect' | 'text' | 'onChange'>): JSX.Element {
  const { presets, preset } = words()
  const texts = presetsOf(dialect)
  return (
    <div class="chips" role="group" aria-label={presets}>
      {(Object.keys(texts) as PresetName[]).map((name) => (
        <button
          key={name}
          type="button"
          class={texts[name] === text ? 'chip is-on' : 'chip'}
          aria-pressed={texts[name] === text}
          onClick={() => {
            onChange(texts[name])
          }}
        >
          {preset[name]}
        </button>
      ))}
    </div>
  )
}
