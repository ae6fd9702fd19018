import type { Clock } from '../../time/clock.ts'
import { ExecutorClient, type ExecutorClientOptions } from './executor-client.ts'

/** Executors beat every 30 s or more often; one that was silent for so long is not called any more. */
export const aliveMs = 90_000

interface Registered {
  readonly client: ExecutorClient
  readonly lastBeatMs: number
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

  beat(appName: string, address: string): 'new' | 'known' | 'full' {
    this.#forgetSilentOf(appName)
    const lastBeatMs = this.#options.clock.elapsedMs()
    const found = this.#registered.get(appName)?.get(address)
    if (found !== undefined) {
      this.#registered.get(appName)?.set(address, { client: found.client, lastBeatMs })
      return 'known'
    }
    if (this.#size >= this.#options.maxExecutors) this.#forgetSilent()
    if (this.#size >= this.#options.maxExecutors) return 'full'
    const group = this.#registered.get(appName) ?? new Map<string, Registered>()
    // A new client finds out anew where the executor takes runs: it may have been updated meanwhile.
    group.set(address, { client: this.#newClient(appName, address), lastBeatMs })
    this.#registered.set(appName, group)
    this.#size++
    return 'new'
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
