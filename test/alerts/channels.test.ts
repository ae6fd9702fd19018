import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isPublicAddress } from '../../src/alerts/public-addresses.ts'
import { type AlertChannel, type AlertNotice, mailChannel, webhookChannel } from '../../src/alerts.ts'
import { systemClock } from '../../src/time/clock.ts'
import { type HookServer, hookServer } from '../support/hook-server.ts'
import { type SmtpManner, type SmtpServer, smtpServer } from '../support/smtp-server.ts'

const secret = 'a secret of some length'
const notice: AlertNotice = {
  kind: 'raised',
  id: 'notice-1',
  scheduler: 'QuartzScheduler',
  node: 'n1',
  atMs: Date.UTC(2026, 0, 1),
  alert: {
    id: 'a1',
    rule: 'late',
    subject: 'DEFAULT.job',
    message: 'late',
    sinceMs: Date.UTC(2026, 0, 1),
    lastTimeMs: Date.UTC(2026, 0, 1),
    node: 'n1',
  },
  text: 'A trigger is late.\r\nBcc: all@example.com',
}

const never = new AbortController().signal

async function hooks(...given: Parameters<typeof hookServer>): Promise<HookServer> {
  const server = await hookServer(...given)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

async function smtp(manner?: SmtpManner): Promise<SmtpServer> {
  const server = await smtpServer(manner)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

describe('a webhook', () => {
  it('is signed, so that the receiver knows who sent what and when', async () => {
    const server = await hooks()
    const channel = webhookChannel({
      url: server.url,
      secret,
      headers: { authorization: 'Bearer t' },
      allowPrivate: true,
    })
    const sentMs = systemClock.now()
    await channel.send(notice, never)
    const { headers, body } = server.hooks[0] ?? expect.fail('nothing came')
    expect(JSON.parse(body)).toEqual(notice)
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer t',
      'quartz-notice-id': 'notice-1',
    })
    // It may be tried for long after it was made.
    const seconds = Number(/^t=(\d+)/.exec(String(headers['quartz-signature']))?.[1])
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(sentMs / 1000))
    expect(seconds).toBeLessThanOrEqual(systemClock.now() / 1000)
    const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
    expect(headers['quartz-signature']).toBe(`t=${seconds},v1=${mac}`)
  })

  it('fails by any answer but 2xx, and follows no redirect', async () => {
    const other = await hooks()
    const moved = await hooks((response) => {
      response.writeHead(307, { location: other.url }).end()
    })
    const send = (url: string): Promise<void> =>
      webhookChannel({ url, secret, allowPrivate: true }).send(notice, never)
    await expect(send(moved.url)).rejects.toThrow('The receiver answered 307')
    expect(other.hooks).toEqual([])
    const failing = await hooks((response) => {
      response.writeHead(500).end('x'.repeat(100_000))
    })
    await expect(send(failing.url)).rejects.toThrow(/^The receiver answered 500: x{500}$/)
  })

  it('is given up when it is aborted', async () => {
    const silent = await hooks(() => {})
    const attempt = new AbortController()
    const sent = webhookChannel({ url: silent.url, secret, allowPrivate: true }).send(notice, attempt.signal)
    await silent.received(1)
    attempt.abort()
    await expect(sent).rejects.toThrow('abort')
  })

  it('goes to no private address, under whatever name', async () => {
    const server = await hooks()
    const { port } = new URL(server.url)
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0',
      '2130706433',
      '10.0.0.1',
    ]) {
      const channel = webhookChannel({ url: `http://${host}:${port}/hook`, secret })
      await expect(channel.send(notice, never)).rejects.toThrow('not an address of the public network')
    }
    expect(server.hooks).toEqual([])
  })

  it('goes to the private names and addresses of its list, and to no others', async () => {
    const server = await hooks()
    const { port } = new URL(server.url)
    const send = (host: string, ...allowHosts: string[]): Promise<void> =>
      webhookChannel({ url: `http://${host}:${port}/hook`, secret, allowHosts }).send(notice, never)
    await send('127.0.0.1', '127.0.0.1')
    await send('localhost', 'LOCALHOST')
    // Of a name the addresses count that it leads to.
    await send('localhost', '127.0.0.1', '::1')
    await send('2130706433', '127.0.0.1')
    expect(server.hooks).toHaveLength(4)
    for (const [host, ...allowed] of [
      ['127.0.0.1', 'localhost'],
      ['127.0.0.1', '127.0.0.2', 'example.com'],
      ['localhost', 'host', 'local', 'localhost.example.com'],
      ['10.0.0.1', '127.0.0.1'],
    ] as const) {
      await expect(send(host, ...allowed)).rejects.toThrow('not an address of the public network')
    }
    expect(server.hooks).toHaveLength(4)
  })

  it('refuses options that make no sense', () => {
    for (const options of [
      null,
      { secret },
      { url: 'https://example.com' },
      { url: 'ftp://example.com', secret },
      { url: 'https://me:word@example.com', secret },
      { url: 'https://example.com', secret: 'hunter2' },
      { url: 'https://example.com', secret, headers: { 'Content-Length': '1' } },
      { url: 'https://example.com', secret, headers: { a: 1 } },
      { url: 'https://example.com', secret, headers: { 'x y': '1' } },
      { url: 'https://example.com', secret, headers: { a: 'one\ntwo' } },
      { url: 'https://example.com', secret, headers: { authorization: 'Bearer 東' } },
      { url: 'https://example.com', secret, retries: 1 },
      { url: 'https://example.com', secret, allowHosts: 'a.internal' },
      { url: 'https://example.com', secret, allowHosts: ['https://a.internal'] },
      { url: 'https://example.com', secret, allowHosts: ['a.internal:80'] },
      { url: 'https://example.com', secret, allowHosts: ['10.0.0.0/8'] },
      { url: 'https://example.com', secret, allowHosts: [''] },
      { url: 'https://example.com', secret, allowHosts: Array.from({ length: 101 }, () => 'a') },
      { url: 'https://example.com', secret, allowHosts: ['a.internal'], allowPrivate: true },
    ]) {
      expect(() => webhookChannel(options as never)).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^ERR_INVALID_(OPTION|ARGUMENT)$/) as string,
          message: expect.not.stringContaining('hunter2') as string,
        }),
      )
    }
  })
})

