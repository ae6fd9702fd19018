import { expect, onTestFinished, test } from 'vitest'
import { JobKey } from '../../src/core/key.ts'
import { type ServerFixture, serverFixture, tokens } from '../support/server-fixture.ts'

async function opened(): Promise<ServerFixture> {
  const fixture = await serverFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  return fixture
}

const put = async (
  { address }: ServerFixture,
  body: Uint8Array<ArrayBuffer>,
): Promise<{ readonly status: number; readonly json: unknown }> => {
  const headers = { authorization: `Bearer ${tokens.admin}`, 'content-type': 'application/json' }
  const answer = await fetch(`${address}/api/jobs/raw/latin`, { method: 'PUT', headers, body })
  return { status: answer.status, json: await answer.json() }
}

const bytesOf = (text: string, encoding: BufferEncoding): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, encoding))

test('a body that is not UTF-8 is refused, and nothing of it is stored', async () => {
  const fixture = await opened()
  const body = JSON.stringify({ jobType: 'echo', durable: true, description: 'caf\u{E9}' })
  expect(await put(fixture, bytesOf(body, 'latin1'))).toMatchObject({
    status: 400,
    json: { field: 'body', problems: [{ field: 'body', message: 'must be UTF-8' }] },
  })
  const key = new JobKey('latin', 'raw')
  expect(await fixture.scheduler.getJobDetail(key)).toBeNull()
  expect(await put(fixture, bytesOf(body, 'utf8'))).toMatchObject({ status: 200 })
  expect(await fixture.scheduler.getJobDetail(key)).toMatchObject({ description: 'caf\u{E9}' })
})
