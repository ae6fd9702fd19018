import {
  createXxlJobAdmin,
  createXxlJobExecutor,
  defineXxlJobWorker,
  XxlJob,
  XxlJobHelper,
  xxlJob,
  xxlJobFromData,
} from '../../src/xxl-job.ts'
import * as kinds from './kinds.ts'
import type { Surface } from './surface.ts'

const executor = createXxlJobExecutor({
  adminAddresses: 'http://127.0.0.1:1',
  appName: 'demo-executor',
  accessToken: null,
})
const admin = createXxlJobAdmin({ accessToken: null })
const handler: kinds.Kind = {
  good: () => {},
  code: 'ERR_INVALID_OPTION',
  wrong: [{ value: undefined }, { value: null }, { value: 'x' }, { value: {} }, { value: { execute: 5 } }],
}
const inRuns = { because: 'writes or answers nothing outside of a run, see test/xxl-job/handlers.test.ts' }

export const xxlJobSurfaces: readonly Surface[] = [
  {
    name: 'functions',
    subject: { defineXxlJobWorker, XxlJob, xxlJob, xxlJobFromData },
    calls: {
      xxlJob: { because: 'takes options, see test/xxl-job/xxl-job.test.ts' },
      xxlJobFromData: { because: 'takes options, see test/xxl-job/from-data.test.ts' },
      defineXxlJobWorker: {
        moduleUrl: { good: import.meta.url, wrong: [], code: '' },
        options: kinds.options({ exportName: kinds.name }),
      },
      XxlJob: { name: kinds.name, options: kinds.options({ init: kinds.name, destroy: kinds.name }) },
    },
  },
  {
    name: 'XxlJobExecutor',
    subject: executor,
    calls: {
      start: { because: 'takes nothing' },
      registerHandler: { name: kinds.name, handler },
      fetch: { because: 'a server calls it' },
      listener: { because: 'a server calls it' },
      status: {},
      close: { options: kinds.options({ timeoutMs: kinds.plus(kinds.number, { value: -1 }) }) },
    },
    rejects: { except: ['registerHandler'] },
  },
  {
    name: 'XxlJobAdmin',
    subject: admin,
    calls: {
      run: { because: 'takes options only, see test/xxl-job/admin.test.ts' },
      kill: { because: 'as run' },
      readLog: { because: 'as run' },
      connect: { because: 'a job of xxlJob calls it' },
      stop: { because: 'a job of xxlJob calls it' },
      countOf: { because: 'a broadcast of xxlJob calls it' },
      referenceOf: { because: 'a job of xxlJob calls it' },
      expectResult: { because: 'a job of xxlJob calls it' },
      executors: {},
      definitions: {},
      typesFromData: {},
      define: { because: 'xxlJob calls it' },
      defineFromData: { because: 'xxlJobFromData calls it' },
      fetch: { because: 'a server calls it' },
      listener: { because: 'a server calls it' },
      close: { because: 'takes nothing' },
    },
  },
  {
    name: 'XxlJobHelper',
    subject: XxlJobHelper,
    calls: {
      log: inRuns,
      handleSuccess: inRuns,
      handleFail: inRuns,
      handleTimeout: inRuns,
      handleResult: inRuns,
      getJobId: {},
      getJobParam: {},
      getShardIndex: {},
      getShardTotal: {},
      getLogId: {},
      getLogDateTime: {},
      getLogFileName: {},
      getContext: {},
    },
  },
]
