import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useContext } from 'preact/hooks'
import { unawaited } from '../state/toasts.ts'
import { Icon, type IconName } from './icon.tsx'
import { ProblemPlace } from './problem-place.ts'

interface ButtonProps {
  readonly text: string
  readonly icon?: IconName
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet'
  /** Shows the icon alone; the text is its name. */
  readonly isSmall?: boolean
  readonly isDisabled?: boolean
  /** Until it has settled the button does nothing more; a failure is shown. */
  readonly onPress: () => unknown
}

export function Button(props: ButtonProps): JSX.Element {
  const { text, icon, kind = 'plain', isSmall = false, isDisabled = false, onPress } = props
  const isBusy = useSignal(false)
  const tell = useContext(ProblemPlace)
  const press = async (): Promise<void> => {
    if (isBusy.value) return
    isBusy.value = true
    tell(null)
    try {
      await onPress()
    } catch (error) {
      tell(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <button
      type="button"
      class={`button ${kind}${isSmall ? ' small' : ''}`}
      disabled={isDisabled}
      aria-busy={isBusy.value}
      aria-label={isSmall ? text : undefined}
      title={isSmall ? text : undefined}
      onClick={() => {
        unawaited(press())
      }}
    >
      {icon !== undefined && <Icon name={icon} />}
      {!isSmall && <span>{text}</span>}
    </button>
  )
}
