import { SchedulerError } from '../../core/errors.ts'
import { systemIds } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import { logThrown } from '../../core/thrown-value.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { Clock, ClockTimer } from '../../time/clock.ts'
import { serverClosed } from '../server-closed.ts'
import type { ResolvedServerOptions } from '../server-options.ts'
import { EventRing } from './event-ring.ts'
import { type LiveEventJson, observeScheduler } from './live-events.ts'
import { PeerWatch } from './peer-watch.ts'
import { PermissionWatch } from './permission-watch.ts'

/** How many events are kept for clients that come back. */
const ringSize = 5000
const pingMs = 15_000
/** How long events are kept up without a client: as long as one may take to come back. */
const lingerMs = 120_000
/** How many events one write has at most. */
const batchMax = 200
/** A stream ends after so long, and its client comes back: a balancer may then choose another node. */
const streamMs = 3_600_000
const neverGiven = -1
const streamType = 'text/event-stream'

export function isStream({ headers }: Response): boolean {
  return headers.get('content-type') === streamType
}

/** Who has a stream: streams are shared out among principals, and those of a principal among its addresses. */
export interface StreamClient {
  readonly principal: string
  readonly address: string
}

export interface StreamOptions {
  readonly client: StreamClient
  /** The last event that the client has; null for a client that begins. */
  readonly lastEventId: string | null
  readonly isWanted: (event: LiveEventJson) => boolean
  /** Whether its client may have the stream still, as it was opened: asked again all the time. */
  readonly isPermitted: () => Promise<boolean>
  /** Ends the stream: some hosts abort the request of a client that has gone, and leave the body alone. */
  readonly signal: AbortSignal
}

/**
 * Streams of server-sent events. Each is pulled by its client: what a client has not read stays in the ring that all
 * share, and a client that falls behind the ring is told to `resync`.
 */
export class LiveStreams {
  readonly #schedulers: ReadonlyMap<string, Scheduler>
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #max: number
  readonly #ring: EventRing
  /** Numbers begin anew with each server; this tells the numbers of one from those of another. */
  readonly #epoch: string
  /** The oldest first. */
  readonly #open = new Set<OpenStream>()
  #isListening = false
  #isClosed = false
  /** What ends the observing of each scheduler; empty while none is observed, as when the ring has no room. */
  #stops: (() => void)[] = []
  #peers: PeerWatch[] = []
  #lingering: ClockTimer | null = null

