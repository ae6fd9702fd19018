import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { pages } from '../pages.ts'
import { href } from '../state/place.ts'
import { may } from '../state/session.ts'
import { navigation } from '../words/navigation.ts'
import { shell } from '../words/shell.ts'
import { useDismissal } from './dismissal.ts'
import { Icon } from './icon.tsx'
import { TopBar } from './top-bar.tsx'

/** What stands around every page. */
export function Layout({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const isOpen = useSignal(false)
  const isByKeyboard = useRef(false)
  const { url } = useLocation()
  useEffect(() => {
    if (!isOpen.value) return
    // The link that was followed is about to be hidden, and the focus would be lost with it.
    if (document.activeElement?.closest('#navigation') !== null) focusOn('main')
    isOpen.value = false
  }, [url])
  useDismissal(isOpen.value, {
    within: '#navigation, .menu-button',
    opener: '.menu-button',
    close: () => {
      isOpen.value = false
    },
  })
  // What stands between the button and the links would take the focus first, and close the menu.
  useLayoutEffect(() => {
    if (isOpen.value && isByKeyboard.current) focusOn('#navigation [aria-current]', '#navigation a')
  }, [isOpen.value])
  const words = shell()
  return (
    <div class="layout">
      <button
        type="button"
        class="skip"
        onClick={() => {
          focusOn('main')
        }}
      >
        {words.skip}
      </button>
      <TopBar
        isMenuOpen={isOpen.value}
        onMenu={(isKey) => {
          isByKeyboard.current = isKey
          isOpen.value = !isOpen.value
        }}
      />
      <nav
        id="navigation"
        class={isOpen.value ? 'navigation open' : 'navigation'}
        aria-label={words.navigation}
      >
        <NavigationLinks />
      </nav>
      <main tabIndex={-1}>{children}</main>
    </div>
  )
}

function focusOn(selector: string, otherwise: string = selector): void {
  const element =
    document.querySelector<HTMLElement>(selector) ?? document.querySelector<HTMLElement>(otherwise)
  element?.focus()
}

function NavigationLinks(): JSX.Element {
  const { path } = useLocation()
  const words = navigation()
  const start = href('')
  const shown = path.startsWith(start) ? path.slice(start.length) || '/' : path
  return (
    <ul>
      {pages.map(({ path: target, navigation: entry }) => {
        if (entry === null || !may(entry.needs)) return null
        const isShown = target === '/' ? shown === '/' : shown === target || shown.startsWith(`${target}/`)
        return (
          <li key={target}>
            <a href={href(target)} aria-current={isShown ? 'page' : undefined}>
              <Icon name={entry.icon} />
              <span>{words[entry.label]}</span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}
