import type { JSX } from 'preact'
import type { OperationId } from '../api/operations.ts'
import { may } from '../state/session.ts'
import { common } from '../words/common.ts'

/** Tells those who came by an address that what they type could not be saved. */
export function MayNotSave({ by }: { readonly by: OperationId }): JSX.Element | null {
  return may(by) ? null : <p class="note info">{common().mayNotSave}</p>
}
