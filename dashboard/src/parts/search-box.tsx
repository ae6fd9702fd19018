import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useSearch } from '../state/place.ts'
import { later } from '../time/clock.ts'
import { Icon } from './icon.tsx'

interface SearchBoxProps {
  readonly label: string
  /** The field of the query that it writes. */
  readonly field?: string
  readonly placeholder?: string
}

/** One entry of the history for a word, and not one for each letter. */
const typingMs = 250

/** Text that goes into the address when the viewer has stopped typing; it begins again at the first page. */
export function SearchBox({ label, field = 'search', placeholder }: SearchBoxProps): JSX.Element {
  const search = useSearch()
  const stored = search.get(field)
  const text = useSignal(stored)
  const cancel = useRef<() => void>(() => undefined)
  useEffect(() => {
    text.value = stored
  }, [stored])
  const type = (value: string): void => {
    text.value = value
    cancel.current()
    cancel.current = later(typingMs, () => {
      search.set({ [field]: value.trim(), after: '' }, { replace: stored !== '' })
    })
  }
  return (
    <label class="search-box">
      <span class="only-read">{label}</span>
      <Icon name="search" />
      <input
        type="search"
        value={text.value}
        placeholder={placeholder ?? label}
        maxLength={500}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget }) => {
          type(currentTarget.value)
        }}
      />
    </label>
  )
}

interface ChoiceBoxProps {
  readonly label: string
  readonly field: string
  /** The first one is what an empty field stands for. */
  readonly choices: readonly { readonly value: string; readonly text: string }[]
}

/** One of a few values of a field of the query. */
export function ChoiceBox({ label, field, choices }: ChoiceBoxProps): JSX.Element {
  const search = useSearch()
  return (
    <label class="choice-box">
      <span>{label}</span>
      <select
        value={search.get(field)}
        onChange={({ currentTarget }) => {
          search.set({ [field]: currentTarget.value, after: '' })
        }}
      >
        {choices.map(({ value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
