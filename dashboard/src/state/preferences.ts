import { effect, type Signal, signal } from '@preact/signals'

export const languages = ['en', 'zh'] as const
export type Language = (typeof languages)[number]

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

/** Where there is no choice yet, or the browser keeps none. */
function stored<Value extends string>(name: string, known: readonly Value[], initial: Value): Signal<Value> {
  const place = `quartz-ts.${name}`
  const found = known.find((value) => value === read(place))
  const preference = signal(found ?? initial)
  effect(() => {
    write(place, preference.value)
  })
  return preference
}

function read(place: string): string | null {
  try {
    return localStorage.getItem(place)
  } catch {
    // A browser that keeps nothing for this page: choices last as long as the page.
    return null
  }
}

function write(place: string, value: string): void {
  try {
    localStorage.setItem(place, value)
  } catch {
    // As above.
  }
}

export const language: Signal<Language> = stored(
  'language',
  languages,
  navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en',
)
export const theme: Signal<Theme> = stored('theme', themes, 'system')
/** The zone of times that belong to no trigger: the browser's, or UTC. */
export const zoneChoice: Signal<'browser' | 'UTC'> = stored('zone', ['browser', 'UTC'], 'browser')

export const browserZone: string = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** IANA name. */
export function viewerZone(): string {
  return zoneChoice.value === 'UTC' ? 'UTC' : browserZone
}

/** Has the document follow the choices. */
export function applyPreferences(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value
  })
  effect(() => {
    document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en'
  })
}
