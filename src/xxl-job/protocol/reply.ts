import { numberOf } from './message-reader.ts'

/** How a call or a run ended. */
export const xxlJobCodes = { success: 200, failure: 500, timeout: 502 } as const

/** An answer of either side. */
export interface Reply {
  readonly code: number
  readonly msg: string | null
  readonly content: unknown
}

export function success(content: unknown = null, msg: string = 'Success'): Reply {
  return { code: xxlJobCodes.success, msg, content }
}

export function failure(msg: string): Reply {
  return { code: xxlJobCodes.failure, msg, content: null }
}

/** As text that all versions read: up to 3.2 the content is under `content`, from 3.3 on under `data`. */
export function encodeReply({ code, msg, content }: Reply): string {
  return JSON.stringify({ code, msg, data: content, content })
}

/** The answer in a text, or null when the text is no answer. */
export function decodeReply(text: string): Reply | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  if (typeof parsed !== 'object' || parsed === null) return null
  const code = numberOf(Reflect.get(parsed, 'code'))
  if (!Number.isInteger(code)) return null
  const msg: unknown = Reflect.get(parsed, 'msg')
  const content: unknown = Reflect.get(parsed, 'data') ?? Reflect.get(parsed, 'content') ?? null
  return { code, msg: typeof msg === 'string' ? msg : null, content }
}

/**
 * The answer of an executor in a text, or null when the text is none. The executor in Go answers errors with an array
 * of results, of which the first one says what happened.
 */
export function decodeExecutorReply(text: string): Reply | null {
  const reply = decodeReply(text)
  if (reply !== null || !text.trimStart().startsWith('[')) return reply
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return null
  }
  const [first] = Array.isArray(parsed) ? (parsed as readonly unknown[]) : []
  if (typeof first !== 'object' || first === null) return null
  const inner: unknown = Reflect.get(first, 'executeResult')
  const result = typeof inner === 'object' && inner !== null ? inner : {}
  const code = numberOf(Reflect.get(result, 'code') ?? Reflect.get(first, 'handleCode'))
  const msg: unknown = Reflect.get(result, 'msg') ?? Reflect.get(first, 'handleMsg')
  return Number.isInteger(code) ? { code, msg: typeof msg === 'string' ? msg : null, content: null } : null
}
