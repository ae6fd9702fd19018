import { request as httpRequest } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { SchedulerServerOptions } from '../../src/server/server-options.ts'
import { serverFixture, tokens } from '../support/server-fixture.ts'

/** What a proxy sends on: the Host that it chose, and what the browser says of the page. */
interface Sent {
  readonly host: string
  readonly headers: Readonly<Record<string, string>>
}

async function answerTo(
  { host, headers }: Sent,
  options: Partial<SchedulerServerOptions> = {},
): Promise<{ readonly status: number | undefined; readonly detail: unknown }> {
  await using fixture = await serverFixture({ allowedHosts: ['ops.example.com'], ...options })
  const { hostname, port } = new URL(fixture.address)
  const path = '/api/scheduler/pause-all?dryRun=true'
  const all = { host, authorization: `Bearer ${tokens.operator}`, ...headers }
  return await new Promise((resolve, reject) => {
    httpRequest({ hostname, port, path, method: 'POST', headers: all }, (response) => {
      json(response).then((answer) => {
        const { detail = null } = answer as { readonly detail?: string }
        resolve({ status: response.statusCode, detail })
      }, reject)
    })
      .on('error', reject)
      .end()
  })
}

const begin = 'A change must come from a page of this server: '
const withPort = 'let the proxy pass Host with its port, or name the origin in allowedOrigins.'
const asIs = 'let the proxy pass Host as it came, or name the origin in allowedOrigins if it is yours.'
const inBrowser = { origin: 'https://ops.example.com:8443', 'sec-fetch-site': 'same-origin' }

test.each([
  [
    'a proxy left out the port of Host',
    { host: 'ops.example.com', headers: inBrowser },
    `the page is of 'ops.example.com:8443', the request came to 'ops.example.com': ${withPort}`,
  ],
  [
    'a proxy wrote another Host',
    { host: 'localhost:8080', headers: inBrowser },
    `the page is of 'ops.example.com:8443', the request came to 'localhost:8080': ${asIs}`,
  ],
  [
    'the browser does not say of what page it is',
    { host: 'ops.example.com', headers: { origin: 'null' } },
    `the page is of 'null', the request came to 'ops.example.com': ${asIs}`,
  ],
  [
    'an Origin is no address and holds what controls a terminal',
    { host: 'ops.example.com', headers: { origin: `\u009b31m${'x'.repeat(2000)}` } },
    `the page is of '\u{fffd}31m${'x'.repeat(255)}…', the request came to 'ops.example.com': ${asIs}`,
  ],
  [
    'an Origin is no address and reads like the name of this server',
    { host: 'ops.example.com', headers: { origin: 'ops.example.com' } },
    `the page is of 'ops.example.com', the request came to 'ops.example.com': ${asIs}`,
  ],
  [
    'a page has the name of this server and is of another site',
    {
      host: 'ops.example.com',
      headers: { origin: 'http://ops.example.com', 'sec-fetch-site': 'cross-site' },
    },
    "the browser calls the page of 'ops.example.com' 'cross-site' (Sec-Fetch-Site): " +
      'name its origin in allowedOrigins if it is yours.',
  ],
  [
    'a browser says no more than that the page is of another site',
    { host: 'ops.example.com', headers: { 'sec-fetch-site': 'cross-site' } },
    "the browser calls the page 'cross-site' (Sec-Fetch-Site): name its origin in allowedOrigins if it is yours.",
  ],
  [
    'a cookie comes without a word of the page',
    { host: 'ops.example.com', headers: { cookie: 'any=1' } },
    'the request has a cookie, and neither Origin nor Sec-Fetch-Site: let the proxy pass them.',
  ],
])('a change is refused with what was compared and what to do: %s', async (_case, sent, detail) => {
  expect(await answerTo(sent)).toEqual({ status: 403, detail: `${begin}${detail}` })
})

test.each([
  ['Host has the port of the page', 'ops.example.com:8443', {}],
  ['the origin is named', 'ops.example.com', { allowedOrigins: ['https://ops.example.com:8443'] }],
])('a page behind a proxy at another port may change things when %s', async (_case, host, options) => {
  expect(await answerTo({ host, headers: inBrowser }, options)).toEqual({ status: 200, detail: null })
})

test.each([
  ['https://ops.example.com', 443, 200],
  ['http://ops.example.com', 80, 200],
  ['http://ops.example.com', 443, 403],
])('a page of %s behind a proxy that passes the port %i is answered %i', async (origin, port, status) => {
  expect(await answerTo({ host: `ops.example.com:${port}`, headers: { origin } })).toMatchObject({ status })
})
