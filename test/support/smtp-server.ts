import { createServer, type Socket } from 'node:net'
import { listening } from './hook-server.ts'

/** A mail as a server got it. */
export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly text: string
}

export interface SmtpServer extends AsyncDisposable {
  readonly port: number
  readonly mails: ReceivedMail[]
  /** Resolves when the first mail came. */
  readonly kept: Promise<void>
  /** Resolves when the first connection is closed, whoever closes it. */
  readonly closed: Promise<void>
}

/** How a server takes mail: `mute` accepts connections and says nothing, `keeps and is mute` nothing after a mail. */
export type SmtpManner = 'takes' | 'refuses' | 'mute' | 'keeps and is mute'

/** A small mail server without TLS that keeps what it gets. */
export async function smtpServer(manner: SmtpManner = 'takes'): Promise<SmtpServer> {
  const mails: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  let onKept = (): void => {}
  const kept = new Promise<void>((resolve) => {
    onKept = resolve
  })
  let onClosed = (): void => {}
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve
  })
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      onClosed()
    })
    socket.on('error', () => socket.destroy())
    if (manner !== 'mute') converse(socket, { manner, mails, onKept })
  })
  const port = await listening(server)
  return {
    port,
    mails,
    kept,
    closed,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function converse(
  socket: Socket,
  { manner, mails, onKept }: { manner: SmtpManner; mails: ReceivedMail[]; onKept: () => void },
): void {
  let from = ''
  let to: string[] = []
  let body: string[] | null = null
  let rest = ''
  const say = (line: string): void => {
    socket.write(`${line}\r\n`)
  }
  const take = (line: string): void => {
    if (body !== null) {
      if (line !== '.') body.push(line.replace(/^\.\./, '.'))
      else {
        mails.push({ from, to, text: body.join('\n') })
        body = null
        if (manner !== 'keeps and is mute') say('250 kept')
        onKept()
      }
      return
    }
    const address = /<(.*)>/.exec(line)?.[1] ?? ''
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'EHLO') say('250 smtp.test')
    else if (verb === 'MAIL') {
      from = address
      to = []
      say(manner === 'refuses' ? '550 not here' : '250 ok')
    } else if (verb === 'RCPT') {
      to.push(address)
      say('250 ok')
    } else if (verb === 'DATA') {
      body = []
      say('354 go on')
    } else if (verb === 'QUIT') {
      say('221 bye')
      socket.end()
    } else say('250 ok')
  }
  socket.setEncoding('utf8')
  socket.on('data', (part: string) => {
    const lines = (rest + part).split('\r\n')
    rest = lines.pop() ?? ''
    for (const line of lines) take(line)
  })
  say('220 smtp.test ready')
}
