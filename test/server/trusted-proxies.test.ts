import { expect, test } from 'vitest'
import { TrustedProxies } from '../../src/server/http/trusted-proxies.ts'
import { serverFixture, tokens } from '../support/server-fixture.ts'

test.each([
  ['no header', '10.0.0.1', null, '10.0.0.1'],
  ['one proxy', '10.0.0.1', '203.0.113.9', '203.0.113.9'],
  [
    'what a client made up before the proxy added its address',
    '10.0.0.1',
    '1.1.1.1, 203.0.113.9',
    '203.0.113.9',
  ],
  ['two proxies', '10.0.0.1', '203.0.113.9, 10.9.9.9', '203.0.113.9'],
  ['a request of a proxy itself', '10.0.0.1', '10.9.9.9', '10.9.9.9'],
  ['a connection that is of no proxy', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['a proxy of IPv6', '2001:db8::7', '2001:db8:ffff::1', '2001:db8:ffff::1'],
  ['IPv4 in the words of IPv6', '::ffff:10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['ports', '10.0.0.1', '[2001:db8:ffff::1]:4711, 10.9.9.9:80', '2001:db8:ffff::1'],
  ['a word that is no address', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
  ['an entry that is empty', '10.0.0.1', '203.0.113.9,', '10.0.0.1'],
  ['a connection whose address is not known', 'unknown', '203.0.113.9', 'unknown'],
] as const)('who asks, of %s', (_case, connection, header, client) => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '2001:db8::7'])
  expect(proxies.clientOf(connection, header)).toBe(client)
})

test('clients behind a proxy that is trusted have limits of their own, and others cannot make up theirs', async () => {
  const requestsPerMinute = 2
  await using trusting = await serverFixture({ requestsPerMinute, trustedProxies: ['127.0.0.1'] })
  await using distrusting = await serverFixture({ requestsPerMinute })
  const statusesOf = async (address: string): Promise<number[]> => {
    const statuses: number[] = []
    for (const client of ['203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.2']) {
      const headers = { authorization: `Bearer ${tokens.viewer}`, 'x-forwarded-for': client }
      statuses.push((await fetch(`${address}/api/jobs`, { headers })).status)
    }
    return statuses
  }
  expect(await statusesOf(trusting.address)).toEqual([200, 200, 429, 200])
  expect(await statusesOf(distrusting.address)).toEqual([200, 200, 429, 429])
})
