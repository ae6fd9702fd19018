import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { visibleName } from '../../../src/core/visible-text.ts'
import type { CompletionJson } from '../../../src/server/operations/completion.ts'
import { call } from '../api/client.ts'
import { useSearch } from '../state/place.ts'
import { may } from '../state/session.ts'
import { later } from '../time/clock.ts'
import { common } from '../words/common.ts'
import { Icon } from './icon.tsx'

interface SearchBoxProps {
  readonly label: string
  /** The field of the query that it writes. */
  readonly field?: string
  readonly placeholder?: string
  /** Whose list it searches, where the server knows what may be meant. */
  readonly completes?: 'jobs' | 'triggers' | 'executions' | 'jobGroups'
}

/** One entry of the history for a word, and not one for each letter. */
const typingMs = 250
const askAfterMs = 120

/** Text that goes into the address when the viewer has stopped typing; it begins again at the first page. */
export function SearchBox({ label, field = 'search', placeholder, completes }: SearchBoxProps): JSX.Element {
  const search = useSearch()
  const stored = search.get(field)
  const text = useSignal(stored)
  const cancel = useRef<() => void>(() => undefined)
  /** What this box has put into the address itself: more may have been typed by the time that it is there. */
  const sent = useRef<string | null>(null)
  useEffect(() => {
    const isOwn = sent.current === stored
    sent.current = null
    // A blank at the end stays while somebody types the next word.
    if (!isOwn && text.value.trim() !== stored) text.value = stored
  }, [stored])
  useEffect(
    () => () => {
      cancel.current()
    },
    [],
  )
  const listId = useId()
  const completion = useCompletion(completes)
  const type = (value: string): void => {
    text.value = value
    completion.ask(value)
    cancel.current()
    cancel.current = later(typingMs, () => {
      sent.current = value.trim()
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
        maxLength={field === 'search' ? 200 : 500}
        spellcheck={false}
        autocomplete="off"
        list={completes === undefined ? undefined : listId}
        onFocus={() => {
          completion.ask(text.value)
        }}
        onInput={({ currentTarget }) => {
          type(currentTarget.value)
        }}
      />
      {completes !== undefined && (
        <datalist id={listId}>
          {completion.items.map(({ value, label: named }) => (
            <option key={value} value={value} label={named} />
          ))}
        </datalist>
      )}
    </label>
  )
}

const groupTerm = 'group:'

/** Groups of jobs are values of a term of the filter of executions, whose labels have no quotes. */
async function completionsOf(
  of: NonNullable<SearchBoxProps['completes']>,
  text: string,
  signal: AbortSignal,
): Promise<readonly CompletionJson[]> {
  if (of !== 'jobGroups') return (await call('completion.list', { query: { of, text }, signal })).items
  const term = `${groupTerm}"${text.replace(/[\\"]/g, '\\$&')}`
  const { items } = await call('completion.list', { query: { of: 'executions', text: term }, signal })
  return items
    .map(({ label }) => label.slice(groupTerm.length))
    .map((group) => ({ value: group, label: group }))
}

interface Completion {
  readonly items: readonly CompletionJson[]
  readonly ask: (text: string) => void
}

/** What may be meant by a text; what comes too late, or not at all, is not missed. */
function useCompletion(of: SearchBoxProps['completes']): Completion {
  const items = useSignal<readonly CompletionJson[]>([])
  const request = useRef<AbortController | null>(null)
  const cancel = useRef<() => void>(() => undefined)
  const end = (): void => {
    cancel.current()
    request.current?.abort()
  }
  useEffect(() => end, [])
  const ask = (text: string): void => {
    end()
    if (of === undefined || !may('completion.list')) return
    cancel.current = later(askAfterMs, () => {
      const asking = new AbortController()
      request.current = asking
      completionsOf(of, text, asking.signal).then(
        (found) => {
          if (request.current === asking) items.value = found
        },
        () => undefined,
      )
    })
  }
  return { items: items.value, ask }
}

/** The group to which a list is narrowed, as a link to all of them. */
export function GroupChip(): JSX.Element | null {
  const search = useSearch()
  const { group: label, clear } = common()
  const group = search.get('group')
  if (group === '') return null
  return (
    <a class="chip is-on" href={search.with({ group: '', after: '' })} title={clear}>
      {label}: {visibleName(group)} ×
    </a>
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
