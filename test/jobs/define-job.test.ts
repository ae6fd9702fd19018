import { fileURLToPath } from 'node:url'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { DisallowConcurrentExecution, PersistJobDataAfterExecution } from '../../src/jobs/decorators.ts'
import { defineClassJob, defineJob, toJobDefinition } from '../../src/jobs/define-job.ts'
import { defineWorkerJob } from '../../src/jobs/define-worker-job.ts'
import { JobBuilder } from '../../src/jobs/job-builder.ts'
import type {
  InlineJobDefinition,
  Job,
  JobClass,
  JobExecutionContext,
  JobSource,
} from '../../src/jobs/job-definition.ts'
import { JobRegistry } from '../../src/jobs/job-registry.ts'

const context = { mergedJobDataMap: { to: 'ops' } } as unknown as JobExecutionContext<{ to: string }>

describe('defineJob', () => {
  it('fills in defaults and freezes the definition', () => {
    const definition = defineJob('report', () => 'sent')
    expect(definition).toMatchObject({
      kind: 'inline',
      jobType: 'report',
      description: null,
      disallowConcurrentExecution: false,
      persistJobDataAfterExecution: false,
      timeoutMs: null,
      retry: null,
      schema: null,
      jobClass: null,
    })
    expect(Object.isFrozen(definition)).toBe(true)
    expect(definition.execute(context as never)).toBe('sent')
  })

  it('takes every option', () => {
    const definition = defineJob('report', () => undefined, {
      description: 'Mails it',
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
      timeoutMs: 1000,
      retry: { attempts: 2 },
      schema: z.object({ to: z.string() }),
    })
    expect(definition).toMatchObject({
      description: 'Mails it',
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
      timeoutMs: 1000,
      retry: { attempts: 2 },
    })
  })

  it('takes the type of the data from the schema', () => {
    const definition = defineJob('report', (run) => run.mergedJobDataMap.to.length, {
      schema: z.object({ to: z.string() }),
    })
    expectTypeOf(definition).toEqualTypeOf<InlineJobDefinition<{ to: string }, number>>()
    // @ts-expect-error the schema says that the address is a string
    JobBuilder.newJob(definition).usingJobData('to', 1)
  })

  it.each([
    ['a blank name', () => defineJob('  ', () => undefined), 'ERR_INVALID_ARGUMENT', /job type is a name/],
    [
      'a name of 251 characters',
      () => defineJob('x'.repeat(251), () => undefined),
      'ERR_INVALID_ARGUMENT',
      /250/,
    ],
    [
      'no function',
      () => defineJob('a', 'b' as never),
      'ERR_INVALID_ARGUMENT',
      /'execute' must be a function, got 'b'/,
    ],
    [
      'a misspelt option',
      () => defineJob('a', () => 1, { timeout: 1 } as never),
      'ERR_INVALID_OPTION',
      /Did you mean 'timeoutMs'/,
    ],
    [
      'a timeout of 0',
      () => defineJob('a', () => 1, { timeoutMs: 0 }),
      'ERR_INVALID_OPTION',
      /'timeoutMs'.*from 1 to/,
    ],
    [
      'a flag that is no boolean',
      () => defineJob('a', () => 1, { disallowConcurrentExecution: 'no' as never }),
      'ERR_INVALID_OPTION',
      /true or false, got 'no'/,
    ],
    [
      'a schema that is none',
      () => defineJob('a', () => 1, { schema: {} as never }),
      'ERR_INVALID_OPTION',
      /Standard Schema/,
    ],
    [
      'no schema at all',
      () => defineJob('a', () => 1, { schema: 5 as never }),
      'ERR_INVALID_OPTION',
      /Standard Schema.*got 5/,
    ],
  ])('refuses %s', (_what, define, code, message) => {
    expect(define).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) as string }),
    )
  })
})

