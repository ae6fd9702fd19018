import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../time/clock.ts'

/** What a session cookie says. */
export interface Session {
  readonly name: string
  /** Of the password or token with which the session began: a new one ends the session. */
  readonly credential: string
}

const cookieName = 'quartz_ts_session'
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

  /** @param secret null for a random one: then sessions end with the process */
  constructor(secret: string | null, lifeMs: number, clock: Clock) {
    this.#key = secret === null ? randomBytes(32) : createHash('sha256').update(`session:${secret}`).digest()
    this.#lifeMs = lifeMs
    this.#clock = clock
  }

  /** The value of a `Set-Cookie` that begins a session. */
  begin(session: Session, options: { readonly secure: boolean }): string {
    const text = JSON.stringify([session.name, session.credential, this.#clock.now() + this.#lifeMs])
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv)
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return cookie(sealed.toString('base64url'), Math.floor(this.#lifeMs / 1000), options)
  }

  /** The value of a `Set-Cookie` that ends a session. */
  end(options: { readonly secure: boolean }): string {
    return cookie('', 0, options)
  }

  /** The session of a request; null without one, and for one that has ended or was not sealed here. */
  read(request: Request): Session | null {
    const value = cookieOf(request.headers.get('cookie') ?? '')
    const opened = value === null ? null : this.#open(value)
    if (opened === null) return null
    const [name, credential, untilMs] = JSON.parse(opened) as [string, string, number]
    return this.#clock.now() < untilMs ? { name, credential } : null
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

function cookie(value: string, maxAgeSeconds: number, { secure }: { readonly secure: boolean }): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}`
  return `${cookieName}=${value}; ${attributes}${secure ? '; Secure' : ''}`
}

function cookieOf(header: string): string | null {
  for (const part of header.split(';')) {
    const [name = '', value = ''] = part.trim().split('=', 2)
    if (name === cookieName && /^[\w-]{1,4000}$/.test(value)) return value
  }
  return null
}
