import { isIPv6 } from 'node:net'

/** From where a request came. */
export interface Connection {
  readonly address: string
  /** Whose requests are limited together. */
  readonly client: string
  /** The names by which the server may be called here; null for any. */
  readonly hosts: readonly string[] | null
}

export function connectionFrom(address: string, hosts: Connection['hosts']): Connection {
  return { address, client: clientAt(address), hosts }
}

/**
 * Lets the connection of a request end with its answer. HTTP/2 forbids the header in requests as in answers: a request
 * that has it, as those of browsers and of `fetch` have, came over HTTP/1.1.
 */
export function endConnection(request: Request, { headers }: Response): void {
  if (request.headers.has('connection')) headers.set('connection', 'close')
}

/**
 * The network of an IPv6 address: its first 64 bits, which are the least that a provider gives to one customer. Who has
 * one could ask from ever new addresses. Any other address, of IPv4 also in the words of IPv6, and what a host names
 * instead, is a client by itself.
 */
function clientAt(address: string): string {
  if (!isIPv6(address)) return address
  const [withoutScope = ''] = address.split('%')
  // In the short form, in which each group has one spelling.
  const short = new URL(`http://[${withoutScope}]`).hostname.slice(1, -1)
  const [head = '', tail] = short.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  const groups = [...before, ...zeros, ...after]
  const isIpv4 = groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff'
  if (isIpv4) return groups.slice(6).flatMap(bytesOf).join('.')
  return `${groups.slice(0, 4).join(':')}::/64`
}

function bytesOf(group: string): [number, number] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 255]
}
