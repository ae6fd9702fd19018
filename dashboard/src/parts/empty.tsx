import type { ComponentChildren, JSX } from 'preact'
import { common } from '../words/common.ts'
import { Code } from './code.tsx'

interface EmptyProps {
  readonly title: string
  /** What to do about it. */
  readonly hint?: string
  readonly code?: string
  readonly children?: ComponentChildren
}

/** In the place of a list that has nothing. */
export function Empty({ title, hint, code, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {hint !== undefined && <p>{hint}</p>}
      {code !== undefined && <Code text={code} label={title} />}
      {children}
    </div>
  )
}

interface NoneFoundProps {
  readonly title: string
  readonly hint: string
  /** The cursor of the next page; null when everything was looked at. */
  readonly next: string | null | undefined
}

/** In the place of a list of which nothing fits, as far as the server has looked. */
export function NoneFound({ title, hint, next }: NoneFoundProps): JSX.Element {
  const words = common()
  if (next === null || next === undefined) return <Empty title={title} hint={hint} />
  return <Empty title={words.noneYet} hint={words.noneYetHint} />
}
