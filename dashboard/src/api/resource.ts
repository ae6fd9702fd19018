import { batch, type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { LiveEventJson } from '../../../src/server/live/live-events.ts'
import { hasEnded } from '../state/session.ts'
import { later, nowMs, steadyMs } from '../time/clock.ts'
import { isPaused, onLive } from './live.ts'
import { isAborted } from './problem.ts'

/** What a page shows of the server, kept fresh. */
export interface Resource<Value> {
  /** Null until it was loaded first; then the last one that was loaded, unless other inputs since could not be. */
  readonly value: ReadonlySignal<Value | null>
  /** Of the last attempt; null when that went well. */
  readonly error: ReadonlySignal<unknown>
  readonly isLoading: ReadonlySignal<boolean>
  /** When the value came; null before. */
  readonly loadedMs: ReadonlySignal<number | null>
  /** Whether the value answers other inputs than those of now, whose answer is still to come. */
  readonly isOfOthers: ReadonlySignal<boolean>
  readonly reload: () => void
}

export interface Freshness {
  /** Whether an event is a reason to load again. Default none. */
  readonly isAffected?: (event: LiveEventJson) => boolean
  /** Loads again so often also without an event: of what others do a server does not hear all. Default 10,000. */
  readonly everyMs?: number
  /** Loads when it is shown, and not again by itself: for what somebody edits. Default false. */
  readonly isOnce?: boolean
  /**
   * Whether a failure stands as long as the server runs. It is asked again after a change of this page's own, and when
   * the stream of events does not go on where it was, as after a restart. Default: none does.
   */
  readonly isFinal?: (error: unknown) => boolean
}

/**
 * Events of a busy scheduler come by the thousand: they are answered with one request in so much time. After a quiet
 * time the first ones are answered at once and soon after; the gap is doubled until none has come for the longest one.
 */
const gapMs = { first: 150, most: 900 } as const
/**
 * The pause after a request is so many times what that one took, up to a limit: a page does not ask all the time, and a
 * server that was slow once is not left alone for minutes.
 */
const restFactor = 4
const restMaxMs = 10_000

/**
 * Loads when the component is first shown, when one of `inputs` changes, after events that matter, and from time to
 * time. A hidden page and one whose updates are paused load nothing.
 */
export function useResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  freshness: Freshness = {},
): Resource<Value> {
  const value: Signal<Value | null> = useSignal<Value | null>(null)
  const error = useSignal<unknown>(null)
  const requests = useSignal(0)
  const isOfOthers = useSignal(true)
  const loadedMs = useSignal<number | null>(null)
  const isLoading = useComputed(() => requests.value > 0)
  const latest = useRef({ load, freshness })
  latest.current = { load, freshness }
  const loader = useRef<Loader<Value> | null>(null)
  loader.current ??= new Loader<Value>(() => latest.current, { value, error, requests, isOfOthers, loadedMs })
  const { current } = loader
  useEffect(() => current.watch(), [current])
  useEffect(() => {
    current.loadOther()
  }, inputs)
  return {
    value,
    error,
    isLoading,
    isOfOthers,
    loadedMs,
    reload: () => {
      current.loadNow()
    },
  }
}

interface Current<Value> {
  readonly load: (signal: AbortSignal) => Promise<Value>
  readonly freshness: Freshness
}

/** What the loader tells. */
interface Told<Value> {
  readonly value: Signal<Value | null>
  readonly error: Signal<unknown>
  readonly requests: Signal<number>
  readonly isOfOthers: Signal<boolean>
  readonly loadedMs: Signal<number | null>
}

class Loader<Value> {
  readonly #current: () => Current<Value>
  readonly #told: Told<Value>
  #request: AbortController | null = null
  #isWaiting = false
  #isWanted = false
  /** Since the last request began something was told after which no answer stands, however final. */
  #isInDoubt = false
  #cancel: () => void = () => undefined
  #tookMs = 0
  #gapMs: number = gapMs.first

  constructor(current: () => Current<Value>, told: Told<Value>) {
    this.#current = current
    this.#told = told
  }