describe('class jobs', () => {
  class HelloJob implements Job<{ to: string }> {
    static instances = 0
    greeting = `hello ${++HelloJob.instances}`
    execute(run: JobExecutionContext<{ to: string }>): string {
      return `${this.greeting} ${run.mergedJobDataMap.to}`
    }
  }

  it('are named after their class and get one instance per execution', () => {
    const definition = defineClassJob(HelloJob)
    expectTypeOf(definition).toEqualTypeOf<InlineJobDefinition<{ to: string }>>()
    expect(definition.jobType).toBe('HelloJob')
    expect(definition.jobClass).toBe(HelloJob)
    expect([definition.execute(context), definition.execute(context)]).toEqual(['hello 1 ops', 'hello 2 ops'])
  })

  it('take name and flags from statics, also inherited ones', () => {
    class Base implements Job {
      static readonly persistJobDataAfterExecution = true
      execute(): void {}
    }
    class Derived extends Base {
      static readonly jobType = 'derived'
      static readonly disallowConcurrentExecution = true
    }
    expect(defineClassJob(Derived)).toMatchObject({
      jobType: 'derived',
      disallowConcurrentExecution: true,
      persistJobDataAfterExecution: true,
    })
    expect(defineClassJob(Base).disallowConcurrentExecution).toBe(false)
  })

  it('take flags from decorators, which subclasses inherit and bases do not', () => {
    class Plain implements Job {
      execute(): void {}
    }
    @DisallowConcurrentExecution
    @PersistJobDataAfterExecution
    class Decorated extends Plain {}
    class Below extends Decorated {}
    for (const jobClass of [Decorated, Below]) {
      expect(defineClassJob(jobClass)).toMatchObject({
        disallowConcurrentExecution: true,
        persistJobDataAfterExecution: true,
      })
    }
    expect(defineClassJob(Plain)).toMatchObject({
      disallowConcurrentExecution: false,
      persistJobDataAfterExecution: false,
    })
  })

  it('say of a function in place of a class that defineJob takes it', () => {
    for (const given of [() => {}, function report() {}]) {
      const define = (): unknown => defineClassJob(given as never)
      expect(define).toThrow(/no method 'execute\(context\)'.* wrap a function in defineJob/)
    }
    expect(() =>
      defineClassJob(
        class {
          execute(): void {}
        },
      ),
    ).toThrow(/class without a name .* static jobType/)
  })

  it('take decorators called as experimentalDecorators does', () => {
    class Legacy implements Job {
      execute(): void {}
    }
    DisallowConcurrentExecution(Legacy)
    expect(defineClassJob(Legacy).disallowConcurrentExecution).toBe(true)
  })

  it('need a name and an execute method', () => {
    expect(() =>
      defineClassJob(
        class implements Job {
          execute(): void {}
        },
      ),
    ).toThrow(/static jobType/)
    class Idle {
      run(): void {}
    }
    expect(() => defineClassJob(Idle as unknown as JobClass)).toThrow(
      /'Idle' has no method 'execute\(context\)'/,
    )
    expect(() => toJobDefinition((() => undefined) as never)).toThrow(/static jobType|no method 'execute/)
  })
})

describe('defineWorkerJob', () => {
  const moduleUrl = new URL('../fixtures/workers/echo.mjs', import.meta.url)

  it('takes a URL or its text', () => {
    const definition = defineWorkerJob<{ path: string }>('thumbs', moduleUrl, { timeoutMs: 5 })
    expect(definition).toMatchObject({
      kind: 'worker',
      jobType: 'thumbs',
      moduleUrl: moduleUrl.href,
      exportName: 'default',
      timeoutMs: 5,
    })
    expect(defineWorkerJob('thumbs', moduleUrl.href, { exportName: 'echo' })).toMatchObject({
      moduleUrl: moduleUrl.href,
      exportName: 'echo',
    })
    // @ts-expect-error the path is a string
    JobBuilder.newJob(definition).usingJobData({ path: 1 })
  })

  it('names the path of a module that is not there', () => {
    const missing = new URL('./nowhere.js', import.meta.url)
    expect(() => defineWorkerJob('thumbs', missing)).toThrow(
      expect.objectContaining({
        code: 'ERR_WORKER_MODULE',
        message: expect.stringContaining(`there is no file '${fileURLToPath(missing)}'`) as string,
      }),
    )
    expect(() => defineWorkerJob('thumbs', new URL('.', import.meta.url))).toThrow(/there is no file/)
  })

  it.each([
    ['a path', './thumbs.js', /is not a URL.*new URL\(/],
    ['an object without a prototype', Object.create(null) as string, /a plain object is not a URL/],
    ['a web address', 'https://example.com/job.js', /must be a file, got a https: URL/],
    ['a data URL', 'data:text/javascript,1', /must be a file/],
    ['a file of another machine', 'file://host/job.js', /'file:\/\/host\/job.js': File URL host.*new URL\(/],
    ['an encoded slash', 'file:///a%2Fb.js', /'file:\/\/\/a%2Fb.js': File URL path.*new URL\(/],
  ])('refuses %s', (_what, url, message) => {
    expect(() => defineWorkerJob('thumbs', url)).toThrow(
      expect.objectContaining({
        code: 'ERR_WORKER_MODULE',
        message: expect.stringMatching(message) as string,
      }),
    )
  })

  it('refuses wrong options', () => {
    expect(() => defineWorkerJob('a', moduleUrl, { exportName: '' })).toThrow(/'exportName'/)
    expect(() => defineWorkerJob('a', moduleUrl, { export: 'b' } as never)).toThrow(/unknown option 'export'/)
  })
})

describe('toJobDefinition', () => {
  it('gives definitions back as they are', () => {
    const definition = defineJob('a', () => undefined)
    expect(toJobDefinition(definition)).toBe(definition)
  })

  it('refuses anything else', () => {
    for (const wrong of [null, undefined, 'report', {}, { kind: 'other' }]) {
      expect(() => {
        new JobRegistry([wrong as never])
      }).toThrow(/'jobs' must be what defineJob or defineWorkerJob returned/)
    }
  })

  it('lets jobs of different data stand in one list', () => {
    interface Mail {
      to: string
    }
    class MailJob implements Job<Mail> {
      execute(run: JobExecutionContext<Mail>): string {
        return run.mergedJobDataMap.to
      }
    }
    const jobs: readonly JobSource[] = [defineJob<Mail>('a', () => 1), defineJob('b', () => 2), MailJob]
    expect(jobs.map((job) => toJobDefinition(job).jobType)).toEqual(['a', 'b', 'MailJob'])
  })
})
