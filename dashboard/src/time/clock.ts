import { signal } from '@preact/signals'

/** The one place of the page that reads clocks and arms timers. */

let offsetMs = 0

/** The server's clock, as far as an answer has told it; the browser's own may be wrong. */
export function nowMs(): number {
  return Date.now() + offsetMs
}

/** How long something takes: no clock that is set goes back or forth while it does. */
export function steadyMs(): number {
  return performance.now()
}

/** Smaller differences are the time that the answer took. */
const noticedMs = 2000

/** What an answer says of the server's clock. When it was made is not known of one that was long on its way. */
export function serverSaysNow(serverMs: number, askedMs: number): void {
  const tookMs = nowMs() - askedMs
  if (tookMs < 0 || tookMs > noticedMs / 2) return
  const differsMs = serverMs + tookMs / 2 - Date.now()
  offsetMs = Math.abs(differsMs) < noticedMs ? 0 : differsMs
  tick.value = nowMs()
}

/** Calls back once; returns what cancels it. */
export function later(delayMs: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delayMs)
  return () => {
    clearTimeout(timer)
  }
}

/** A second hand, for texts such as "5 seconds ago". It stands still while the page is hidden. */
export const tick = signal(nowMs())

export function startTicking(): void {
  setInterval(() => {
    if (!document.hidden) tick.value = nowMs()
  }, 1000)
  document.addEventListener('visibilitychange', () => {
    tick.value = nowMs()
  })
}
