import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { readRequest } from '../../src/xxl-job/protocol/read-limited.ts'

interface Rig {
  readonly request: IncomingMessage
  /** The sender, which has sent the head of the request. */
  readonly socket: Socket
  /** Sends a piece of the body; resolves when it has arrived. */
  readonly sendPiece: (piece: Uint8Array) => Promise<void>
}

async function openRequest(bytes: number): Promise<Rig> {
  const server = createServer()
  const arrived = new Promise<IncomingMessage>((resolve) => {
    server.once('request', resolve)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`POST / HTTP/1.1\r\nhost: here\r\ncontent-length: ${bytes}\r\n\r\n`)
  const request = await arrived
  const sendPiece = async (piece: Uint8Array): Promise<void> => {
    const here = new Promise<void>((resolve) => {
      request.once('data', () => {
        resolve()
      })
    })
    socket.write(piece)
    await here
  }
  return { request, socket, sendPiece }
}

test('a body in pieces is one text, also where a character is cut', async () => {
  const bytes = Buffer.from('größer')
  const { request, sendPiece } = await openRequest(bytes.length)
  const read = readRequest(request, 100)
  await sendPiece(bytes.subarray(0, 3))
  await sendPiece(bytes.subarray(3))
  expect(await read).toEqual({ text: 'größer', isAtEnd: true })
})

test('a body with more bytes than wanted is dropped and read to its end', async () => {
  const { request, sendPiece } = await openRequest(11)
  const read = readRequest(request, 10)
  await sendPiece(Buffer.alloc(11, 'a'))
  expect(await read).toEqual({ text: null, isAtEnd: true })
})

test('a body that breaks off rejects', async () => {
  const { request, socket, sendPiece } = await openRequest(10)
  const read = readRequest(request, 100)
  await sendPiece(Buffer.alloc(5, 'a'))
  socket.destroy()
  await expect(read).rejects.toThrow()
})

test('a request that is gone already rejects', async () => {
  const { request, socket } = await openRequest(10)
  const gone = new Promise<void>((resolve) => {
    request.on('error', () => {})
    request.once('close', resolve)
  })
  socket.destroy()
  await gone
  await expect(readRequest(request, 100)).rejects.toThrow('closed')
})

test('a body that was read by another reader is empty', async () => {
  const { request, sendPiece } = await openRequest(1)
  const ended = new Promise<void>((resolve) => {
    request.once('end', resolve)
  })
  await sendPiece(Buffer.from('a'))
  await ended
  expect(await readRequest(request, 100)).toEqual({ text: '', isAtEnd: true })
})
