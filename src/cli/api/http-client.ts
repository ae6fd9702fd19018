import { readFileSync, statSync } from 'node:fs'
import { codeOf, textOf } from '../../core/thrown-value.ts'
import { visible } from '../../core/visible-text.ts'
import { UsageError } from '../command.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { AnswerLost, ApiClient } from './api-client.ts'

/** The environment variable that holds the token of a server. */
export const tokenVariable = 'QUARTZ_TS_TOKEN'

export interface ServerPlace {
  /** As the user gave it. */
  readonly address: string
  /** A file that holds the token; undefined for none. */
  readonly tokenFile: string | undefined
  /** From the command line, which other users of the machine can see. */
  readonly token: string | undefined
  readonly schedulerName: string | null
  readonly timeoutMs: number
}

/** A client of the server at an address. @throws UsageError for an address or a token that cannot be used */
export function httpClient(place: ServerPlace, host: CliHost): ApiClient {
  const base = baseOf(place.address)
  const token = tokenOf(place, host)
  const url = new URL(base)
  if (token !== null && url.protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)) {
    host.stderr.write(`quartz-ts: the token goes to ${visible(url.host)} unencrypted; use https://.\n`)
  }
  return new ApiClient({
    base,
    schedulerName: place.schedulerName,
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    send: async (request) => {
      try {
        return await fetch(request)
      } catch (error) {
        if (error instanceof CommandFailure) throw error
        throw withoutAnswer(base, error)
      }
    },
    timeoutMs: place.timeoutMs,
    clock: host.clock,
    authRemedy:
      `Name a file that holds ${token === null ? 'a' : 'the right'} token with --token-file, ` +
      `or set ${tokenVariable}.`,
    failure: (said) => `${said} The log of the server says more.`,
    close: async () => {},
  })
}

function baseOf(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : null
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === null || !isWeb || url.search !== '') {
    throw new UsageError(`--server takes an address such as http://127.0.0.1:8080, got '${address}'.`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`--server takes an address without a user; the token goes into ${tokenVariable}.`)
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function tokenOf({ token, tokenFile }: ServerPlace, { environment, stderr }: CliHost): string | null {
  if (token !== undefined) {
    if (tokenFile !== undefined) throw new UsageError('--token and --token-file: give one of them.')
    stderr.write(
      `quartz-ts: other users of this machine can see --token; use --token-file or ${tokenVariable}.\n`,
    )
    return checkedToken('--token', token)
  }
  if (tokenFile !== undefined) return readToken(tokenFile, stderr)
  const given = environment[tokenVariable]
  return given === undefined || given.trim() === '' ? null : checkedToken(tokenVariable, given.trim())
}

function readToken(path: string, stderr: CliHost['stderr']): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
    if ((statSync(path).mode & 0o077) !== 0) {
      stderr.write(`quartz-ts: others can read the token in '${visible(path)}'; chmod 600 keeps it yours.\n`)
    }
  } catch (error) {
    throw new UsageError(`--token-file: ${textOf(error)}`, { cause: error })
  }
  if (/^[0-9a-f]{64}$/.test(text)) {
    throw new UsageError(
      `--token-file: '${path}' holds the hash that 'serve --token-hash-file' keeps. The token itself was printed at ` +
        'the first start of the server.',
    )
  }
  return checkedToken('--token-file', text)
}

/** What a header can carry; the message does not repeat it. */
function checkedToken(where: string, token: string): string {
  if (/^[\x21-\x7e]{1,4096}$/.test(token)) return token
  throw new UsageError(`${where} holds no token: one is a line of letters, digits and signs without blanks.`)
}

function withoutAnswer(base: string, error: unknown): CommandFailure {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (/:wrong version number:|packet length too long/.test(textOf(cause))) {
    const what = `'${base}' cannot be reached: what listens there speaks http, not https.`
    return new CommandFailure(exitCodes.unreachable, what, { cause: error })
  }
  if (wasSent(cause))
    return new AnswerLost(`The answer of '${base}' was lost: ${textOf(cause)}.`, { cause: error })
  const remedy = ofUnknownAuthority.test(codeOf(cause) ?? '') ? ` ${authorityRemedy}` : ''
  const what = `'${base}' cannot be reached: ${textOf(cause)}.${remedy}`
  return new CommandFailure(exitCodes.unreachable, what, { cause: error })
}

/** Of certificates that are right, but of no authority that Node.js knows. */
const ofUnknownAuthority = /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)/
const authorityRemedy =
  'If you trust it, set NODE_EXTRA_CA_CERTS to a file with it, or with the certificate of the authority that ' +
  'signed it (PEM).'

/** Of names, addresses, connections and certificates. */
const notConnected = [
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/,
  /^(EPROTO|ERR_(TLS|SSL)_.*|.*CERT.*|UNABLE_TO_.*)$/,
]

/** Whether the server may have read the request. What `fetch` itself refuses to send has no code. */
export function wasSent(cause: unknown): boolean {
  // Of a name with several addresses, none of which took the connection.
  if (cause instanceof AggregateError) return cause.errors.some(wasSent)
  const { code, syscall } = Object(cause) as { readonly code?: unknown; readonly syscall?: unknown }
  if (typeof code !== 'string' || syscall === 'connect') return false
  return !notConnected.some((codes) => codes.test(code))
}
