import { describe, expect, test } from 'vitest'
import { createXxlJobExecutor, XxlJob, type XxlJobContext, XxlJobHelper } from '../../src/xxl-job.ts'
import { startRig } from './executor-fixture.ts'

const required = { adminAddresses: 'http://127.0.0.1:1', appName: 'demo-executor', accessToken: null }

test('a handler object may have a kind of its own', async () => {
  class Invoices {
    readonly kind = 'billing'
    execute(context: XxlJobContext): void {
      context.handleSuccess(this.kind)
    }
  }
  const { run, admin } = await startRig({ handlers: { demo: new Invoices() } })
  await run(1)
  expect(await admin.resultOf(1)).toMatchObject({ code: 200, msg: 'billing' })
})

describe('@XxlJob (X23)', () => {
  class Base {
    readonly calls: string[] = []

    @XxlJob('inherited')
    inherited(context: XxlJobContext): void {
      this.calls.push(`inherited ${context.param}`)
    }
  }

  class Billing extends Base {
    @XxlJob('invoices', { init: 'connect', destroy: 'disconnect' })
    async invoices(context: XxlJobContext): Promise<void> {
      await Promise.resolve()
      this.calls.push(`invoices ${context.param}`)
    }

    connect(): void {
      this.calls.push('connect')
    }

    disconnect(): void {
      this.calls.push('disconnect')
    }

    @XxlJob('static')
    static ofClass(): void {
      XxlJobHelper.handleSuccess('of the class')
    }
  }

  test('makes methods handlers, with init and destroy of the same object', async () => {
    const billing = new Billing()
    const { run, call, admin, executor } = await startRig({ instances: [billing, Billing] })
    expect(executor.status().handlers).toEqual(['invoices', 'inherited', 'static'])
    await run(1, { executorHandler: 'invoices', executorParams: 'May' })
    await admin.resultOf(1)
    await run(2, { jobId: 2, executorHandler: 'inherited', executorParams: 'x' })
    await admin.resultOf(2)
    await run(3, { jobId: 3, executorHandler: 'static' })
    expect(await admin.resultOf(3)).toMatchObject({ msg: 'of the class' })
    await call('/kill', { jobId: 17 })
    await executor.close()
    expect(billing.calls).toEqual(['connect', 'invoices May', 'inherited x', 'disconnect'])
  })

  test('works under experimentalDecorators', () => {
    class Old {
      work(): void {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Old.prototype, 'work') ?? {}
    XxlJob('old')(Old.prototype, 'work', descriptor)
    const executor = createXxlJobExecutor({ ...required, instances: [new Old()] })
    expect(executor.status().handlers).toEqual(['old'])
  })

  test.each([
    ['an object without one', () => [{}], 'has no method with @XxlJob'],
    ['no object', (): object[] => JSON.parse('[5]') as object[], 'has no method with @XxlJob'],
    ['two with one name', () => [new Billing(), new Billing()], "there is a handler 'invoices' already"],
    [
      'an init that is no method',
      () => {
        class Wrong {
          @XxlJob('wrong', { init: 'missing' })
          work(): void {}
        }
        return [new Wrong()]
      },
      "names 'missing', which is no method",
    ],
    [
      'one that another decorator hides',
      () => {
        const wrap = (method: () => void) => (): void => {
          method()
        }
        class Hidden {
          @wrap
          @XxlJob('hidden')
          work(): void {}
        }
        return [new Hidden()]
      },
      'is hidden by another decorator',
    ],
  ])('refuses %s', (_name, instances, message) => {
    expect(() => createXxlJobExecutor({ ...required, instances: instances() })).toThrow(message)
  })

  test('refuses what is no method', () => {
    expect(() => {
      XxlJob('field')({}, 'x', {})
    }).toThrow('is for public methods of classes')
  })
})

test('two handlers of one name are refused, also later', () => {
  const executor = createXxlJobExecutor({ ...required, handlers: { demo: () => {} } })
  expect(() => {
    executor.registerHandler('demo', () => {})
  }).toThrow("there is a handler 'demo' already")
})

describe('the context (X21, X24)', () => {
  test('has what the admin sent', async () => {
    let seen: object = {}
    const { run, admin } = await startRig({
      timeZone: 'UTC',
      handlers: {
        demo: ({ jobId, logId, logDateTime, handler, param, shard, logFileName, signal }) => {
          seen = { jobId, logId, logDateTime, handler, param, shard, logFileName, aborted: signal.aborted }
        },
      },
    })
    await run(1, { executorParams: 'a=1', broadcastIndex: 2, broadcastTotal: 3 })
    await admin.resultOf(1)
    expect(seen).toMatchObject({
      jobId: 17,
      logId: 1,
      logDateTime: new Date(1_790_000_000_123),
      handler: 'demo',
      param: 'a=1',
      shard: { index: 2, total: 3 },
      logFileName: expect.stringMatching(/2026-09-21\/1\.log$/) as string,
      aborted: false,
    })
  })

  test('is found by module functions after awaits and timers, each run its own', async () => {
    const deep = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      await new Promise((resolve) => setImmediate(resolve))
      XxlJobHelper.log('I am {} of {}', XxlJobHelper.getShardIndex(), XxlJobHelper.getShardTotal())
      XxlJobHelper.handleResult(
        200,
        [XxlJobHelper.getJobId(), XxlJobHelper.getLogId(), XxlJobHelper.getJobParam()].join(' '),
      )
    }
    const { run, call, admin } = await startRig({ handlers: { demo: deep } })
    await run(1, { jobId: 1, executorParams: 'a', broadcastIndex: 0, broadcastTotal: 2 })
    await run(2, { jobId: 2, executorParams: 'b', broadcastIndex: 1, broadcastTotal: 2 })
    expect((await admin.resultOf(1)).msg).toBe('1 1 a')
    expect((await admin.resultOf(2)).msg).toBe('2 2 b')
    const { data } = await call('/log', { logId: 2, logDateTime: 1_790_000_000_123, fromLineNum: 1 })
    expect(JSON.stringify(data)).toContain('I am 1 of 2')
  })

  test('is not there outside of a run', () => {
    expect(XxlJobHelper.log('x')).toBe(false)
    expect(XxlJobHelper.handleSuccess()).toBe(false)
    expect(XxlJobHelper.handleFail()).toBe(false)
    expect(XxlJobHelper.handleTimeout()).toBe(false)
    expect(XxlJobHelper.getJobId()).toBe(-1)
    expect(XxlJobHelper.getLogDateTime()).toBe(-1)
    expect(XxlJobHelper.getLogFileName()).toBeNull()
    expect(XxlJobHelper.getContext()).toBeNull()
  })
})