  /** What is there is shown until the answer to the new inputs comes, as old, and not beside their failure. */
  loadOther(): void {
    this.#told.isOfOthers.value = true
    this.loadNow()
  }

  /** Ends any request in flight, whose answer is to another question by now. */
  loadNow(): void {
    this.#request?.abort()
    const request = new AbortController()
    this.#request = request
    this.#isWanted = false
    this.#isInDoubt = false
    this.#told.requests.value++
    this.#settle(this.#current().load(request.signal), request).catch(() => undefined)
  }

  async #settle(answer: Promise<Value>, request: AbortController): Promise<void> {
    const startedMs = steadyMs()
    const { value, error, isOfOthers, loadedMs } = this.#told
    try {
      const loaded = await answer
      this.#tookMs = steadyMs() - startedMs
      if (this.#request === request) {
        batch(() => {
          isOfOthers.value = false
          loadedMs.value = nowMs()
          value.value = loaded
          error.value = null
        })
      }
    } catch (failure) {
      if (!isAborted(failure) && this.#request === request) {
        batch(() => {
          if (isOfOthers.value) value.value = null
          error.value = failure
        })
        // Another server may have come while this one answered.
        if (this.#isAnswered() && !this.#isInDoubt) this.#isWanted = false
      }
    } finally {
      this.#told.requests.value--
      if (this.#request === request) this.#request = null
      if (this.#isWanted) this.#loadSoon()
    }
  }

  /** Whether events and time change nothing of the last answer. */
  #isAnswered(): boolean {
    const { isFinal } = this.#current().freshness
    return isFinal?.(this.#told.error.value) === true
  }

  /** Loads now or after the gap, and not while a request is on its way. */
  #loadSoon(): void {
    this.#isWanted = true
    if (this.#isWaiting || this.#request !== null || document.hidden) return
    if (isPaused.value || hasEnded.value) return
    this.#cancel()
    this.#isWaiting = true
    this.loadNow()
    const waitMs = Math.max(this.#gapMs, Math.min(this.#tookMs * restFactor, restMaxMs))
    this.#gapMs = Math.min(this.#gapMs * 2, gapMs.most)
    this.#cancel = later(waitMs, () => {
      this.#isWaiting = false
      if (this.#isWanted) this.#loadSoon()
      else {
        this.#cancel = later(gapMs.most, () => {
          this.#gapMs = gapMs.first
        })
      }
    })
  }

  /** Without the rest of the gap, for whoever waits for what they have done. */
  #loadSooner(): void {
    this.#cancel()
    this.#isWaiting = false
    this.#loadSoon()
  }

  watch(): () => void {
    const { isOnce = false } = this.#current().freshness
    const stop = isOnce ? () => undefined : this.#listen()
    return () => {
      stop()
      this.#request?.abort()
      this.#request = null
    }
  }

  #isAffectedBy(event: LiveEventJson): boolean {
    return this.#current().freshness.isAffected?.(event) === true && !this.#isAnswered()
  }

  #listen(): () => void {
    const stopEvents = onLive((event) => {
      if (event === 'own' || event === 'resync') this.#isInDoubt = true
      // Whoever has the page stand still wants to see what they have done all the same.
      if (event === 'own' && isPaused.value) this.loadNow()
      else if (event === 'own') this.#loadSooner()
      else if (event === 'resync' || (typeof event === 'object' && this.#isAffectedBy(event)))
        this.#loadSoon()
    })
    const whenSeen = (): void => {
      if (!document.hidden && this.#isWanted) this.#loadSoon()
    }
    document.addEventListener('visibilitychange', whenSeen)
    let stopPoll = (): void => undefined
    const poll = (): void => {
      stopPoll = later(this.#current().freshness.everyMs ?? 10_000, () => {
        if (!this.#isAnswered()) {
          if (document.hidden) this.#isWanted = true
          else if (this.#request === null) this.#loadSoon()
        }
        poll()
      })
    }
    poll()
    return () => {
      stopEvents()
      stopPoll()
      this.#cancel()
      this.#isWaiting = false
      this.#isWanted = false
      document.removeEventListener('visibilitychange', whenSeen)
    }
  }
}
