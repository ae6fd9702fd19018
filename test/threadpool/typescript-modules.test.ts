import { describe, expect, it } from 'vitest'
import { requireRunnableModule, type ThreadFlags } from '../../src/threadpool/typescript-modules.ts'

const plain: ThreadFlags = { execArgv: [], env: {} }
const stripsTypes = Boolean(Reflect.get(process.features, 'typescript'))

describe('requireRunnableModule', () => {
  it.each(['job.js', 'job.mjs', 'job.cjs', 'job', 'ts.js'])('takes %s anywhere', (name) => {
    expect(() => {
      requireRunnableModule(`file:///app/${name}`, plain)
    }).not.toThrow()
  })

  it.each([
    [['--import', 'tsx'], {}],
    [['--import=tsx'], {}],
    [['--experimental-loader', 'ts-node/esm'], {}],
    [['-r', 'ts-node/register'], {}],
    [['--experimental-strip-types'], {}],
    [[], { NODE_OPTIONS: '--no-warnings --import tsx' }],
  ])('takes TypeScript with the flags %j and the environment %j', (execArgv, env) => {
    expect(() => {
      requireRunnableModule('file:///app/job.ts', { execArgv, env })
    }).not.toThrow()
  })

  it.each([
    [[], {}],
    [['--no-warnings', '--importance'], {}],
    [['--experimental-strip-types'], {}],
    [[], { NODE_OPTIONS: '--no-warnings' }],
  ])('refuses .tsx with the flags %j and the environment %j, saying how', (execArgv, env) => {
    expect(() => {
      requireRunnableModule('file:///app/job.tsx', { execArgv, env })
    }).toThrow(
      expect.objectContaining({
        code: 'ERR_WORKER_MODULE',
        message: expect.stringMatching(
          /TypeScript.*Compile it.*Node 22\.18.*tsx\/esm\/api.*\['--import', new URL\('\.\/register-tsx\.js'/,
        ) as string,
      }),
    )
  })

  it.each(['job.ts', 'job.mts', 'job.cts'])('takes %s exactly where Node strips types itself', (name) => {
    const check = (): void => {
      requireRunnableModule(`file:///app/${name}`, plain)
    }
    if (stripsTypes) expect(check).not.toThrow()
    else expect(check).toThrow(/is TypeScript/)
  })
})
