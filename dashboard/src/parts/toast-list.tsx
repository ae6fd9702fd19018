import type { JSX } from 'preact'
import { dismiss, toasts } from '../state/toasts.ts'
import { common } from '../words/common.ts'
import { Icon } from './icon.tsx'

/** What was done, and what was not, for a few seconds each. */
export function ToastList(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast ${kind}`}>
          <Icon name={kind === 'done' ? 'check' : 'misfires'} />
          <span>{text}</span>
          <button
            type="button"
            class="button quiet small"
            aria-label={common().dismiss}
            onClick={() => {
              dismiss(id)
            }}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
