import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { basePath } from '../state/place.ts'
import { unawaited } from '../state/toasts.ts'
import { dictionary } from '../words/dictionary.ts'
import { confirm } from './dialog.tsx'

const words = dictionary({
  en: {
    title: 'Leave this page?',
    ask: 'What you have changed here is not saved.',
    leave: 'Leave',
  },
  zh: { title: '离开此页面？', ask: '您在此处所做的更改尚未保存。', leave: '离开' },
})

/** On a link that gives up what was typed. */
export const discards = { 'data-discards': '' } as const

interface Edited {
  /** With the query of now. */
  readonly address: () => string
  readonly pathname: string
  readonly isUnsaved: () => boolean
  /** From now on nothing is asked. */
  readonly giveUp: () => void
  readonly route: (address: string) => void
}

/** The page that is shown, when something is edited there. */
const edited = signal<Edited | null>(null)

/** Has the viewer asked before the page is left while it has something that is not saved. */
export function useUnsaved(isUnsaved: boolean): void {
  const { route, url } = useLocation()
  const isAsked = useRef(isUnsaved)
  isAsked.current = isUnsaved
  const address = useRef(url)
  address.current = url
  useEffect(() => {
    edited.value = {
      address: () => address.current,
      pathname: location.pathname,
      route,
      isUnsaved: () => isAsked.current,
      giveUp: () => {
        isAsked.current = false
      },
    }
    return () => {
      edited.value = null
    }
  }, [])
}

/** Leaves the page once the viewer gives up what is not saved there. */
export async function leaveBy(go: () => unknown): Promise<void> {
  const { title, ask, leave } = words()
  const page = edited.value
  const isHeld = page?.isUnsaved() === true
  if (isHeld && !(await confirm({ title, body: ask, verb: leave, isDanger: true }))) return
  page?.giveUp()
  await go()
}

/** Asks before a link, Back or a reload. It is called before the router listens, because that would hear them first. */
export function watchUnsaved(): void {
  addEventListener('beforeunload', (event) => {
    if (edited.value?.isUnsaved() === true) event.preventDefault()
  })
  addEventListener(
    'click',
    (event) => {
      const page = edited.value
      const link = page?.isUnsaved() === true ? linkOf(event) : null
      if (page === null || link === null || link.pathname === page.pathname) return
      event.preventDefault()
      event.stopPropagation()
      unawaited(
        leaveBy(() => {
          page.route(link.pathname + link.search)
        }),
      )
    },
    true,
  )
  addEventListener('popstate', (event) => {
    const page = edited.value
    if (page?.isUnsaved() !== true || location.pathname === page.pathname) return
    // The browser has gone there already. The page stays, and so does its address until the viewer has answered.
    event.stopImmediatePropagation()
    history.pushState(null, '', page.address())
    unawaited(
      leaveBy(() => {
        history.back()
      }),
    )
  })
}

/** The link to a page of the dashboard that a press opens in this tab; null for all else. */
function linkOf({
  target,
  button,
  ctrlKey,
  metaKey,
  shiftKey,
  altKey,
}: MouseEvent): HTMLAnchorElement | null {
  if (button !== 0 || ctrlKey || metaKey || shiftKey || altKey || !(target instanceof Element)) return null
  const link = target.closest<HTMLAnchorElement>('a[href]:not([target], [download], [data-discards])')
  // Others have the browser ask.
  return link?.origin === location.origin && link.pathname.startsWith(`${basePath}/`) ? link : null
}