  constructor({
    schedulers,
    clock,
    logger,
    maxStreams,
  }: Pick<ResolvedServerOptions, 'schedulers' | 'clock' | 'logger' | 'maxStreams'>) {
    this.#schedulers = schedulers
    this.#clock = clock
    this.#logger = logger
    this.#max = maxStreams
    this.#ring = new EventRing(ringSize, clock, () => {
      if (this.#isListening) this.#observe()
    })
    this.#epoch = systemIds.uniqueName().slice(0, 8)
  }

  /** @throws SchedulerError ERR_RATE_LIMITED when too many streams are open; ERR_SERVER_CLOSED */
  open({ client, lastEventId, isWanted, isPermitted, signal }: StreamOptions): Response {
    if (this.#isClosed) throw serverClosed()
    if (this.#open.size >= this.#max) this.#makeRoom(client)
    this.#listen()
    this.#watchPeers()
    const ending = new AbortController()
    const end = (): void => {
      lifetime.cancel()
      permission.stop()
      signal.removeEventListener('abort', end)
      if (!this.#open.delete(stream)) return
      ending.abort()
      if (this.#open.size > 0) return
      this.#leavePeers()
      this.#linger()
    }
    const stream = { client, end }
    this.#open.add(stream)
    const lifetime = this.#clock.setTimer(streamMs, end, { unref: true })
    const permission = new PermissionWatch(this.#clock, {
      isPermitted,
      onGone: (failure) => {
        if (failure !== undefined) {
          logThrown(this.#logger, failure.error, 'it could not be found out who reads a stream of events')
        }
        end()
      },
    })
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    const reader = new EventReader(
      this.#ring,
      this.#clock,
      { id: this.#idOf(lastEventId), epoch: this.#epoch },
      isWanted,
      ending.signal,
    )
    const isNew = lastEventId === null
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          controller.enqueue(
            encode(isNew ? `id: ${this.#epoch}.${this.#ring.lastId}\nretry: 2000\n\n` : ': again\n\n'),
          )
        },
        async pull(controller) {
          const text = await reader.next()
          if (text !== null) {
            controller.enqueue(encode(text))
            return
          }
          end()
          controller.close()
        },
        cancel: end,
      },
      { highWaterMark: 1 },
    )
    return new Response(body, {
      headers: {
        'content-type': streamType,
        // What compresses the answers of an application would hold it back until it has enough to compress.
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      },
    })
  }

  /**
   * Ends the oldest stream of the principal that has most, or of the address that has most of the client's own
   * principal: one viewer cannot keep all others out.
   *
   * @throws SchedulerError ERR_RATE_LIMITED when the client has its share
   */
  #makeRoom(client: StreamClient): void {
    const all = [...this.#open]
    const own = all.filter((stream) => stream.client.principal === client.principal)
    const surplus = surplusOver(client, all, 'principal') ?? surplusOver(client, own, 'address')
    if (surplus === null) {
      throw new SchedulerError(
        'ERR_RATE_LIMITED',
        `${this.#max} streams of events are open, the limit (maxStreams), and no client has more than its share.`,
      )
    }
    surplus.end()
  }

  /** Where a client goes on; a number of another server is none that the ring has given. */
  #idOf(lastEventId: string | null): number {
    if (lastEventId === null) return this.#ring.lastId
    const [epoch, digits = ''] = lastEventId.split('.', 2)
    return epoch === this.#epoch && /^\d{1,15}$/.test(digits) ? Number(digits) : neverGiven
  }

  /** Ends every stream; none is opened any more. */
  close(): void {
    this.#isClosed = true
    for (const { end } of [...this.#open]) end()
    this.#ring.wake()
    this.#leavePeers()
    this.#stopListening()
  }

  /** Events are observed only while somebody listens, or has just listened. */
  #listen(): void {
    this.#lingering?.cancel()
    this.#lingering = null
    if (this.#isListening) return
    this.#isListening = true
    this.#ring.clear()
    this.#observe()
  }

  #observe(): void {
    // When it was other nodes that had filled the ring, the observing has gone on.
    if (this.#stops.length > 0) return
    for (const [name, scheduler] of this.#schedulers) {
      const node = scheduler.schedulerInstanceId
      const stop = observeScheduler(scheduler, (event, told) => {
        // The server does not observe the rest of a flood: a busy node would make events that no stream shows.
        if (this.#ring.mayAdd()) {
          this.#ring.add({ event, scheduler: name, node, atMs: this.#clock.now(), ...told() })
        } else this.#stopObserving()
      })
      this.#stops.push(stop)
    }
  }

  #stopObserving(): void {
    for (const stop of this.#stops) stop()
    this.#stops = []
  }

  /** Other nodes are looked at only while somebody listens. */
  #watchPeers(): void {
    if (this.#peers.length > 0) return
    const options = { clock: this.#clock, logger: this.#logger }
    for (const [name, scheduler] of this.#schedulers) {
      const watch = new PeerWatch(scheduler, options, (event) => {
        if (this.#ring.mayAdd()) this.#ring.add({ ...event, scheduler: name })
      })
      this.#peers.push(watch)
    }
  }

  #leavePeers(): void {
    for (const watch of this.#peers) watch.stop()
    this.#peers = []
  }

  #linger(): void {
    this.#lingering?.cancel()
    this.#lingering = this.#clock.setTimer(
      lingerMs,
      () => {
        this.#stopListening()
      },
      { unref: true },
    )
  }

  #stopListening(): void {
    this.#lingering?.cancel()
    this.#lingering = null
    this.#isListening = false
    this.#stopObserving()
  }
}

interface OpenStream {
  readonly client: StreamClient
  readonly end: () => void
}

/** The oldest stream of who has most of these; null unless the client has still fewer with one of its own more. */
function surplusOver(
  client: StreamClient,
  streams: readonly OpenStream[],
  part: keyof StreamClient,
): OpenStream | null {
  const counts = new Map<string, number>()
  for (const stream of streams) counts.set(stream.client[part], (counts.get(stream.client[part]) ?? 0) + 1)
  const most = Math.max(0, ...counts.values())
  if (most < (counts.get(client[part]) ?? 0) + 2) return null
  return streams.find((stream) => counts.get(stream.client[part]) === most) ?? null
}

/** One client's way through the ring. */
class EventReader {
  readonly #ring: EventRing
  readonly #clock: Clock
  readonly #isWanted: (event: LiveEventJson) => boolean
  readonly #signal: AbortSignal
  readonly #epoch: string
  #id: number

  constructor(
    ring: EventRing,
    clock: Clock,
    { id, epoch }: { id: number; epoch: string },
    isWanted: (event: LiveEventJson) => boolean,
    signal: AbortSignal,
  ) {
    this.#ring = ring
    this.#clock = clock
    this.#id = id
    this.#epoch = epoch
    this.#isWanted = isWanted
    this.#signal = signal
  }

  /** What is to be sent next, once there is something; null when the stream has ended. */
  async next(): Promise<string | null> {
    const pingAtMs = this.#clock.elapsedMs() + pingMs
    while (!this.#hasEnded()) {
      const events = this.#ring.after(this.#id, batchMax)
      if (events === null) {
        this.#id = this.#ring.lastId
        return `id: ${this.#epoch}.${this.#id}\nevent: resync\ndata: {}\n\n`
      }
      this.#id = events.at(-1)?.id ?? this.#id
      const wanted = events.filter(({ event }) => this.#isWanted(event))
      if (wanted.length > 0)
        return wanted.map(({ id, text }) => `id: ${this.#epoch}.${id}\ndata: ${text}\n\n`).join('')
      if (events.length > 0) continue
      const leftMs = pingAtMs - this.#clock.elapsedMs()
      // Its id is that of the last event, which the client may not see: without it, a client that comes back would have
      // missed those in between.
      if (leftMs <= 0) return `id: ${this.#epoch}.${this.#id}\nevent: ping\ndata: {}\n\n`
      await this.#ring.changed(leftMs, this.#signal)
    }
    return null
  }

  #hasEnded(): boolean {
    return this.#signal.aborted
  }
}

const encoder = new TextEncoder()

function encode(text: string): Uint8Array {
  return encoder.encode(text)
}
