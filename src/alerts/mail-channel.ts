import {
  checkBoolean,
  checkName,
  checkObject,
  checkOptions,
  checkString,
  checkThat,
  checkWhole,
  listOf,
} from '../core/arguments.ts'
import { InvalidArgumentError } from '../core/errors.ts'
import { requirePackage } from '../core/package-files.ts'
import { beginningOf } from '../core/text-beginning.ts'
import type { AlertChannel, AlertNotice } from './alert-types.ts'

/** A mail server. */
export interface MailServerOptions {
  /** The name of the server. */
  readonly host: string
  /** 1 to 65,535, default 587, or 465 with `secure`. */
  readonly port?: number
  /** TLS from the first byte. Default false: TLS begins when the server offers it. */
  readonly secure?: boolean
  /** Send nothing before TLS has begun. Default true. */
  readonly requireTls?: boolean
  /** Who logs in. Default: no login. */
  readonly user?: string
  /** The password of `user`, which it needs. */
  readonly password?: string
}

/** Options of `mailChannel`. */
export interface MailChannelOptions {
  /** Default `mail`. */
  readonly name?: string
  /** Where mail is handed in. */
  readonly server: MailServerOptions
  /** The sender, as in `quartz@example.com`. */
  readonly from: string
  /** Who gets the mail: 1 to 50 addresses. */
  readonly to: readonly string[]
}

/** What is used of nodemailer, in our own words: it has no types of its own. */
interface Nodemailer {
  readonly createTransport: (options: object) => {
    sendMail(mail: {
      readonly messageId: string
      readonly from: string
      readonly to: readonly string[]
      readonly subject: string
      readonly text: string
      readonly signal: AbortSignal
    }): Promise<unknown>
    close(): void
  }
}

const what = 'mailChannel'
/** A server that does not greet for so long is given up. */
const silenceMs = 10_000
/** Longer than most servers take to look at a mail; how long an attempt may take, the alerts decide. */
const acceptMs = 60_000

const checkAddress = checkThat(
  'a mail address',
  (value) => typeof value === 'string' && /^[^\s<>,;"]{1,64}@[^\s<>,;"@]{1,255}$/.test(value),
)

/**
 * Sends notices by mail, one each, as plain text. Needs the package nodemailer.
 *
 * @throws SchedulerError ERR_DRIVER_MISSING without the package nodemailer
 * @throws InvalidArgumentError ERR_INVALID_OPTION for an option that is missing, unknown or wrong
 */
export function mailChannel(options: MailChannelOptions): AlertChannel {
  checkObject(what, 'options', options)
  checkOptions(what, options, {
    name: checkName,
    server: (method, argument, value, code) => {
      checkObject(method, argument, value, code)
      checkOptions(method, value, serverChecks, argument)
    },
    from: checkAddress,
    to: listOf(checkAddress),
  })
  const { name = 'mail', server, from, to } = options
  if ((server as MailServerOptions | undefined)?.host === undefined) throw missing('server.host')
  if (server.password !== undefined && server.user === undefined) throw missing('server.user')
  if ((from as string | undefined) === undefined) throw missing('from')
  if ((to as readonly string[] | undefined) === undefined || to.length === 0 || to.length > 50)
    throw missing('to')
  const { createTransport } = requirePackage('nodemailer', what) as Nodemailer
  const { host, secure = false, port = secure ? 465 : 587, requireTls = true, user, password = '' } = server
  return {
    name,
    async send(notice, signal) {
      const transport = createTransport({
        host,
        port,
        secure,
        requireTLS: requireTls,
        connectionTimeout: silenceMs,
        greetingTimeout: silenceMs,
        socketTimeout: acceptMs,
        // A server that does not answer does not keep the process alive after the abort.
        socketCloseTimeout: 0,
        ...(user !== undefined && { auth: { user, pass: password } }),
      })
      try {
        // The server may have kept the mail of an attempt that was given up: the same id makes it the same mail.
        const messageId = `<${encodeURIComponent(notice.id)}@${from.slice(from.lastIndexOf('@') + 1)}>`
        const mail = { messageId, from, to, subject: subjectOf(notice), text: bodyOf(notice), signal }
        await transport.sendMail(mail)
      } finally {
        transport.close()
      }
    },
  }
}

const serverChecks = {
  host: checkName,
  port: checkWhole(1, 65_535),
  secure: checkBoolean,
  requireTls: checkBoolean,
  user: checkString,
  password: checkString,
}

function missing(field: string): InvalidArgumentError {
  return new InvalidArgumentError(field, `${what}: '${field}' is missing or wrong.`, 'ERR_INVALID_OPTION')
}

/** One line: what is in a subject must not begin another header. */
function subjectOf({ kind, scheduler, text }: AlertNotice): string {
  const line = `[${scheduler}] ${kind}: ${text}`.replace(/\p{Cc}+/gu, ' ')
  return line.length > 200 ? `${beginningOf(line, 199)}…` : line
}

function bodyOf({ kind, id, scheduler, node, atMs, alert, text }: AlertNotice): string {
  const lines = [text, '', `What: ${kind}`, `Scheduler: ${scheduler}`, `Node: ${node}`, `At: ${iso(atMs)}`]
  if (alert !== null) {
    lines.push(
      `Rule: ${alert.rule}`,
      `About: ${alert.subject}`,
      `Since: ${iso(alert.sinceMs)}`,
      `Alert: ${alert.id}`,
    )
  }
  return [...lines, `Notice: ${id}`, ''].join('\n')
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
