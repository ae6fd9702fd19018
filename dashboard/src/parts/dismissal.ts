import { useLayoutEffect } from 'preact/hooks'

interface Dismissal {
  /** Selects the menu and what opens it. */
  readonly within: string
  /** Selects what opens it, which has the focus again after Escape. */
  readonly opener: string
  readonly close: () => void
}

/** Closes a menu that lies over the page by Escape, by a press elsewhere, and when the focus leaves it. */
export function useDismissal(isOpen: boolean, { within, opener, close }: Dismissal): void {
  // An Escape may come as soon as the menu is seen.
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return
      close()
      document.querySelector<HTMLElement>(opener)?.focus()
    }
    const onElsewhere = ({ target }: Event): void => {
      if (target instanceof Element && target.closest(within) === null) close()
    }
    document.addEventListener('keydown', onKey)
    document.addEventListener('pointerdown', onElsewhere)
    document.addEventListener('focusin', onElsewhere)
    return () => {
      document.removeEventListener('keydown', onKey)
      document.removeEventListener('pointerdown', onElsewhere)
      document.removeEventListener('focusin', onElsewhere)
    }
  }, [isOpen])
}
