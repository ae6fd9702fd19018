import type { EpochMs } from '../../time/clock.ts'

/** How a run ended. */
export interface JobResult {
  readonly logId: number
  readonly logDateTimeMs: EpochMs
  readonly handleCode: number
  readonly handleMsg: string
}

/**
 * The shape of the body that an admin takes results in: up to 3.4 an array, from 3.5 on an object. No body suits both.
 */
export type CallbackShape = 'array' | 'object'

/** The elements of an array have the fields of 2.2 and those of 2.3 and later, of which each admin reads its own. */
export function encodeCallback(shape: CallbackShape, results: readonly JobResult[]): string {
  if (shape === 'object') {
    return JSON.stringify({
      callbackList: results.map(({ logId, logDateTimeMs, handleCode, handleMsg }) => {
        return { logId, logDateTime: logDateTimeMs, handleCode, handleMsg }
      }),
    })
  }
  return JSON.stringify(
    results.map(({ logId, logDateTimeMs, handleCode, handleMsg }) => ({
      logId,
      logDateTim: logDateTimeMs,
      handleCode,
      handleMsg,
      executeResult: { code: handleCode, msg: handleMsg },
    })),
  )
}

/** The body of `registry` and `registryRemove`. */
export function encodeRegistry(appName: string, address: string): string {
  return JSON.stringify({ registryGroup: 'EXECUTOR', registryKey: appName, registryValue: address })
}

/** Names of the headers, as Node.js has them. */
export const accessTokenHeader = 'xxl-job-access-token'
export const appNameHeader = 'xxl-job-appname'
