import { expect, test } from 'vitest'
import { connectionFrom } from '../../src/server/http/connection.ts'
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
  const clients = ['203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.2']
  expect(await statusesOf(trusting.address, clients)).toEqual([200, 200, 429, 200])
  expect(await statusesOf(distrusting.address, clients)).toEqual([200, 200, 429, 429])
})

test('the addresses of one IPv6 network have one limit together', async () => {
  await using server = await serverFixture({ requestsPerMinute: 2, trustedProxies: ['127.0.0.1'] })
  const clients = ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:9::1', '2001:db8:0:1::1']
  expect(await statusesOf(server.address, clients)).toEqual([200, 200, 429, 200])
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001::', '2001:db8:1:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::7:8%eth0', 'fe80:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::FFFF:cb00:7109', '203.0.113.9'],
  ['a name that the host gives', 'a name that the host gives'],
])('who is limited, of %s', (address, client) => {
  expect(connectionFrom(address, null)).toEqual({ address, client, hosts: null })
})

async function statusesOf(address: string, clients: readonly string[]): Promise<number[]> {
  const statuses: number[] = []
  for (const client of clients) {
    const headers = { authorization: `Bearer ${tokens.viewer}`, 'x-forwarded-for': client }
    statuses.push((await fetch(`${address}/api/jobs`, { headers })).status)
  }
  return statuses
}
