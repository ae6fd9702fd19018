import type { XxlJobDefinition } from './admin-face.ts'
import { onceKeys } from './remote-place.ts'
import { type ResolvedRun, resolveRun, type XxlJobRunOptions } from './run-options.ts'

/** What the data of a job of `xxlJobFromData` say, as `quartz-ts xxl import` writes them. */
export interface XxlJobData
  extends Pick<
    XxlJobRunOptions,
    | 'appName'
    | 'jobId'
    | 'handler'
    | 'param'
    | 'route'
    | 'blockStrategy'
    | 'timeoutSeconds'
    | 'resultTimeoutMs'
  > {
  /** A script or class in place of a handler. Default none. */
  readonly glue?: {
    readonly type: NonNullable<XxlJobRunOptions['glue']>['type']
    readonly source: string
    /** Epoch milliseconds. */
    readonly updated: number
  }
}

const dataNames: readonly (keyof XxlJobData)[] = [
  'appName',
  'jobId',
  'handler',
  'param',
  'route',
  'blockStrategy',
  'timeoutSeconds',
  'resultTimeoutMs',
  'glue',
]

/** The run that the data of a job ask for; further fields do not matter. @throws InvalidArgumentError */
export function runOfData(data: object, resultTimeoutMs: number | undefined): ResolvedRun {
  const given = chosen(data as XxlJobData, dataNames)
  return resolveRun({ ...(resultTimeoutMs !== undefined && { resultTimeoutMs }), ...given })
}

export function definitionOfRun(jobType: string, run: ResolvedRun): XxlJobDefinition {
  const { appName, jobId, handler, route, blockStrategy, timeoutSeconds, glue = null } = run
  return { jobType, appName, jobId, handler, route, blockStrategy, timeoutSeconds, glue }
}

/** What executors are sent for a job of `xxlJobFromData`; null for data of which no run can be made. */
export function definitionOfData(jobType: string, data: object): XxlJobDefinition | null {
  try {
    return definitionOfRun(jobType, runOfData(data, undefined))
  } catch {
    return null
  }
}

/** What a run that somebody asked for by hand has in place of what the definition says. */
export function onceOf(data: object): Pick<ResolvedRun, 'address'> & Partial<Pick<ResolvedRun, 'param'>> {
  const param: unknown = Reflect.get(data, onceKeys.param)
  const address: unknown = Reflect.get(data, onceKeys.address)
  return {
    ...(typeof param === 'string' && { param }),
    ...(typeof address === 'string' && { address }),
  }
}

/** Those of the options that are given. */
export function chosen<Options extends object, Name extends keyof Options>(
  options: Options,
  names: readonly Name[],
): Pick<Options, Name> {
  const given = names.filter((name) => options[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, options[name]])) as unknown as Pick<Options, Name>
}
