import { describe, expect, test } from 'vitest'
import { resolveExecutorOptions } from '../../src/xxl-job/executor/executor-options.ts'
import { createXxlJobExecutor, type XxlJobExecutorOptions } from '../../src/xxl-job.ts'
import { temporaryFolder } from './executor-fixture.ts'

const required = { adminAddresses: 'http://127.0.0.1:1', appName: 'demo-executor', accessToken: 's3cret' }

describe('createXxlJobExecutor', () => {
  test('fills in defaults, and freezes them', () => {
    const options = resolveExecutorOptions(required)
    expect(Object.isFrozen(options)).toBe(true)
    expect(options).toMatchObject({
      adminAddresses: ['http://127.0.0.1:1'],
      port: undefined,
      host: '0.0.0.0',
      logRetentionDays: 30,
      maxLogBytes: 1_073_741_824,
      callbackShape: null,
      adminTimeoutMs: 3000,
      interruptGraceMs: 5000,
      maxQueuedPerJob: 10_000,
      maxQueued: 100_000,
      maxResults: 100_000,
    })
    expect(options.scripts.size).toBe(0)
  })

  test('listens on the loopback interface only where there is no token', () => {
    expect(resolveExecutorOptions({ ...required, accessToken: null }).host).toBe('127.0.0.1')
    expect(resolveExecutorOptions({ ...required, accessToken: null, host: '0.0.0.0' }).host).toBe('0.0.0.0')
  })

  test('takes admins as a list or as one text, with and without a slash at the end', () => {
    const addressesOf = (adminAddresses: string | readonly string[]): readonly string[] =>
      resolveExecutorOptions({ ...required, adminAddresses }).adminAddresses
    const both = ['http://a:8080/xxl-job-admin', 'https://b']
    expect(addressesOf('http://a:8080/xxl-job-admin/ , https://b/,')).toEqual(both)
    expect(addressesOf(both)).toEqual(both)
  })

  test.each([
    ['adminAddresses', undefined],
    ['adminAddresses', ' , '],
    ['adminAddresses', 'ftp://a'],
    ['adminAddresses[0]', [5]],
    ['appName', undefined],
    ['appName', 'abc'],
    ['appName', '<b>bold</b>'],
    ['appName', '账单执行器'],
    ['appName', 'demo\u00e9'],
    ['accessToken', undefined],
    ['accessToken', ''],
    ['accessToken', 'a b'],
    ['accessToken', 'a\nb'],
    ['handlers', []],
    ['handlers.demo', { demo: 5 }],
    ['instances', {}],
    ['port', 65_536],
    ['port', '9999'],
    ['address', 'here'],
    ['address', 'http://10.0.0.7/?x'],
    ['adminAddresses', 'http://user:secret@a'],
    ['basePath', 'xxl'],
    ['logRetentionDays', 2],
    ['maxLogBytes', 1],
    ['timeZone', 5],
    ['adminVersion', '2'],
    ['adminTimeoutMs', 999],
    ['scripts[0]', ['GLUE_GROOVY']],
    ['threadPool', 5],
    ['maxQueued', 0],
    ['maxQueuedPerJob', 0],
    ['maxResults', 0],
    ['interruptGraceMs', -1],
    ['logger', {}],
    ['clock', {}],
    ['handler', {}],
  ])('refuses a wrong %s: %j', (field, value) => {
    const name = field.replace(/[.[].*$/, '')
    const options = { ...required, [name]: value } as unknown as XxlJobExecutorOptions
    expect(() => createXxlJobExecutor(options)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field }),
    )
  })

  test('needs an address where it listens on no port', () => {
    expect(() => createXxlJobExecutor({ ...required, port: null })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', field: 'address' }),
    )
  })

  test('refuses an unknown zone', () => {
    expect(() => createXxlJobExecutor({ ...required, timeZone: 'Mars/Base' })).toThrow(
      expect.objectContaining({ code: 'ERR_UNKNOWN_TIME_ZONE' }),
    )
  })

  test('warns of the token of the samples, which everybody knows', async () => {
    const warnings: string[] = []
    const ignore = (): void => {}
    const logger = {
      debug: ignore,
      info: ignore,
      error: ignore,
      warn: (_fields: object, message: string) => {
        warnings.push(message)
      },
    }
    const executor = createXxlJobExecutor({
      ...required,
      accessToken: 'default_token',
      port: null,
      address: 'http://10.0.0.7:1/',
      logPath: temporaryFolder(),
      logger,
    })
    await executor.start()
    await executor.close()
    expect(warnings[0]).toContain('choose another')
  })
})
