import { hash } from 'node:crypto'

/** What the sender of a request may do. */
export interface Bearer {
  /** Whether it may register under an AppName, and report results of its runs. */
  readonly mayActFor: (appName: string) => boolean
  /** As `groupOf` names them: of the AppNames that it may act for. */
  readonly groups: readonly string[]
}

export interface AdminAccessOptions {
  /** Of the AppNames that have no token of their own; null for none. */
  readonly accessToken: string | null
  /** By AppName. */
  readonly accessTokens: ReadonlyMap<string, string>
}

const commonGroup = ''

/**
 * Tokens, and what they are good for. They are found by their digests, so that the time which that takes says nothing
 * about them. Executors before version 3.5 do not send their AppName with a request, so the token alone counts.
 */
export class AdminAccess {
  readonly #options: AdminAccessOptions
  readonly #appNames = new Map<string, Set<string>>()
  readonly #common: Bearer
  readonly #commonDigest: string | null

  constructor(options: AdminAccessOptions) {
    this.#options = options
    this.#commonDigest = options.accessToken === null ? null : digestOf(options.accessToken)
    for (const [appName, token] of options.accessTokens) {
      const digest = digestOf(token)
      this.#appNames.set(digest, (this.#appNames.get(digest) ?? new Set()).add(appName))
    }
    this.#common = { mayActFor: (appName) => !options.accessTokens.has(appName), groups: [commonGroup] }
  }

  /** Null for a wrong token. */
  bearerOf(token: string | null): Bearer | null {
    const digest = digestOf(token ?? '')
    const own = this.#appNames.get(digest)
    const isCommon = this.#commonDigest === null || digest === this.#commonDigest
    if (own === undefined) return isCommon ? this.#common : null
    // A token that is entered twice is good for both.
    return {
      mayActFor: (appName) => own.has(appName) || (isCommon && this.#common.mayActFor(appName)),
      groups: isCommon ? [...own, commonGroup] : [...own],
    }
  }

  /** The AppName where it has a token of its own; all others are one group. */
  groupOf(appName: string): string {
    return this.#options.accessTokens.has(appName) ? appName : commonGroup
  }

  /** What an executor is sent. */
  tokenOf(appName: string): string | null {
    return this.#options.accessTokens.get(appName) ?? this.#options.accessToken
  }
}

function digestOf(token: string): string {
  return hash('sha256', token)
}
