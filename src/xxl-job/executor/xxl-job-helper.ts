import { AsyncLocalStorage } from 'node:async_hooks'
import type { XxlJobContext } from './run-context.ts'

/** The context of the run in which the caller is, however many awaits and timers lie between. */
const contexts = new AsyncLocalStorage<XxlJobContext>()

/** Calls a function within a run. */
export function withinRun<Answer>(context: XxlJobContext, work: () => Answer): Answer {
  return contexts.run(context, work)
}

/**
 * What Java handlers call `XxlJobHelper`: the same as the context of the run, for code that was not given it. Outside
 * of a run nothing is written or set, which the functions answer with false; ids are -1 and texts null there.
 */
export const XxlJobHelper: {
  /** Writes a line to the log of the run; each `{}` in the text stands for the next value. */
  log(text: unknown, ...values: readonly unknown[]): boolean
  handleSuccess(msg?: string): boolean
  handleFail(msg?: string): boolean
  handleTimeout(msg?: string): boolean
  handleResult(code: number, msg?: string): boolean
  getJobId(): number
  getJobParam(): string | null
  getShardIndex(): number
  getShardTotal(): number
  getLogId(): number
  /** Milliseconds since the epoch. */
  getLogDateTime(): number
  getLogFileName(): string | null
  /** The whole context, or null outside of a run. */
  getContext(): XxlJobContext | null
} = Object.freeze({
  log: (text: unknown, ...values: readonly unknown[]) =>
    inRun((context) => {
      context.log(text, ...values)
    }),
  handleSuccess: (msg?: string) =>
    inRun((context) => {
      context.handleSuccess(msg)
    }),
  handleFail: (msg?: string) =>
    inRun((context) => {
      context.handleFail(msg)
    }),
  handleTimeout: (msg?: string) =>
    inRun((context) => {
      context.handleTimeout(msg)
    }),
  handleResult: (code: number, msg?: string) =>
    inRun((context) => {
      context.handleResult(code, msg)
    }),
  getJobId: () => contexts.getStore()?.jobId ?? -1,
  getJobParam: () => contexts.getStore()?.param ?? null,
  getShardIndex: () => contexts.getStore()?.shard.index ?? -1,
  getShardTotal: () => contexts.getStore()?.shard.total ?? -1,
  getLogId: () => contexts.getStore()?.logId ?? -1,
  getLogDateTime: () => contexts.getStore()?.logDateTime.getTime() ?? -1,
  getLogFileName: () => contexts.getStore()?.logFileName ?? null,
  getContext: () => contexts.getStore() ?? null,
})

function inRun(call: (context: XxlJobContext) => void): boolean {
  const context = contexts.getStore()
  if (context === undefined) return false
  call(context)
  return true
}
