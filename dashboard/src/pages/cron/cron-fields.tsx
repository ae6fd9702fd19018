import type { JSX } from 'preact'
import { type Dialect, fieldsOf, type PresetName, presetsOf, splitFields, withField } from './cron-text.ts'
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
  const { expression, fields, names } = words()
  const parts = splitFields(text, dialect)
  return (
    <div class="cron-fields">
      <label class="field" data-wrong={position !== null}>
        <span>{expression}</span>
        <input
          class="mono cron-text"
          value={text}
          spellcheck={false}
          autocomplete="off"
          maxLength={500}
          aria-invalid={position !== null}
          onInput={({ currentTarget }) => {
            onChange(currentTarget.value)
          }}
        />
      </label>
      <fieldset class="cron-parts" disabled={parts === null}>
        <legend>{fields}</legend>
        {fieldsOf(dialect).map((name, index) => (
          <label key={name} class="field">
            <span>{names[name]}</span>
            <input
              class="mono"
              value={parts?.[index] ?? ''}
              spellcheck={false}
              autocomplete="off"
              onInput={({ currentTarget }) => {
                if (parts !== null) onChange(withField(parts, index, currentTarget.value))
              }}
            />
          </label>
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
