import type { Clock } from '../../time/clock.ts'
import { ExecutorClient, type ExecutorClientOptions } from './executor-client.ts'

/** Executors beat every 30 s or more often; one that was silent for so long is not called any more. */
export const aliveMs = 90_000

interface Registered {
  readonly client: ExecutorClient
  readonly lastBeatMs: number
  /** The admin of another node at which it beat last; null for this one. */
  readonly admin: string | null
}

/** An executor as admins tell each other of it. */
export interface SharedExecutor {
  readonly appName: string
  readonly address: string
  readonly silentMs: number
}

export interface ExecutorRegistryOptions extends Omit<ExecutorClientOptions, 'appName' | 'accessToken'> {
  /** What executors of an AppName are sent. */
  readonly tokenOf: (appName: string) => string | null
  /** Addresses that were entered by hand, by AppName; for these names beats do not matter. */
  readonly executors: ReadonlyMap<string, readonly string[]>
  /** Most addresses that can be registered at a time. */
  readonly maxExecutors: number
  readonly clock: Clock
}

/**
 * Which executors there are, and the client of each. Addresses keep the text that they came with; nothing that is not
 * in here is ever called.
 */
export class ExecutorRegistry {
  readonly #options: ExecutorRegistryOptions
  readonly #byHand: ReadonlyMap<string, readonly ExecutorClient[]>
  readonly #registered = new Map<string, Map<string, Registered>>()
  #size = 0

  constructor(options: ExecutorRegistryOptions) {
    this.#options = options
    this.#byHand = new Map(
      [...options.executors].map(([appName, addresses]) => [
        appName,
        addresses.map((address) => this.#newClient(appName, address)),
      ]),
    )
  }

  get appNames(): readonly string[] {
    this.#forgetSilent()
    return [...new Set([...this.#byHand.keys(), ...this.#registered.keys()])].sort()
  }

  isByHand(appName: string): boolean {
    return this.#byHand.has(appName)
  }

  /** Those that can be called: as they were entered, or else registered ones in the order of their texts. */
  clientsOf(appName: string): readonly ExecutorClient[] {
    const byHand = this.#byHand.get(appName)
    if (byHand !== undefined) return byHand
    this.#forgetSilentOf(appName)
    const group = this.#registered.get(appName) ?? new Map<string, Registered>()
    return [...group].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, { client }]) => client)
  }

  /** How long ago it beat; null for one that was entered by hand. */
  silentMs(appName: string, address: string): number | null {
    const found = this.#registered.get(appName)?.get(address)
    return found === undefined ? null : this.#options.clock.elapsedMs() - found.lastBeatMs
  }

  /** `moved`: it was known by what the admin of another node said. */
  beat(appName: string, address: string): 'new' | 'known' | 'moved' | 'full' {
    const lastBeatMs = this.#options.clock.elapsedMs()
    const found = this.#registered.get(appName)?.get(address)
    // Of this one alone: a beat is not to look at thousands of others.
    if (found !== undefined && lastBeatMs - found.lastBeatMs >= aliveMs) this.remove(appName, address)
    else if (found !== undefined) {
      this.#registered.get(appName)?.set(address, { client: found.client, lastBeatMs, admin: null })
      return found.admin === null ? 'known' : 'moved'
    }
    return this.#add(appName, address, { lastBeatMs, admin: null }) ? 'new' : 'full'
  }

  /** Those that beat here, for the admins of other nodes. */
  own(): readonly SharedExecutor[] {
    this.#forgetSilent()
    const nowMs = this.#options.clock.elapsedMs()
    return [...this.#registered].flatMap(([appName, group]) =>
      [...group]
        .filter(([, { admin }]) => admin === null)
        .map(([address, { lastBeatMs }]) => ({ appName, address, silentMs: Math.round(nowMs - lastBeatMs) })),
    )
  }

  /** All that beat at another admin. The last beat counts, wherever it was. */
  learn(admin: string, executors: readonly SharedExecutor[]): void {
    const nowMs = this.#options.clock.elapsedMs()
    const told = new Map<string, Set<string>>()
    for (const { appName, address, silentMs } of executors) {
      const group = told.get(appName) ?? new Set<string>()
      told.set(appName, group.add(address))
      const lastBeatMs = nowMs - silentMs
      const found = this.#registered.get(appName)?.get(address)
      if (found === undefined) this.#add(appName, address, { lastBeatMs, admin })
      else if (found.lastBeatMs < lastBeatMs) {
        this.#registered.get(appName)?.set(address, { client: found.client, lastBeatMs, admin })
      }
    }
    for (const [appName, group] of [...this.#registered]) {
      for (const [address, known] of group) {
        if (known.admin === admin && told.get(appName)?.has(address) !== true) this.remove(appName, address)
      }
    }
  }

  /** False when there are too many. */
  #add(appName: string, address: string, beat: Omit<Registered, 'client'>): boolean {
    const { maxExecutors } = this.#options
    if (this.#size >= maxExecutors) this.#forgetSilent()
    if (this.#size >= maxExecutors) return false
    const group = this.#registered.get(appName) ?? new Map<string, Registered>()
    // A new client finds out anew where the executor takes runs: it may have been updated meanwhile.
    group.set(address, { client: this.#newClient(appName, address), ...beat })
    this.#registered.set(appName, group)
    this.#size++
    return true
  }

  /** Answers whether it was there. */
  remove(appName: string, address: string): boolean {
    const group = this.#registered.get(appName)
    if (group?.delete(address) !== true) return false
    this.#size--
    if (group.size === 0) this.#registered.delete(appName)
    return true
  }

  #forgetSilent(): void {
    for (const appName of [...this.#registered.keys()]) this.#forgetSilentOf(appName)
  }

  #forgetSilentOf(appName: string): void {
    const oldestMs = this.#options.clock.elapsedMs() - aliveMs
    for (const [address, { lastBeatMs }] of this.#registered.get(appName) ?? []) {
      if (lastBeatMs <= oldestMs) this.remove(appName, address)
    }
  }

  #newClient(appName: string, address: string): ExecutorClient {
    return new ExecutorClient(address, {
      ...this.#options,
      appName,
      accessToken: this.#options.tokenOf(appName),
    })
  }
}
