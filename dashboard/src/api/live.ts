import { signal } from '@preact/signals'
import type { LiveEventJson } from '../../../src/server/live/live-events.ts'
import { basePath } from '../state/place.ts'
import { later } from '../time/clock.ts'

/**
 * `live`: events come; `connecting`: the server does not answer now; `paused`: the viewer wants the page to stand
 * still; `hidden`: no one sees the page.
 */
export type LiveStatus = 'live' | 'connecting' | 'paused' | 'hidden'

export const liveStatus = signal<LiveStatus>('connecting')
export const isPaused = signal(false)

/** Null stands for `resync`: something may have changed, and what it was is not known. */
type Listener = (event: LiveEventJson | null) => void
const listeners = new Set<Listener>()

export function onLive(listener: Listener): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** For what an action of this page has changed. */
export function resync(): void {
  for (const listener of [...listeners]) listener(null)
}

const retryMinMs = 1000
const retryMaxMs = 30_000
/** A page that is only passed by with ctrl-tab keeps its stream. */
const hiddenGraceMs = 5000

/** One stream of events for the whole page, opened while somebody looks at it. */
export class LiveStream {
  #source: EventSource | null = null
  #lastEventId = ''
  #retryMs = retryMinMs
  #cancel: () => void = () => undefined
  readonly #onRefused: () => void

  /** @param onRefused called when the server answers, and not with a stream: the session may be over */
  constructor(onRefused: () => void) {
    this.#onRefused = onRefused
  }

  /** @returns what ends it */
  start(): () => void {
    const whenSeen = (): void => {
      this.#cancel()
      if (!document.hidden) this.#open()
      else {
        this.#cancel = later(hiddenGraceMs, () => {
          this.#close('hidden')
        })
      }
    }
    document.addEventListener('visibilitychange', whenSeen)
    this.#open()
    return () => {
      document.removeEventListener('visibilitychange', whenSeen)
      this.#close('connecting')
    }
  }

  pause(): void {
    isPaused.value = true
    this.#close('paused')
  }

  resume(): void {
    isPaused.value = false
    this.#open()
  }

  #open(): void {
    if (this.#source !== null || isPaused.value) return
    const id = this.#lastEventId
    const query = id === '' ? '' : `?lastEventId=${encodeURIComponent(id)}`
    const source = new EventSource(`${basePath}/api/events${query}`)
    this.#source = source
    liveStatus.value = 'connecting'
    source.onopen = () => {
      this.#retryMs = retryMinMs
      liveStatus.value = 'live'
      // A stream that goes on is sent what it missed; what happened before the first one is not known.
      if (id === '') resync()
    }
    source.onmessage = ({ data, lastEventId }: MessageEvent<string>) => {
      this.#lastEventId = lastEventId
      this.#tell(data)
    }
    source.addEventListener('resync', ({ lastEventId }) => {
      this.#lastEventId = lastEventId
      resync()
    })
    source.onerror = () => {
      this.#failed(source)
    }
  }

  #tell(data: string): void {
    const event = JSON.parse(data) as LiveEventJson
    for (const listener of [...listeners]) listener(event)
  }

  /** The browser tries again by itself unless it was answered and refused. */
  #failed(source: EventSource): void {
    if (this.#source !== source) return
    liveStatus.value = 'connecting'
    if (source.readyState !== EventSource.CLOSED) return
    this.#source = null
    this.#onRefused()
    this.#cancel()
    // Many pages come back at the same time when a server does: they spread out.
    const waitMs = this.#retryMs * (0.5 + Math.random())
    this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs)
    this.#cancel = later(waitMs, () => {
      if (!document.hidden) this.#open()
    })
  }

  #close(status: LiveStatus): void {
    this.#cancel()
    this.#source?.close()
    this.#source = null
    liveStatus.value = status
  }
}
