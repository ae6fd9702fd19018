import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

/** What an input takes to belong to its label and to what is said about it. */
export interface FieldIds {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: true
}

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  /** In the place of the hint. */
  readonly problem?: string | null
  /** Marks it as wrong where the problem is said elsewhere. */
  readonly isWrong?: boolean
  readonly children: (ids: FieldIds) => ComponentChildren
}

/** A label, an input, and a line about it. */
export function Field({
  label,
  hint,
  problem = null,
  isWrong = problem !== null,
  children,
}: FieldProps): JSX.Element {
  const id = useId()
  const said = problem ?? hint
  const ids: FieldIds = {
    id,
    ...(said !== undefined && { 'aria-describedby': `${id}-said` }),
    ...(isWrong && { 'aria-invalid': true }),
  }
  return (
    <div class="field" data-wrong={isWrong}>
      <label for={id}>{label}</label>
      {children(ids)}
      {said !== undefined && (
        <small id={`${id}-said`} class={problem === null ? '' : 'field-error'}>
          {said}
        </small>
      )}
    </div>
  )
}
