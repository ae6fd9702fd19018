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
  /** How long ago it beat. */
  readonly silentMs: number
}

/** As admins tell each other that an executor shuts down. */
export interface SharedRemoval {
  readonly appName: string
  readonly address: string
  /** How long ago it said so. */
  readonly goneMs: number
}

/** An executor that said that it shuts down. Its earlier beats do not count, also when another admin reports them. */
interface Removed {
  readonly removedMs: number
  /** As of `Registered`. */
  readonly admin: string | null
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
  readonly #removed = new Map<string, Map<string, Removed>>()
  #size = 0
  #removedSize = 0

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

  /** One to which a run was sent, which was known then; after a restart it may not have beaten yet. */
  clientOfRun(appName: string, address: string): ExecutorClient {
    const known = this.clientsOf(appName).find((client) => client.address === address)
    return known ?? this.#newClient(appName, address)
  }

  /** Whether it has registered, whether or not it lives. */
  has(appName: string, address: string): boolean {
    return this.#registered.get(appName)?.has(address) === true
  }

  /** How long ago it beat; null for one that was entered by hand. */
  silentMs(appName: string, address: string): number | null {
    const found = this.#registered.get(appName)?.get(address)
    return found === undefined ? null : Math.round(this.#options.clock.elapsedMs() - found.lastBeatMs)
  }

  /** `moved`: it was known by what the admin of another node said. */
  beat(appName: string, address: string): 'new' | 'known' | 'moved' | 'full' {
    const lastBeatMs = this.#options.clock.elapsedMs()
    this.#forgetRemoval(appName, address)
    const found = this.#registered.get(appName)?.get(address)
    // Of this one alone: a beat is not to look at thousands of others.
    if (found !== undefined && lastBeatMs - found.lastBeatMs >= aliveMs) this.#drop(appName, address)
    else if (found !== undefined) {
      found.client.noteLife()
      this.#registered.get(appName)?.set(address, { client: found.client, lastBeatMs, admin: null })
      return found.admin === null ? 'known' : 'moved'
    }
    return this.#add(appName, address, { lastBeatMs, admin: null }) ? 'new' : 'full'
  }

  /** Those that beat here, or said here that they shut down, for the admins of other nodes. */
  own(): readonly (SharedExecutor | SharedRemoval)[] {
    this.#forgetSilent()
    const nowMs = this.#options.clock.elapsedMs()
    const beating = ownOf(this.#registered).map(({ appName, address, lastBeatMs }) => {
      return { appName, address, silentMs: Math.round(nowMs - lastBeatMs) }
    })
    const gone = ownOf(this.#removed).map(({ appName, address, removedMs }) => {
      return { appName, address, goneMs: Math.round(nowMs - removedMs) }
    })
    return [...beating, ...gone]
  }

  /**
   * All that beat at another admin, or said there that they shut down. The last that an executor said counts, wherever
   * it was. What is told may have been said earlier than it says, by `uncertainMs` at most: in doubt it shuts down.
   */
  learn(admin: string, entries: readonly (SharedExecutor | SharedRemoval)[], uncertainMs = 0): void {
    const nowMs = this.#options.clock.elapsedMs()
    const told = new Map<string, Set<string>>()
    for (const entry of entries) {
      const { appName, address } = entry
      if ('goneMs' in entry) {
        this.#learnRemoval(appName, address, { removedMs: nowMs - entry.goneMs, admin })
        continue
      }
      const saidMs = nowMs - entry.silentMs
      const group = told.get(appName) ?? new Set<string>()
      told.set(appName, group.add(address))
      const removed = this.#removed.get(appName)?.get(address)
      if (removed !== undefined && removed.removedMs >= saidMs - uncertainMs) continue
      this.#forgetRemoval(appName, address)
      const found = this.#registered.get(appName)?.get(address)
      if (found === undefined) this.#add(appName, address, { lastBeatMs: saidMs, admin })
      else if (found.lastBeatMs < saidMs) {
        this.#registered.get(appName)?.set(address, { client: found.client, lastBeatMs: saidMs, admin })
      }
    }
    for (const [appName, group] of [...this.#registered]) {
      for (const [address, known] of group) {
        if (known.admin === admin && told.get(appName)?.has(address) !== true) this.#drop(appName, address)
      }
    }
  }

  #learnRemoval(appName: string, address: string, removal: Removed): void {
    const { removedMs } = removal
    if ((this.#registered.get(appName)?.get(address)?.lastBeatMs ?? Number.NEGATIVE_INFINITY) > removedMs)
      return
    if ((this.#removed.get(appName)?.get(address)?.removedMs ?? Number.NEGATIVE_INFINITY) >= removedMs) return
    this.#drop(appName, address)
    this.#rememberRemoval(appName, address, removal)
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

  /** It said that it shuts down. Answers whether it was there. */
  remove(appName: string, address: string): boolean {
    this.#rememberRemoval(appName, address, { removedMs: this.#options.clock.elapsedMs(), admin: null })
    return this.#drop(appName, address)
  }

  #rememberRemoval(appName: string, address: string, removal: Removed): void {
    if (this.#removedSize >= this.#options.maxExecutors) this.#forgetSilent()
    if (this.#removedSize >= this.#options.maxExecutors) return
    this.#forgetRemoval(appName, address)
    const group = this.#removed.get(appName) ?? new Map<string, Removed>()
    this.#removed.set(appName, group.set(address, removal))
    this.#removedSize++
  }

  #forgetRemoval(appName: string, address: string): void {
    const group = this.#removed.get(appName)
    if (group?.delete(address) !== true) return
    this.#removedSize--
    if (group.size === 0) this.#removed.delete(appName)
  }

  #drop(appName: string, address: string): boolean {
    const group = this.#registered.get(appName)
    if (group?.delete(address) !== true) return false
    this.#size--
    if (group.size === 0) this.#registered.delete(appName)
    return true
  }

  #forgetSilent(): void {
    for (const appName of [...this.#registered.keys()]) this.#forgetSilentOf(appName)
    const oldestMs = this.#options.clock.elapsedMs() - aliveMs
    for (const [appName, group] of [...this.#removed]) {
      for (const [address, { removedMs }] of group) {
        if (removedMs <= oldestMs) this.#forgetRemoval(appName, address)
      }
    }
  }

  #forgetSilentOf(appName: string): void {
    const oldestMs = this.#options.clock.elapsedMs() - aliveMs
    for (const [address, { lastBeatMs }] of this.#registered.get(appName) ?? []) {
      if (lastBeatMs <= oldestMs) this.#drop(appName, address)
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

/** Those of whom the admin of this node knows by itself. */
function ownOf<Of extends { readonly admin: string | null }>(
  groups: ReadonlyMap<string, ReadonlyMap<string, Of>>,
): readonly (Of & { readonly appName: string; readonly address: string })[] {
  return [...groups].flatMap(([appName, group]) =>
    [...group].flatMap(([address, each]) => (each.admin === null ? [{ ...each, appName, address }] : [])),
  )
}
