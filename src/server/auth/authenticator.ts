import { createHash } from 'node:crypto'
import type { Principal } from '../catalogue/role.ts'
import {
  builtInToken,
  type HookAuthOptions,
  type ServerAuth,
  type ServerToken,
  type TokenAuthOptions,
  type UserAuthOptions,
} from './auth-options.ts'
import { hashOfNothing, isPassword } from './passwords.ts'
import type { Session, Sessions } from './sessions.ts'
import { isHashOf, newToken, readOrMakeToken, tokenHashOf } from './tokens.ts'

/** What a client sends to begin a session. */
export type Credentials = { readonly token: string } | { readonly name: string; readonly password: string }

/** Who a request is from, and the session that a cookie is to keep. */
export interface Login {
  readonly principal: Principal
  readonly session: Session
}

/** Somebody whom the server knows by itself. */
export interface KnownPrincipal {
  readonly principal: Principal
  /** Where its token or password is known: in the options; in the file of a token; or in memory, until the end. */
  readonly kept: 'options' | 'file' | 'memory'
}

export interface Authenticator {
  /** Who may come in, without secrets; empty where the host authenticates. */
  readonly known: readonly KnownPrincipal[]
  /** What `login` takes; null where the host authenticates. */
  readonly credentials: 'token' | 'password' | null
  /** The token that was made now: it is nowhere else. */
  readonly newToken: string | null
  authenticate(request: Request): Promise<Principal | null>
  login(credentials: Credentials): Promise<Login | null>
}

export function authenticatorOf(auth: ServerAuth, sessions: Sessions): Authenticator {
  switch (auth.kind) {
    case 'token':
      return new TokenAuthenticator(auth, sessions)
    case 'users':
      return new UserAuthenticator(auth, sessions)
    case 'hook':
      return new HookAuthenticator(auth)
  }
}

interface KnownToken extends KnownPrincipal {
  readonly hash: string
}

class TokenAuthenticator implements Authenticator {
  readonly credentials = 'token'
  readonly newToken: string | null
  readonly #tokens: readonly KnownToken[]
  readonly #sessions: Sessions

  constructor({ hashFile, role = 'admin', tokens = [] }: TokenAuthOptions, sessions: Sessions) {
    const { hash, token } = hashFile === undefined ? tokenInMemory() : readOrMakeToken(hashFile)
    this.newToken = token
    this.#sessions = sessions
    this.#tokens = [
      { principal: { name: builtInToken, role }, hash, kept: hashFile === undefined ? 'memory' : 'file' },
      ...tokens.map(knownToken),
    ]
  }

  get known(): readonly KnownPrincipal[] {
    return this.#tokens
  }

  async authenticate(request: Request): Promise<Principal | null> {
    const bearer = bearerOf(request)
    if (bearer !== null) return tokenOf(this.#tokens, bearer)?.principal ?? null
    const session = this.#sessions.read(request)
    const known = this.#tokens.find(
      ({ principal, hash }) => principal.name === session?.name && hash === session.credential,
    )
    return known?.principal ?? null
  }

  async login(credentials: Credentials): Promise<Login | null> {
    const found = 'token' in credentials ? tokenOf(this.#tokens, credentials.token) : undefined
    if (found === undefined) return null
    return { principal: found.principal, session: { name: found.principal.name, credential: found.hash } }
  }
}

function knownToken({ sha256, ...principal }: ServerToken): KnownToken {
  return { principal, hash: sha256, kept: 'options' }
}

/** The token that a request has; null without one. */
function bearerOf(request: Request): string | null {
  const found = /^Bearer ([\w~+/.=-]{1,500})$/i.exec(request.headers.get('authorization') ?? '')
  return found?.[1] ?? null
}

/** Compares with every token, so that the time says nothing. */
function tokenOf(known: readonly KnownToken[], token: string): KnownToken | undefined {
  return known.filter(({ hash }) => isHashOf(hash, token))[0]
}

function tokenInMemory(): { readonly hash: string; readonly token: string } {
  const token = newToken()
  return { hash: tokenHashOf(token), token }
}

class UserAuthenticator implements Authenticator {
  readonly credentials = 'password'
  readonly newToken = null
  readonly #users: UserAuthOptions['users']
  readonly #tokens: readonly KnownToken[]
  readonly #sessions: Sessions

  constructor({ users, tokens = [] }: UserAuthOptions, sessions: Sessions) {
    this.#users = users
    this.#tokens = tokens.map(knownToken)
    this.#sessions = sessions
  }

  get known(): readonly KnownPrincipal[] {
    const users = this.#users.map((user) => ({ principal: principalOf(user), kept: 'options' as const }))
    return [...users, ...this.#tokens]
  }

  async authenticate(request: Request): Promise<Principal | null> {
    const bearer = bearerOf(request)
    const token = bearer === null ? undefined : tokenOf(this.#tokens, bearer)
    if (token !== undefined) return token.principal
    // A proxy in front may send a bearer of its own.
    const session = this.#sessions.read(request)
    const user = this.#users.find(({ name }) => name === session?.name)
    return user !== undefined && session?.credential === fingerprint(user.passwordHash)
      ? principalOf(user)
      : null
  }

  async login(credentials: Credentials): Promise<Login | null> {
    if (!('password' in credentials)) return null
    const user = this.#users.find(({ name }) => name === credentials.name)
    const isRight = await isPassword(credentials.password, user?.passwordHash ?? hashOfNothing)
    if (user === undefined || !isRight) return null
    const session = { name: user.name, credential: fingerprint(user.passwordHash) }
    return { principal: principalOf(user), session }
  }
}

function principalOf({ name, role, jobGroups }: UserAuthOptions['users'][number]): Principal {
  return { name, role, ...(jobGroups !== undefined && { jobGroups }) }
}

function fingerprint(passwordHash: string): string {
  return createHash('sha256').update(passwordHash).digest('base64url').slice(0, 22)
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.trim() !== ''
}

class HookAuthenticator implements Authenticator {
  readonly credentials = null
  readonly newToken = null
  readonly known = []
  readonly #authenticate: HookAuthOptions['authenticate']

  constructor({ authenticate }: HookAuthOptions) {
    this.#authenticate = authenticate
  }

  async authenticate(request: Request): Promise<Principal | null> {
    const principal = (await this.#authenticate(request)) ?? null
    // The audit could not say who it was.
    if (principal !== null && !isName(principal.name))
      throw new TypeError("'authenticate' must answer null, or an object with a 'name' that is not blank")
    return principal
  }

  async login(): Promise<null> {
    return null
  }
}
