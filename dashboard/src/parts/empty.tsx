import type { ComponentChildren, JSX } from 'preact'
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
