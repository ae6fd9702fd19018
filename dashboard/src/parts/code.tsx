import type { JSX } from 'preact'
import { visible } from '../../../src/core/visible-text.ts'
import { say } from '../state/toasts.ts'
import { common } from '../words/common.ts'
import { Button } from './button.tsx'

/** Code to paste. */
export function Code({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const words = common()
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    say.done(words.copied)
  }
  return (
    <div class="code">
      {/* It scrolls sideways, which the keyboard can do where it has the focus. */}
      <pre tabIndex={0} role="group" aria-label={label}>
        <code>{visible(text)}</code>
      </pre>
      {/* Browsers have it for https and this machine alone. */}
      {'clipboard' in navigator && <Button text={words.copy} icon="copy" isSmall onPress={copy} />}
    </div>
  )
}

export function Json({ value, label }: { readonly value: unknown; readonly label: string }): JSX.Element {
  return <Code text={JSON.stringify(value, null, 2)} label={label} />
}
