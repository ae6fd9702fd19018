import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { common } from '../words/common.ts'
import { dictionary } from '../words/dictionary.ts'
import { Field } from './field.tsx'

const words = dictionary({
  en: {
    notObject: 'Write an object, as in { "to": "ops@example.com" }.',
    notJson: (why: string) => `This is no JSON: ${why}`,
  },
  zh: {
    notObject: '请填写一个对象，例如 { "to": "ops@example.com" }。',
    notJson: (why) => `不是有效的 JSON：${why}`,
  },
})

export type Data = Readonly<Record<string, unknown>>
export type ReadData =
  | { readonly data: Data; readonly problem: null }
  | { readonly data: null; readonly problem: string }

/** What the text of an editor stands for. */
export function readData(text: string): ReadData {
  const { notObject, notJson } = words()
  if (text.trim() === '') return { data: {}, problem: null }
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { data: null, problem: notObject }
    return { data: value as Data, problem: null }
  } catch (error) {
    return { data: null, problem: notJson(error instanceof Error ? error.message : String(error)) }
  }
}

export function dataText(data: Data): string {
  return Object.keys(data).length === 0 ? '{}' : JSON.stringify(data, null, 2)
}

interface DataEditorProps {
  readonly label: string
  readonly text: Signal<string>
  readonly hint?: string
}

/** Data of a job or a trigger, as JSON. */
export function DataEditor({ label, text, hint }: DataEditorProps): JSX.Element {
  const { problem } = readData(text.value)
  return (
    <Field label={label} hint={hint ?? common().masked} problem={problem}>
      {(ids) => (
        <textarea
          {...ids}
          value={text.value}
          spellcheck={false}
          rows={6}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
          }}
        />
      )}
    </Field>
  )
}
