import { SchedulerError } from '../../../core/errors.ts'
import {
  type CallbackShape,
  encodeCallback,
  encodeRegistry,
  type JobResult,
} from '../../protocol/callback.ts'
import type { AdminAnswer, AdminClient } from './admin-client.ts'

/** An answer, and whose it is. `unanswered`: what was sent may be what an admin cannot answer for. */
export type AdminsAnswer =
  | { readonly kind: 'accepted'; readonly address: string }
  | { readonly kind: 'refused' | 'unanswered' | 'unreachable'; readonly error: SchedulerError }

/**
 * The admins of one cluster: they share a database, so one that takes a request is enough. The one that took the last
 * request is asked first, because each that does not answer costs its timeout.
 *
 * Admins up to 3.4 and from 3.5 on take results in different shapes. The shape is what was configured; else the one
 * that this admin took last; else the one that goes with how the last run came; and an admin that answers, but does
 * not take it, is sent the other shape.
 */
export class Admins {
  readonly #clients: AdminClient[]
  readonly #configured: CallbackShape | null
  readonly #taken = new Map<AdminClient, CallbackShape>()
  #seen: CallbackShape = 'array'

  constructor(clients: readonly AdminClient[], configured: CallbackShape | null) {
    this.#clients = [...clients]
    this.#configured = configured
  }

  /** A request came as admins of that shape send it. */
  saw(shape: CallbackShape): void {
    this.#seen = shape
  }

  /** Which shape each admin took last; null before. */
  get shapes(): ReadonlyMap<string, CallbackShape | null> {
    return new Map(this.#clients.map((client) => [client.address, this.#taken.get(client) ?? null]))
  }

  register(appName: string, address: string): Promise<AdminsAnswer> {
    return this.#first((client) => client.call('registry', encodeRegistry(appName, address)))
  }

  unregister(appName: string, address: string): Promise<AdminsAnswer> {
    return this.#first((client) => client.call('registryRemove', encodeRegistry(appName, address)))
  }

  callback(results: readonly JobResult[]): Promise<AdminsAnswer> {
    return this.#first((client) => this.#callbackTo(client, results))
  }

  async #first(call: (client: AdminClient) => Promise<AdminAnswer>): Promise<AdminsAnswer> {
    const errors: SchedulerError[] = []
    const kinds = new Set<AdminAnswer['kind']>()
    for (const client of [...this.#clients]) {
      const answer = await call(client)
      if (answer.kind === 'accepted') {
        this.#putFirst(client)
        return { kind: 'accepted', address: client.address }
      }
      kinds.add(answer.kind === 'failed' ? 'unanswered' : answer.kind)
      errors.push(answer.error)
    }
    const kind = (['refused', 'unanswered'] as const).find((each) => kinds.has(each)) ?? 'unreachable'
    return { kind, error: joined(errors) }
  }

  async #callbackTo(client: AdminClient, results: readonly JobResult[]): Promise<AdminAnswer> {
    const shape = this.#configured ?? this.#taken.get(client) ?? this.#seen
    const answer = await client.call('callback', encodeCallback(shape, results))
    if (answer.kind === 'accepted') this.#taken.set(client, shape)
    const hasAnswered = answer.kind !== 'unanswered' && answer.kind !== 'unreachable'
    if (answer.kind === 'accepted' || !hasAnswered || this.#configured !== null) return answer
    const other = shape === 'array' ? 'object' : 'array'
    const second = await client.call('callback', encodeCallback(other, results))
    if (second.kind !== 'accepted') return answer
    this.#taken.set(client, other)
    return second
  }

  #putFirst(client: AdminClient): void {
    const at = this.#clients.indexOf(client)
    if (at > 0) this.#clients.unshift(...this.#clients.splice(at, 1))
  }
}

function joined(errors: readonly SchedulerError[]): SchedulerError {
  const [only, ...others] = errors
  if (only !== undefined && others.length === 0) return only
  const text = errors.map(({ message }) => message).join(' ')
  return new SchedulerError('ERR_XXL_JOB_ADMIN', text, { cause: new AggregateError(errors) })
}
