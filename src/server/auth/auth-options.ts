import type { Principal, Role } from '../catalogue/role.ts'

/** The name of the token that the server makes by itself. */
export const builtInToken = 'token'

/** A token that programs or people send as `Authorization: Bearer ...`. */
export interface ServerToken {
  /** For the audit: another one for each, and not `token`, which is the name of the server's own. */
  readonly name: string
  /** The SHA-256 of the token, as 64 hexadecimal digits. */
  readonly sha256: string
  readonly role: Role | null
  readonly jobGroups?: Readonly<Record<string, Role>>
}

/** One token made at the first start, more if there are. */
export interface TokenAuthOptions {
  /** Tokens. */
  readonly kind: 'token'
  /**
   * Keeps the SHA-256 of the token that is made when the file is not there; `newToken` of the server then has the
   * token. Default: a new token at each start, kept in memory.
   */
  readonly hashFile?: string
  /** What the token of the file may do. Default `admin`. */
  readonly role?: Role
  /** More tokens. Default none. */
  readonly tokens?: readonly ServerToken[]
}

/** Somebody who may log in. */
export interface ServerUser extends Principal {
  /** What `hashPassword` made of the password. */
  readonly passwordHash: string
}

/** Users with passwords and session cookies, and tokens for programs. */
export interface UserAuthOptions {
  /** Names and passwords. */
  readonly kind: 'users'
  /** Who may log in, each with a name of their own, with what roles and what `hashPassword` made of their passwords. */
  readonly users: readonly ServerUser[]
  /** For programs, which cannot log in: Prometheus, the command line, your scripts. Default none. */
  readonly tokens?: readonly ServerToken[]
}

/** The host's own authentication. */
export interface HookAuthOptions {
  /** A function of the host. */
  readonly kind: 'hook'
  /**
   * Says who sends a request; null for a client that may do nothing. Throwing is an answer of 500, as is a blank name;
   * a probe is answered all the same. While a stream of events is open it is asked again every 15 seconds, with the
   * request that opened it.
   */
  readonly authenticate: (request: Request) => Principal | null | Promise<Principal | null>
}

/** How a server knows who sends a request. There is no way to have none. */
export type ServerAuth = TokenAuthOptions | UserAuthOptions | HookAuthOptions
