import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../time/clock.ts'

/** What a session cookie says. */
export interface Session {
  readonly name: string
  /** Of the password or token with which the session began: a new one ends the session. */
  readonly credential: string
}

const cookieName = 'quartz_ts_session'

/** Cookies know no ports, and all servers of a host have theirs at one path: each has a name of its own. */
function nameOf(request: Request, basePath: string): string {
  return [cookieName, new URL(request.url).port, ...basePath.split('/')]
    .filter((part) => part !== '')
    .join('_')
    .replace(/[^\w-]/g, '-')
}

const ivBytes = 12
const tagBytes = 16

/**
 * Sessions in sealed cookies (AES-256-GCM): the server keeps none. The cookie is HttpOnly and SameSite=Strict, so
 * that no script reads it and no foreign page sends it.
 */
export class Sessions {
  readonly #key: Buffer
  readonly #clock: Clock
  readonly #lifeMs: number
  readonly #basePath: string

  /** @param secret null for a random one: then sessions end with the process */
  constructor(secret: string | null, lifeMs: number, basePath: string, clock: Clock) {
    this.#key = secret === null ? randomBytes(32) : createHash('sha256').update(`session:${secret}`).digest()
    this.#lifeMs = lifeMs
    this.#basePath = basePath
    this.#clock = clock
  }

  /** The value of a `Set-Cookie` that begins a session. */
  begin(session: Session, request: Request, options: { readonly secure: boolean }): string {
    const text = JSON.stringify([session.name, session.credential, this.#clock.now() + this.#lifeMs])
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv)
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    const name = nameOf(request, this.#basePath)
    return `${name}=${sealed.toString('base64url')}; ${attributes(Math.floor(this.#lifeMs / 1000), options)}`
  }

  /** The values of each `Set-Cookie` that ends the session of a request. */
  end(request: Request, options: { readonly secure: boolean }): readonly string[] {
    const names = new Set([
      nameOf(request, this.#basePath),
      ...this.#opened(request).map(({ cookie }) => cookie),
    ])
    return [...names].map((name) => `${name}=; ${attributes(0, options)}`)
  }

  /** The session of a request; null without one, and for one that has ended or was not sealed here. */
  read(request: Request): Session | null {
    const own = nameOf(request, this.#basePath)
    const found = this.#opened(request).filter(({ untilMs }) => this.#clock.now() < untilMs)
    return (found.find(({ cookie }) => cookie === own) ?? found[0])?.session ?? null
  }

  /** Also those of other servers with the same secret, which have another name behind some proxies. */
  #opened(
    request: Request,
  ): { readonly cookie: string; readonly session: Session; readonly untilMs: number }[] {
    return cookiesOf(request.headers.get('cookie') ?? '').flatMap(([cookie, value]) => {
      const opened = this.#open(value)
      if (opened === null) return []
      const [name, credential, untilMs] = JSON.parse(opened) as [string, string, number]
      return [{ cookie, session: { name, credential }, untilMs }]
    })
  }

  #open(value: string): string | null {
    const sealed = Buffer.from(value, 'base64url')
    // The last character has bits to spare: without this, texts that were not sealed here would open as well.
    if (sealed.toString('base64url') !== value) return null
    if (sealed.length <= ivBytes + tagBytes) return null
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, ivBytes))
      decipher.setAuthTag(sealed.subarray(-tagBytes))
      return decipher.update(sealed.subarray(ivBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      // Sealed under another key, or changed on the way.
      return null
    }
  }
}

function attributes(maxAgeSeconds: number, { secure }: { readonly secure: boolean }): string {
  return `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`
}

/** How many session cookies of a request are tried at most. */
const cookiesMax = 20

function cookiesOf(header: string): (readonly [name: string, value: string])[] {
  return header
    .split(';')
    .map((part) => part.trim().split('=', 2))
    .map(([name = '', value = '']) => [name, value] as const)
    .filter(([name, value]) => name.startsWith(cookieName) && /^[\w-]{1,4000}$/.test(value))
    .slice(0, cookiesMax)
}
