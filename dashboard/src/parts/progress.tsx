import type { JSX } from 'preact'
import { percentText, unknownText } from '../time/format.ts'
import { dictionary } from '../words/dictionary.ts'

const words = dictionary({ en: { progress: 'Progress' }, zh: { progress: '进度' } })

/** A number from 0 to 1 is a share, one up to 100 a percentage; anything else is shown as it was said. */
export function Progress({ text }: { readonly text: string | null }): JSX.Element {
  if (text === null) return <span class="unknown">{unknownText}</span>
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isNaN(value) || value < 0 || value > 100) return <span class="mono">{text}</span>
  const share = value <= 1 ? value : value / 100
  return (
    <span class="progress">
      <progress value={share} aria-label={words().progress} />
      <span class="number">{percentText(share)}</span>
    </span>
  )
}
