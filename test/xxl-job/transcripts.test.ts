import { describe, expect, test } from 'vitest'
import { type AdminDialect, callExecutor, triggerBody } from '../support/xxl-job-admin.ts'
import { startedAdmin, startRig } from './executor-fixture.ts'

interface Transcript {
  readonly dialect: AdminDialect
  readonly path: string
  /** What each version sends for the same thing. */
  readonly run: '/run' | '/trigger'
  readonly headers: Record<string, string>
  readonly beat: string
  readonly logTime: 'logDateTim' | 'logDateTime'
  readonly callback: string
}

const token = 'c2VjcmV0LXRva2Vu'
const legacyResult =
  '[{"logId":90017,"logDateTim":1790000000123,"handleCode":200,"handleMsg":"ok",' +
  '"executeResult":{"code":200,"msg":"ok"}}]'
const transcripts: readonly Transcript[] = [
  {
    dialect: 'D0',
    path: '/xxl-job-admin',
    run: '/run',
    headers: { 'XXL-JOB-ACCESS-TOKEN': token },
    beat: '',
    logTime: 'logDateTim',
    callback: legacyResult,
  },
  {
    dialect: 'D1',
    path: '/xxl-job-admin',
    run: '/run',
    headers: { 'XXL-JOB-ACCESS-TOKEN': token },
    beat: '""',
    logTime: 'logDateTim',
    callback: legacyResult,
  },
  {
    dialect: 'D2',
    path: '',
    run: '/run',
    headers: { 'XXL-JOB-ACCESS-TOKEN': token },
    beat: '',
    logTime: 'logDateTim',
    callback: legacyResult,
  },
  {
    dialect: 'D3',
    path: '',
    run: '/trigger',
    headers: { 'xxl-job-access-token': token, 'XXL-JOB-APPNAME': 'demo-executor' },
    beat: '',
    logTime: 'logDateTime',
    callback:
      '{"callbackList":[{"logId":90017,"logDateTime":1790000000123,"handleCode":200,"handleMsg":"ok"}]}',
  },
]

describe.each(transcripts)('the words of $dialect (X19, X30)', (transcript) => {
  const { dialect, path, headers } = transcript

  test('a run from registration to removal, as raw text', async () => {
    const admin = await startedAdmin({ dialect, path, token })
    const { executor } = await startRig(
      {
        accessToken: token,
        host: '127.0.0.1',
        timeZone: 'UTC',
        handlers: {
          demo: (context) => {
            context.log('hello {}', context.param)
            context.handleSuccess('ok')
          },
        },
      },
      admin,
    )
    await admin.until(({ beats }) => beats.length > 0)
    const address = executor.status().address ?? ''
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(admin.beats[0]).toMatchObject({
      path: `${path}/api/registry`,
      body: `{"registryGroup":"EXECUTOR","registryKey":"demo-executor","registryValue":"${address}"}`,
      headers: {
        'content-type': 'application/json;charset=UTF-8',
        'xxl-job-access-token': token,
        'xxl-job-appname': 'demo-executor',
      },
    })
    const send = (target: string, body: string | object) => callExecutor(address, target, body, { headers })
    const ok = '{"code":200,"msg":"Success","data":null,"content":null}'
    expect(await send('/beat', transcript.beat)).toMatchObject({ status: 200, text: ok })
    expect(await send('/idleBeat', '{"jobId":17}')).toMatchObject({ status: 200, text: ok })
    const sent = triggerBody(90_017, { executorParams: 'a=1' })
    expect(await send(transcript.run, sent)).toMatchObject({ status: 200, text: ok })
    expect(await admin.resultOf(90_017)).toEqual({ logId: 90_017, code: 200, msg: 'ok' })
    expect(admin.callbacks.map(({ body }) => body)).toEqual([transcript.callback])
    const asked = `{"${transcript.logTime}":1790000000000,"logId":90017,"fromLineNum":1}`
    const { json } = await send('/log', asked)
    expect(json.data).toEqual(json.content)
    expect(json).toMatchObject({ code: 200, data: { fromLineNum: 1, isEnd: false } })
    expect(JSON.stringify(json.data)).toContain('[demo]-[17]-[90017] hello a=1\\n')
    expect((await send('/kill', '{"jobId":17}')).json).toMatchObject({ code: 200 })
    await executor.close()
    expect(admin.requests.at(-1)).toMatchObject({
      path: `${path}/api/registryRemove`,
      body: `{"registryGroup":"EXECUTOR","registryKey":"demo-executor","registryValue":"${address}"}`,
    })
  })
})

describe('the form of results', () => {
  test('is learned from each admin anew when the admins are updated', async () => {
    const old = await startedAdmin({ dialect: 'D2', path: '' })
    const { executor, run } = await startRig({ handlers: { demo: () => {} } }, old)
    const sent = executor.events.next('resultsSent')
    await run(1)
    await sent
    expect(executor.status().admins).toEqual([{ address: old.address, version: 'before-3.5' }])
    const { port } = new URL(old.address)
    await old.stop()
    const updated = await startedAdmin({ dialect: 'D3', path: '', port: Number(port) })
    const sentAgain = executor.events.next('resultsSent')
    await run(2)
    expect(await sentAgain).toEqual({ adminAddress: old.address, logIds: [2] })
    expect(executor.status().admins).toEqual([{ address: old.address, version: '3.5' }])
    expect(updated.callbacks.map(({ body }) => body.slice(0, 1))).toEqual(['[', '{'])
  })

  test('is what was configured, and then no other one is tried', async () => {
    const admin = await startedAdmin({ dialect: 'D3' })
    const { executor, run } = await startRig(
      { handlers: { demo: () => {} }, adminVersion: 'before-3.5' },
      admin,
    )
    const waiting = executor.events.next('resultsWaiting')
    await run(1)
    expect((await waiting).error).toMatchObject({ code: 'ERR_XXL_JOB_ADMIN' })
    expect(admin.callbacks.map(({ body }) => body.slice(0, 1))).toEqual(['['])
  })
})
