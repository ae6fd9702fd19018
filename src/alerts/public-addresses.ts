import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { AddressRanges } from '../core/address-range.ts'

/** Ranges that lead to the machine itself, into its own network, or nowhere. */
const notPublic = new AddressRanges([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  '::1/128',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
])

/** Whether an IP address is one of the public network. An IPv4 address in IPv6 counts as the IPv4 address. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !notPublic.has(address)
}

/**
 * A lookup that resolves a name as usual, and refuses one that leads to an address which is not allowed. The connection
 * is made to the very address that was looked at, so that a second answer of the name server changes nothing.
 */
export function lookupAllowed(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const addresses = found as LookupAddress[] | undefined
      const [first] = addresses ?? []
      if (error !== null || addresses === undefined || first === undefined) {
        callback(error ?? new Error(`${hostname} has no address`), '', 0)
        return
      }
      const refused = addresses.find(({ address }) => !isAllowed(address))
      if (refused !== undefined) callback(notAllowed(hostname, refused.address), '', 0)
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

export function notAllowed(hostname: string, address: string): Error {
  return new Error(
    `${hostname} leads to ${address}, which is not an address of the public network: name one of them in allowHosts.`,
  )
}
