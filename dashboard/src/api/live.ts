import { signal } from '@preact/signals'
import type { LiveEventJson } from '../../../src/server/live/live-events.ts'
import { basePath, currentScheduler } from '../state/place.ts'
import { session } from '../state/session.ts'
import { later } from '../time/clock.ts'

/**
 * `live`: events come; `connecting`: the server does not answer now; `paused`: the viewer wants the page to stand
 * still; `hidden`: no one sees the page.
 */
export type LiveStatus = 'live' | 'connecting' | 'paused' | 'hidden'

export const liveStatus = signal<LiveStatus>('connecting')
export const isPaused = signal(false)

/** `own`: this page has changed something; `resync`: something may have changed, and what it was is not known. */
type Heard = LiveEventJson | 'own' | 'resync'
type Listener = (heard: Heard) => void
const listeners = new Set<Listener>()

export function onLive(listener: Listener): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

function tell(heard: Heard): void {
  for (const listener of [...listeners]) listener(heard)
}

/** For what an action of this page has changed. */
export function ownChange(): void {
  tell('own')
}

const retryMinMs = 1000
const retryMaxMs = 30_000
/** A page that is only passed by with ctrl-tab keeps its stream. */
const hiddenGraceMs = 5000
/** The server says something every 15 seconds, and may be a little late. */
const silenceMs = 20_000

/** One stream of events for the whole page, opened while somebody looks at it. */
export class LiveStream {
  #source: EventSource | null = null
  #lastEventId = ''
  #retryMs = retryMinMs
  #cancel: () => void = () => undefined
  #cancelSilence: () => void = () => undefined
  #wasLive = false
  readonly #onDoubt: () => void

  /**
   * @param onDoubt called when the session may have changed: the server answers, and not with a stream, or it does so
   *   again and may be another one
   */
  constructor(onDoubt: () => void) {
    this.#onDoubt = onDoubt
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
    if (isPaused.value) liveStatus.value = 'paused'
    else if (document.hidden) liveStatus.value = 'hidden'
    else this.#open()
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
    this.#hear()
    source.onopen = () => {
      this.#hear()
      this.#retryMs = retryMinMs
      liveStatus.value = 'live'
      if (this.#wasLive) this.#onDoubt()
      this.#wasLive = true
      // A stream that goes on is sent what it missed; what happened before the first one is not known.
      if (id === '') tell('resync')
    }
    source.onmessage = ({ data, lastEventId }: MessageEvent<string>) => {
      this.#hear(lastEventId)
      const event = JSON.parse(data) as LiveEventJson
      if (event.scheduler === (currentScheduler.value ?? session.value?.schedulers[0])) tell(event)
    }
    source.addEventListener('ping', ({ lastEventId }) => {
      this.#hear(lastEventId)
    })
    source.addEventListener('resync', ({ lastEventId }) => {
      this.#hear(lastEventId)
      tell('resync')
    })
    source.onerror = () => {
      this.#failed(source)
    }
  }

  /** A connection that was cut off, or whose server stands still, is given up when nothing comes for long. */
  #hear(lastEventId = this.#lastEventId): void {
    this.#lastEventId = lastEventId
    this.#cancelSilence()
    this.#cancelSilence = later(silenceMs, () => {
      this.#close('connecting')
      this.#open()
    })
  }

  /** The browser tries again by itself unless it was answered and refused. */
  #failed(source: EventSource): void {
    if (this.#source !== source) return
    liveStatus.value = 'connecting'
    if (source.readyState !== EventSource.CLOSED) return
    this.#close('connecting')
    this.#onDoubt()
    // Many pages come back at the same time when a server does: they spread out.
    const waitMs = this.#retryMs * (0.5 + Math.random())
    this.#retryMs = Math.min(this.#retryMs * 2, retryMaxMs)
    this.#cancel = later(waitMs, () => {
      if (!document.hidden) this.#open()
    })
  }

  #close(status: LiveStatus): void {
    this.#cancel()
    this.#cancelSilence()
    this.#source?.close()
    this.#source = null
    liveStatus.value = status
  }
}
