import { isIP } from 'node:net'
import { AddressRanges } from '../../core/address-range.ts'

/** The proxies that are believed when they say for whom they ask. */
export class TrustedProxies {
  readonly #proxies: AddressRanges

  /** @param ranges such as `10.0.0.7` and `10.0.0.0/8`. */
  constructor(ranges: readonly string[]) {
    this.#proxies = new AddressRanges(ranges)
  }

  /**
   * Who asks: the last address on the way that is none of these proxies. Each proxy adds the address that it was asked
   * from to the end of `X-Forwarded-For`; what stands before the entry of the first proxy may have been made up.
   */
  clientOf(connection: string, forwardedFor: string | null): string {
    const entries = forwardedFor?.split(',') ?? []
    let client = plainAddress(connection) ?? connection
    while (this.#proxies.has(client)) {
      const before = plainAddress(entries.pop() ?? '')
      if (before === null) break
      client = before
    }
    return client
  }
}

/** An address without the port that some proxies add, and as IPv4 where it is one; null for anything else. */
function plainAddress(text: string): string | null {
  const trimmed = text.trim()
  const withPort = /^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/.exec(trimmed)
  const address = (withPort?.[1] ?? withPort?.[2] ?? trimmed).replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) === 0 ? null : address
}
