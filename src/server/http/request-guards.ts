import { SchedulerError } from '../../core/errors.ts'
import { shortened } from '../../core/text-beginning.ts'
import { visibleName } from '../../core/visible-text.ts'
import { RequestProblem } from './problem.ts'

/** Names by which a server on the loopback interface is called. */
export const loopbackHosts: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** What requests without a Host header have in their URL in its place; no host can have this name (RFC 2606). */
export const missingHost = 'missing-host.invalid'

export function isLoopback(host: string): boolean {
  return loopbackHosts.includes(host) || host === '::1'
}

/**
 * Refuses a request that was sent to another name than the server has: a page of a foreign site whose name was made to
 * point at this machine (DNS rebinding).
 *
 * @throws SchedulerError ERR_FOREIGN_ORIGIN
 */
export function requireHost(request: Request, allowedHosts: readonly string[]): void {
  const { hostname } = new URL(request.url)
  const own = allowedHosts[0] ?? ''
  if (hostname === missingHost) {
    const problem = 'The request has no Host header.'
    throw new SchedulerError(
      'ERR_FOREIGN_ORIGIN',
      `${problem} Send one that names this server, such as ${own}.`,
    )
  }
  if (allowedHosts.includes(hostname)) return
  throw new SchedulerError(
    'ERR_FOREIGN_ORIGIN',
    `This server is not called '${hostname.slice(0, 100)}'. Name it in allowedHosts, or use ${own}.`,
  )
}

/**
 * Refuses a change that a page of another site sends. Browsers say where a request comes from; other programs say
 * nothing, and have no cookie that a browser would add to foreign requests.
 *
 * @throws SchedulerError ERR_FOREIGN_ORIGIN
 */
export function requireOwnOrigin(request: Request, allowedOrigins: readonly string[]): void {
  const origin = request.headers.get('origin')
  const site = request.headers.get('sec-fetch-site')
  if (origin !== null && allowedOrigins.includes(origin)) return
  const problem = originProblem(request, origin, site)
  if (problem === null) return
  throw new SchedulerError('ERR_FOREIGN_ORIGIN', `A change must come from a page of this server: ${problem}.`)
}

/** What tells that a change is of no page of this server, and what to do where it is one; null for one that is. */
function originProblem({ url, headers }: Request, origin: string | null, site: string | null): string | null {
  const from = origin !== null && URL.canParse(origin) ? new URL(origin) : null
  const page = from?.host ?? origin
  const called = new URL(url)
  // Some proxies add the port to Host that is the scheme's own, which Origin leaves out.
  if (from !== null) called.protocol = from.protocol
  const { host, hostname } = called
  // What is no address is of no page of this server, even where it reads like its name: `null` is of any page.
  if (page !== null && from?.host !== host) {
    const what = `the page is of '${shown(page)}', the request came to '${shown(host)}'`
    // As nginx has it in $host, which is in many examples of a proxy.
    return from?.hostname === hostname
      ? `${what}: let the proxy pass Host with its port, or name the origin in allowedOrigins`
      : `${what}: let the proxy pass Host as it came, or name the origin in allowedOrigins if it is yours`
  }
  if (site !== null && site !== 'same-origin' && site !== 'none') {
    const which = page === null ? 'the page' : `the page of '${shown(page)}'`
    const what = `the browser calls ${which} '${shown(site)}' (Sec-Fetch-Site)`
    return `${what}: name its origin in allowedOrigins if it is yours`
  }
  if (origin === null && site === null && headers.has('cookie')) {
    return 'the request has a cookie, and neither Origin nor Sec-Fetch-Site: let the proxy pass them'
  }
  return null
}

/** The name of a host has 253 characters at most, and its port five. */
const hostLengthMax = 260

/** What a client has sent. */
function shown(text: string): string {
  return visibleName(shortened(text, hostLengthMax))
}

/**
 * Refuses an address that is not percent-encoded UTF-8. Routes leave such a part of the path as it is, so `%ff` would
 * name the same as `%25ff`, and queries have U+FFFD for it.
 *
 * @throws RequestProblem
 */
export function requireDecodable({ pathname, search }: URL): void {
  const wrong = [
    { field: 'path', text: pathname },
    { field: 'query', text: search },
  ].filter(({ text }) => !isDecodable(text))
  if (wrong.length === 0) return
  const message = 'must be percent-encoded UTF-8, as encodeURIComponent makes it of each part'
  throw new RequestProblem(wrong.map(({ field }) => ({ field, message })))
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