it('a webhook without a secret is refused with what a secret is', () => {
  expect(() => webhookChannel({ url: 'https://example.com' } as never)).toThrow(
    /'secret' is missing: name a text of 16 characters or more, which the receiver knows too/,
  )
})

it('addresses are public, or not', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8']) {
    expect([address, isPublicAddress(address)]).toEqual([address, true])
  }
  for (const address of [
    ...['127.0.0.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...[
      '224.0.0.1',
      '255.255.255.255',
      '::1',
      '::',
      'fe80::1',
      'fd00::1',
      '::ffff:10.0.0.1',
      'ff02::1',
      'junk',
    ],
  ]) {
    expect([address, isPublicAddress(address)]).toEqual([address, false])
  }
})

describe('a mail', () => {
  const channelTo = (port: number, more: object = {}): AlertChannel =>
    mailChannel({
      server: { host: '127.0.0.1', port, requireTls: false },
      from: 'quartz@example.com',
      to: ['ops@example.com', 'dev@example.com'],
      ...more,
    })

  it('arrives with one subject line, whatever the text holds', async () => {
    const server = await smtp()
    await channelTo(server.port).send(notice, never)
    const mail = server.mails[0] ?? expect.fail('nothing came')
    expect(mail).toMatchObject({ from: 'quartz@example.com', to: ['ops@example.com', 'dev@example.com'] })
    const [head = ''] = mail.text.split('\n\n', 1)
    expect(head).toMatch(
      /^Subject: \[QuartzScheduler\] raised: A trigger is late\. Bcc:\s+all@example\.com$/m,
    )
    expect(head).not.toMatch(/^Bcc:/m)
    expect(mail.text).toContain('Rule: late')
  })

  it('has the id of the notice, so that what came twice is one mail to its readers', async () => {
    const server = await smtp('keeps and is mute')
    const giveUp = new AbortController()
    const channel = channelTo(server.port)
    const lost = channel.send(notice, giveUp.signal)
    lost.catch(() => {})
    await server.kept
    giveUp.abort()
    const again = channel.send({ ...notice, text: 'again' }, never)
    again.catch(() => {})
    await expect.poll(() => server.mails.length).toBe(2)
    const ids = server.mails.map(({ text }) => /^Message-ID: (.*)$/im.exec(text)?.[1])
    expect(ids).toEqual(['<notice-1@example.com>', '<notice-1@example.com>'])
  })

  it('that is aborted leaves no connection', async () => {
    const server = await smtp('keeps and is mute')
    const giveUp = new AbortController()
    const lost = channelTo(server.port).send(notice, giveUp.signal)
    await server.kept
    giveUp.abort(new Error('The scheduler shuts down.'))
    await expect(lost).rejects.toThrow()
    await server.closed
  })

  it('fails when the server refuses it, or it has no TLS and that is required', async () => {
    const refusing = await smtp('refuses')
    await expect(channelTo(refusing.port).send(notice, never)).rejects.toThrow('550')
    const plain = await smtp()
    const strict = channelTo(plain.port, { server: { host: '127.0.0.1', port: plain.port } })
    await expect(strict.send(notice, never)).rejects.toThrow(/TLS/i)
    expect(plain.mails).toEqual([])
  })

  it('refuses options that make no sense', () => {
    const right = { server: { host: 'mail.example.com' }, from: 'a@example.com', to: ['b@example.com'] }
    for (const wrong of [
      { server: {} },
      { server: { host: 'h', port: 0 } },
      { server: { host: 'h', password: 'secret' } },
      { from: 'nobody' },
      { from: 'a@example.com\r\nBcc: x@example.com' },
      { to: [] },
      { to: ['a@example.com, b@example.com'] },
      { subject: 'x' },
    ]) {
      expect(() => mailChannel({ ...right, ...wrong } as never)).toThrow(
        expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
      )
    }
  })
})
