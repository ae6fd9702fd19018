import { createHmac } from 'node:crypto'
import {
  request as httpRequest,
  type IncomingMessage,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import {
  checkBoolean,
  checkLongSecret,
  checkName,
  checkObject,
  checkOptions,
  checkString,
  checkThat,
  listOf,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { beginningOf } from '../core/text-beginning.ts'
import { textOf } from '../core/thrown-value.ts'
import { packageVersion } from '../core/version.ts'
import { systemClock } from '../time/clock.ts'
import type { AlertChannel, AlertNotice } from './alert-types.ts'
import { isPublicAddress, lookupAllowed, notAllowed } from './public-addresses.ts'

/** Options of `webhookChannel`. */
export interface WebhookChannelOptions {
  /** Default `webhook`. */
  readonly name?: string
  /** Where notices are posted: an address that begins with `https://` or `http://`, without a password. */
  readonly url: string
  /** Signs each notice (HMAC-SHA-256), so that the receiver knows who sent it. At least 16 characters. */
  readonly secret: string
  /** More headers, such as an `authorization`. Default none. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Names and addresses that may be of the machine itself or of a private network, each exactly as `url` has it or as
   * the name resolves, such as `hooks.internal` or `10.0.0.7`. Up to 100, default none.
   */
  readonly allowHosts?: readonly string[]
  /** Allow all addresses of the machine itself and of private networks. Default false. */
  readonly allowPrivate?: boolean
}

const what = 'webhookChannel'
/** How much of an answer is read, for the message of a failure. */
const answerMax = 500
const hostsMax = 100
const ownHeaders = /^(content-|host$|quartz-|connection$|transfer-encoding$)/i

/**
 * Posts notices as JSON. The header `quartz-signature` is `t=SECONDS,v1=HEX`, where HEX is the HMAC-SHA-256 of
 * `SECONDS.BODY` with the secret; `quartz-notice-id` is the same for each attempt. Any answer but 2xx is a failure; a
 * redirect is not followed.
 *
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is missing, unknown or wrong
 */
export function webhookChannel(options: WebhookChannelOptions): AlertChannel {
  checkObject(what, 'options', options)
  checkOptions(what, options, {
    name: checkName,
    url: checkThat('an http address without a password', isWebAddress),
    secret: checkLongSecret(16),
    headers: checkObject,
    allowHosts: listOf(
      checkThat('a host name or an address without a port', (value) => hostOf(value) !== null),
    ),
    allowPrivate: checkBoolean,
  })
  const needed = {
    url: 'name the address that takes the alerts',
    secret: 'name a text of 16 characters or more, which the receiver knows too, to check signatures by',
  }
  for (const [field, remedy] of Object.entries(needed)) {
    if (Reflect.get(options, field) === undefined) {
      throw new InvalidArgumentError(
        field,
        `${what}: '${field}' is missing: ${remedy}.`,
        'ERR_INVALID_OPTION',
      )
    }
  }
  const { name = 'webhook', url, secret, headers = {}, allowHosts = [], allowPrivate = false } = options
  if (allowHosts.length > hostsMax || (allowPrivate && allowHosts.length > 0)) {
    throw new InvalidArgumentError(
      'allowHosts',
      `${what}: 'allowHosts' must be ${hostsMax} at most, and none with allowPrivate, which allows all.`,
      'ERR_INVALID_OPTION',
    )
  }
  for (const [header, value] of Object.entries(headers)) {
    checkString(what, `headers.${header}`, value, 'ERR_INVALID_OPTION')
    requireSendable(header, value)
    if (!ownHeaders.test(header)) continue
    throw new InvalidArgumentError(
      'headers',
      `${what}: '${header}' is set by the channel.`,
      'ERR_INVALID_OPTION',
    )
  }
  const target = new URL(url)
  const hosts = new Set(allowHosts.map(hostOf))
  const isAllowed = (host: string): boolean => allowPrivate || hosts.has(host) || isPublicAddress(host)
  return {
    name,
    send: (notice, signal) => post({ target, secret, headers, isAllowed }, notice, signal),
  }
}

/** What Node.js does not send would be found out with the first alert. */
function requireSendable(header: string, value: string): void {
  try {
    validateHeaderName(header)
    validateHeaderValue(header, value)
  } catch (error) {
    const problem = `${what}: the header '${header}' cannot be sent (${textOf(error)}).`
    throw new InvalidArgumentError('headers', problem, 'ERR_INVALID_OPTION')
  }
}

/** A host as addresses on the web have it, an IPv6 address without brackets; null for what is none. */
function hostOf(value: unknown): string | null {
  if (typeof value !== 'string' || (isIP(value) !== 6 && /[\s:/]/.test(value))) return null
  const text = `http://${isIP(value) === 6 ? `[${value}]` : value}`
  if (!URL.canParse(text)) return null
  const { hostname, href } = new URL(text)
  return href === `http://${hostname}/` ? hostname.replace(/^\[|\]$/g, '') : null
}

function isWebAddress(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

interface Target {
  readonly target: URL
  readonly secret: string
  readonly headers: Readonly<Record<string, string>>
  readonly isAllowed: (host: string) => boolean
}

/** What the header `quartz-signature` says of a body. */
function signatureOf(secret: string, seconds: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${mac}`
}

function post(
  { target, secret, headers, isAllowed }: Target,
  notice: AlertNotice,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(notice)
  const host = target.hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) !== 0 && !isAllowed(host)) return Promise.reject(notAllowed(host, host))
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const sent = send(
      target,
      {
        method: 'POST',
        signal,
        agent: false,
        ...(!isAllowed(host) && { lookup: lookupAllowed(isAllowed) }),
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': `quartz-ts/${packageVersion}`,
          'quartz-notice-id': notice.id,
          // Of this attempt: receivers may refuse what is old.
          'quartz-signature': signatureOf(secret, Math.floor(systemClock.now() / 1000), body),
        },
      },
      (answer) => {
        judge(answer, resolve, reject)
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

function judge(answer: IncomingMessage, resolve: () => void, reject: (error: Error) => void): void {
  const status = answer.statusCode ?? 0
  if (status >= 200 && status < 300) {
    answer.destroy()
    resolve()
    return
  }
  let text = ''
  const fail = (): void => {
    reject(new Error(`The receiver answered ${status}: ${beginningOf(text, answerMax)}`))
  }
  answer.setEncoding('utf8')
  answer.on('data', (part: string) => {
    text += part
    if (text.length < answerMax) return
    fail()
    answer.destroy()
  })
  answer.on('end', fail)
  answer.on('error', reject)
}
