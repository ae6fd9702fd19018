import { generateKeyPairSync, sign } from 'node:crypto'

export interface Certificate {
  /** PEM. */
  readonly certificate: string
  readonly key: string
}

const tag = {
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  id: 0x06,
  text: 0x0c,
  time: 0x18,
  list: 0x30,
  set: 0x31,
}

/** One value in DER. */
function der(type: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  if (length > 0xffff) throw new RangeError('no value of a certificate is that long')
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([type, ...size]), content])
}

const id = (hex: string): Buffer => der(tag.id, Buffer.from(hex, 'hex'))
const ids = { ecdsaWithSha256: '2a8648ce3d040302', commonName: '550403', alternativeName: '551d11' }

/** A certificate for localhost that vouches for itself, valid in this century. */
export function selfSignedCertificate(): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = der(tag.list, id(ids.ecdsaWithSha256))
  const name = der(
    tag.list,
    der(tag.set, der(tag.list, id(ids.commonName), der(tag.text, Buffer.from('localhost')))),
  )
  const time = (text: string): Buffer => der(tag.time, Buffer.from(text))
  // A DNS name and an address.
  const alternatives = der(
    tag.list,
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
  )
  const extension = der(tag.list, id(ids.alternativeName), der(tag.bytes, alternatives))
  const body = der(
    tag.list,
    // Version 3.
    der(0xa0, der(tag.integer, Buffer.from([2]))),
    der(tag.integer, Buffer.from([1])),
    algorithm,
    name,
    der(tag.list, time('20200101000000Z'), time('20991231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(tag.list, extension)),
  )
  const signature = der(tag.bits, Buffer.from([0]), sign('sha256', body, privateKey))
  const base64 = der(tag.list, body, algorithm, signature).toString('base64')
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
