import { viewerZone } from '../state/preferences.ts'

/*
 * Instants for <input type="datetime-local">, in the viewer's zone: the browser's own or UTC, both of which `Date`
 * knows.
 */

export function localText(ms: number): string {
  // Sweden writes dates as ISO 8601 does.
  const fields = { dateStyle: 'short', timeStyle: 'medium', timeZone: viewerZone() } as const
  return new Intl.DateTimeFormat('sv-SE', fields).format(ms).replace(' ', 'T')
}

/** Null for a text that is no date. */
export function msOfLocal(text: string): number | null {
  const ms = new Date(viewerZone() === 'UTC' ? `${text}Z` : text).getTime()
  return Number.isNaN(ms) ? null : ms
}
