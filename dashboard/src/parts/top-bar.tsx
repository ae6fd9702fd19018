import type { JSX } from 'preact'
import { useLocation } from 'preact-iso'
import { isPaused, liveStatus } from '../api/live.ts'
import { live } from '../state/live.ts'
import { currentScheduler, href, hrefAt } from '../state/place.ts'
import { language, type Theme, theme, themes } from '../state/preferences.ts'
import { session, signOut } from '../state/session.ts'
import { unawaited } from '../state/toasts.ts'
import { shell } from '../words/shell.ts'
import { Badge } from './badge.tsx'
import { BulkChips } from './bulk.tsx'
import { Button } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'
import { leaveBy } from './unsaved.ts'

interface TopBarProps {
  readonly isMenuOpen: boolean
  readonly onMenu: (isByKeyboard: boolean) => void
}

export function TopBar({ isMenuOpen, onMenu }: TopBarProps): JSX.Element {
  const words = shell()
  return (
    <header class="top-bar">
      <button
        type="button"
        class="button quiet small menu-button"
        aria-label={words.menu}
        aria-expanded={isMenuOpen}
        aria-controls="navigation"
        onClick={({ detail }) => {
          // Of a pointer it counts the presses.
          onMenu(detail === 0)
        }}
      >
        <Icon name={isMenuOpen ? 'close' : 'menu'} />
      </button>
      <a class="brand" href={href('/')}>
        <span class="brand-mark">
          <Icon name="cron" />
        </span>
        <span class="brand-name">quartz-ts</span>
      </a>
      <SchedulerPicker />
      <span class="spring" />
      {session.value?.isReadOnly === true && <Badge tone="info" text={words.readOnly} />}
      <BulkChips />
      <LiveSwitch />
      <ThemeSwitch />
      <LanguageSwitch />
      <User />
    </header>
  )
}

function SchedulerPicker(): JSX.Element | null {
  const { route } = useLocation()
  const names = session.value?.schedulers ?? []
  const [first] = names
  if (first === undefined) return null
  if (names.length === 1) return <span class="scheduler-name">{first}</span>
  return (
    <label class="choice-box">
      <span class="only-read">{shell().scheduler}</span>
      <select
        value={currentScheduler.value ?? first}
        onChange={({ currentTarget }) => {
          const { value } = currentTarget
          // Until the page is left it is that of the other one.
          currentTarget.value = currentScheduler.value ?? first
          unawaited(
            leaveBy(() => {
              route(hrefAt(value === first ? null : value, '/'))
            }),
          )
        }}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function LiveSwitch(): JSX.Element {
  const words = shell()
  const status = liveStatus.value
  return (
    <button
      type="button"
      class={`button quiet live is-${status}`}
      title={isPaused.value ? words.resumeLive : words.pauseLive}
      aria-pressed={isPaused.value}
      onClick={() => {
        if (isPaused.value) live.resume()
        else live.pause()
      }}
    >
      <span class="dot" />
      <span class="live-text">{words.live[status]}</span>
    </button>
  )
}

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' }

function ThemeSwitch(): JSX.Element {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
  return (
    <Button
      text={shell().theme[theme.value]}
      icon={themeIcons[theme.value]}
      kind="quiet"
      isSmall
      onPress={() => {
        theme.value = next
      }}
    />
  )
}

function LanguageSwitch(): JSX.Element {
  const other = language.value === 'en' ? 'zh' : 'en'
  return (
    <button
      type="button"
      class="button quiet"
      lang={other === 'zh' ? 'zh-CN' : 'en'}
      onClick={() => {
        language.value = other
      }}
    >
      {other === 'zh' ? '中文' : 'EN'}
    </button>
  )
}

function User(): JSX.Element | null {
  const words = shell()
  const known = session.value
  if (known === null || known.principal === null) return null
  // Where the host says who it is, there is nothing to sign out of.
  if (known.credentials === null) return <span class="user">{known.principal.name}</span>
  return (
    <Button
      text={`${words.signOut} (${words.signedInAs(known.principal.name)})`}
      icon="signOut"
      kind="quiet"
      isSmall
      onPress={() => leaveBy(signOut)}
    />
  )
}
