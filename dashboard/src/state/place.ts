import { signal } from '@preact/signals'
import { useLocation } from 'preact-iso'

const given = document.querySelector<HTMLMetaElement>('meta[name="base-path"]')?.content ?? ''

/** The path at which the server is mounted; empty for the root. */
export const basePath: string = given.startsWith('/') ? given : ''

/** The scheduler that the address names; null for the default one of the server. */
export const currentScheduler = signal<string | null>(null)

/** A name as one part of a path, as the API takes it: URLs cannot have empty parts, `.` and `..`. */
export function pathText(name: string): string {
  const needsMark = name === '' || /^[.~]/.test(name)
  return encodeURIComponent(needsMark ? `~${name}` : name)
}

/** An address, or a part of one, as text; null where it was cut off. */
export function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** What {@link pathText} stands for. */
export function nameOf(part: string): string {
  return part.startsWith('~') ? part.slice(1) : part
}

/** The address of a page, on the scheduler that is shown. */
export function href(path: string, query: Readonly<Record<string, string>> = {}): string {
  return hrefAt(currentScheduler.value, path, query)
}

export function hrefAt(
  scheduler: string | null,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const place = scheduler === null ? '' : `/schedulers/${pathText(scheduler)}`
  const search = new URLSearchParams(query).toString()
  return `${basePath}${place}${path}${search === '' ? '' : `?${search}`}`
}

export const jobPath = ({ group, name }: { readonly group: string; readonly name: string }): string =>
  `/jobs/${pathText(group)}/${pathText(name)}`
export const triggerPath = ({ group, name }: { readonly group: string; readonly name: string }): string =>
  `/triggers/${pathText(group)}/${pathText(name)}`

export interface Search {
  get(name: string): string
  /** Changes the query of the address while its page is shown; an empty value leaves the field out. */
  set(changes: Readonly<Record<string, string>>, options?: { readonly replace?: boolean }): void
  /** The address with such a change. */
  with(changes: Readonly<Record<string, string>>): string
}

/**
 * Whether the page is still the one of now, for what waits before it asks: the question, and what is done then, would
 * be about the scheduler of another page.
 */
export function pageOfNow(): () => boolean {
  const { pathname } = location
  return () => location.pathname === pathname
}

/** The query of the address: filters, pages and tabs live there, so that a link shows the same. */
export function useSearch(): Search {
  const { url, route } = useLocation()
  const { pathname, searchParams } = new URL(url, location.origin)
  return {
    get: (name) => searchParams.get(name) ?? '',
    set(changes, { replace = false } = {}) {
      // What has changed since it was drawn stays; another page, which may still be loading, is not searched.
      const now = new URL(location.href)
      if (now.pathname !== pathname) return
      const next = changed(now.pathname, now.searchParams, changes)
      if (next !== now.pathname + now.search) route(next, replace)
    },
    with: (changes) => changed(pathname, searchParams, changes),
  }
}

function changed(
  pathname: string,
  query: URLSearchParams,
  changes: Readonly<Record<string, string>>,
): string {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name)
    else next.set(name, value)
  }
  const text = next.toString()
  return `${pathname}${text === '' ? '' : `?${text}`}`
}
