import type { IdGenerator } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { unawaited } from '../core/promises.ts'
import { logThrown } from '../core/thrown-value.ts'
import type { Scheduler } from '../scheduler/scheduler.ts'
import type { Clock } from '../time/clock.ts'
import { settledWithin } from '../time/settled-within.ts'
import type { AlertBook, AlertEnd, StoredAlert, StoredSilence } from './alert-book.ts'
import type { AlertNotice } from './alert-types.ts'
import type { ChannelQueue, NoticeEnd } from './channel-queue.ts'

export interface AlertSenderParts {
  readonly scheduler: Scheduler
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly book: AlertBook
  readonly queues: readonly ChannelQueue[]
}

/** A store that takes longer keeps no notice from being sent. */
const lookMs = 1000

/** An alert that this node sends. */
interface Sending {
  /** This node has ended it, so the notice of its end waits behind it in the same queues. */
  isEndedHere: boolean
}

/**
 * Makes the notices of a node and hands them to its channels. A notice that has waited is left out where another node
 * has told something newer meanwhile: a receiver would take the older one for the state.
 */
export class AlertSender {
  readonly #parts: AlertSenderParts
  /** Alerts that wait in the queues of this node. */
  readonly #sending = new Map<string, Sending>()
  /** Notes of what was sent that are being written. */
  readonly #noting = new Set<Promise<void>>()

  constructor(parts: AlertSenderParts) {
    this.#parts = parts
  }

  /** A channel that hangs holds up no others. */
  get hasRoom(): boolean {
    return this.#parts.queues.some((queue) => queue.hasRoom)
  }

  isSending(alert: Pick<StoredAlert, 'id' | 'sinceMs'>): boolean {
    return this.#sending.has(sendingOf(alert))
  }

  notice(kind: AlertNotice['kind'], text: string, alert: AlertNotice['alert']): AlertNotice {
    const { clock, ids, scheduler } = this.#parts
    return {
      kind,
      // Two nodes that send the same one do so under the same id.
      id: alert === null ? ids.uniqueName() : `${alert.id}-${alert.sinceMs}-${kind}`,
      scheduler: scheduler.schedulerName,
      node: scheduler.schedulerInstanceId,
      atMs: clock.now(),
      alert,
      text,
    }
  }

  /** Resolves when it is noted what was sent. Never rejects. */
  async noted(): Promise<void> {
    await Promise.allSettled([...this.#noting])
  }

  /** Sends an alert that this node has claimed. */
  raised(alert: Omit<StoredAlert, 'version'>): void {
    const sending: Sending = { isEndedHere: false }
    this.#sending.set(sendingOf(alert), sending)
    const isNews = this.#asBookSays(
      ({ alerts }) =>
        sending.isEndedHere || alerts.some(({ id, sinceMs }) => id === alert.id && sinceMs === alert.sinceMs),
    )
    const done = (end: AlertEnd): void => {
      this.#sending.delete(sendingOf(alert))
      this.#note(alert, end)
    }
    this.#enqueue(this.notice('raised', alert.message, publicAlert(alert)), isNews, done)
  }

  /** Sends that an alert is over, which this node has ended. */
  resolved(alert: StoredAlert): void {
    const sending = this.#sending.get(sendingOf(alert))
    if (sending !== undefined) sending.isEndedHere = true
    const isNews = this.#asBookSays(
      ({ alerts }) => !alerts.some((other) => other.id === alert.id && this.#isHeardOfOthers(other)),
    )
    this.#enqueue(this.notice('resolved', `Over: ${alert.message}`, publicAlert(alert)), isNews)
  }

  normal(): void {
    const isNews = this.#asBookSays(({ alerts, silences }) =>
      alerts.every((alert) => isSilenced(alert, silences) || !this.#isHeardOfOthers(alert)),
    )
    this.#enqueue(this.notice('normal', 'Everything is back to normal.', null), isNews)
  }

  /** Sends what concerns this node alone. */
  tell(kind: AlertNotice['kind'], text: string, alert: AlertNotice['alert']): void {
    this.#enqueue(this.notice(kind, text, alert), async () => true)
  }

  /** Hands a notice to every channel; `done` is called when each has ended it. */
  #enqueue(
    notice: AlertNotice,
    isNews: () => Promise<boolean>,
    done: (end: AlertEnd) => void = () => {},
  ): void {
    const ends: NoticeEnd[] = []
    const { queues } = this.#parts
    for (const queue of queues) {
      queue.add(notice, isNews, (end) => {
        ends.push(end)
        if (ends.length < queues.length) return
        done(endOf(ends))
      })
    }
  }

  /** Whether a receiver may know of an alert, and not from a notice that is behind in the queues of this node. */
  #isHeardOfOthers(alert: StoredAlert): boolean {
    return (alert.isSent || alert.claim !== null) && !this.isSending(alert)
  }

  /** Whether something holds by the book; what cannot be looked up is taken for news. */
  #asBookSays(
    holds: (book: {
      readonly alerts: readonly StoredAlert[]
      readonly silences: readonly StoredSilence[]
    }) => boolean,
  ): () => Promise<boolean> {
    const { book, clock, logger } = this.#parts
    return async () => {
      try {
        const looking = Promise.all([book.alerts(), book.silences()])
        if (!(await settledWithin(clock, lookMs, looking))) return true
        const [alerts, silences] = await looking
        return holds({ alerts, silences: silences.filter(({ untilMs }) => untilMs > clock.now()) })
      } catch (error) {
        logThrown(
          logger,
          error,
          'It could not be looked up whether a notice is news; it is sent.',
          {},
          'debug',
        )
        return true
      }
    }
  }

  #note(alert: Omit<StoredAlert, 'version'>, end: AlertEnd): void {
    const noting = this.#parts.book.noteEnd(alert, end)
    this.#noting.add(noting)
    unawaited(
      noting.finally(() => this.#noting.delete(noting)),
      (error) => {
        logThrown(this.#parts.logger, error, 'It could not be noted that an alert was sent.', {}, 'warn')
      },
    )
  }
}

function endOf(ends: readonly NoticeEnd[]): AlertEnd {
  if (ends.includes('unknown')) return 'left'
  if (ends.includes('settled')) return 'sent'
  return ends.includes('dropped') ? 'left' : 'givenUp'
}

/** An alert that is raised anew has the id of the one before. */
function sendingOf({ id, sinceMs }: Pick<StoredAlert, 'id' | 'sinceMs'>): string {
  return `${id} ${sinceMs}`
}

export function isSilenced(
  { rule, subject }: { readonly rule: string; readonly subject: string },
  silences: readonly StoredSilence[],
): boolean {
  return silences.some(
    (silence) =>
      (silence.rule === null || silence.rule === rule) &&
      (silence.subject === null || silence.subject === subject),
  )
}

export function publicAlert({
  id,
  rule,
  subject,
  message,
  sinceMs,
  lastTimeMs,
  node,
}: Omit<StoredAlert, 'version'>): NonNullable<AlertNotice['alert']> {
  return { id, rule, subject, message, sinceMs, lastTimeMs, node }
}
