import { BlockList, isIP } from 'node:net'
import { type ArgumentCheck, checkThat } from './arguments.ts'
import { invariant } from './errors.ts'

const families = { 4: 'ipv4', 6: 'ipv6' } as const
const bitsOf = { ipv4: 32, ipv6: 128 } as const

/** The addresses whose first bits are those of one. */
interface AddressRange {
  readonly address: string
  readonly family: keyof typeof bitsOf
  readonly bits: number
}

/** Reads an address such as `10.0.0.7`, or a range such as `10.0.0.0/8`; null for anything else. */
function parseAddressRange(text: string): AddressRange | null {
  const [address = '', bits, ...rest] = text.split('/')
  const family = addressFamily(address)
  // A scope such as %eth0 means something on one machine alone.
  if (family === null || rest.length > 0 || address.includes('%')) return null
  if (bits === undefined) return { address, family, bits: bitsOf[family] }
  const isCount = /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= bitsOf[family]
  return isCount ? { address, family, bits: Number(bits) } : null
}

export function isAddressRange(value: unknown): boolean {
  return typeof value === 'string' && parseAddressRange(value) !== null
}

export const checkAddressRange: ArgumentCheck = checkThat(
  "an address such as '10.0.0.7', or a range of them such as '10.0.0.0/8'",
  isAddressRange,
)

/** Some ranges of addresses. An IPv4 address in IPv6 counts as the IPv4 address. */
export class AddressRanges {
  readonly #list = new BlockList()

  /** @param ranges those of which {@link isAddressRange} is true. */
  constructor(ranges: readonly string[]) {
    for (const text of ranges) {
      const range = parseAddressRange(text)
      invariant(range !== null, `'${text}' is a range of addresses`)
      this.#list.addSubnet(range.address, range.bits, range.family)
    }
  }

  /** False for what is no address. */
  has(address: string): boolean {
    const family = addressFamily(address)
    return family !== null && this.#list.check(address, family)
  }
}

/** Null for what is no address of the Internet Protocol. */
function addressFamily(address: string): AddressRange['family'] | null {
  const version = isIP(address)
  return version === 4 || version === 6 ? families[version] : null
}
