import type { EpochMs } from '../../time/clock.ts'
import { MessageReader, numberOf } from './message-reader.ts'

/** What to do with a run of a job that runs already. */
export type BlockStrategy = 'SERIAL_EXECUTION' | 'DISCARD_LATER' | 'COVER_EARLY'

/** The titles by which messages call them. */
export const blockStrategies: Readonly<Record<BlockStrategy, string>> = {
  SERIAL_EXECUTION: 'Serial execution',
  DISCARD_LATER: 'Discard Later',
  COVER_EARLY: 'Cover Early',
}

/** The kinds of code that an admin can name. */
export type GlueType =
  | 'BEAN'
  | 'GLUE_GROOVY'
  | 'GLUE_SHELL'
  | 'GLUE_PYTHON'
  | 'GLUE_PYTHON2'
  | 'GLUE_NODEJS'
  | 'GLUE_POWERSHELL'
  | 'GLUE_PHP'

/** The titles by which messages call them. */
export const glueTypes: Readonly<Record<GlueType, string>> = {
  BEAN: 'BEAN',
  GLUE_GROOVY: 'GLUE(Java)',
  GLUE_SHELL: 'GLUE(Shell)',
  GLUE_PYTHON: 'GLUE(Python3)',
  GLUE_PYTHON2: 'GLUE(Python2)',
  GLUE_NODEJS: 'GLUE(Nodejs)',
  GLUE_POWERSHELL: 'GLUE(PowerShell)',
  GLUE_PHP: 'GLUE(PHP)',
}

/** One run that an admin asks for; the same fields in all versions. */
export interface TriggerRequest {
  readonly jobId: number
  readonly executorHandler: string
  readonly executorParams: string
  readonly blockStrategy: BlockStrategy
  /** Seconds; 0 and below: none. */
  readonly executorTimeout: number
  readonly logId: number
  readonly logDateTimeMs: EpochMs
  /** As it was sent: it may be unknown. */
  readonly glueType: string
  readonly glueSource: string
  readonly glueUpdatetime: number
  readonly broadcastIndex: number
  readonly broadcastTotal: number
}

/** @throws MalformedRequest */
export function readTriggerRequest(body: string, nowMs: EpochMs): TriggerRequest {
  const fields = new MessageReader(body)
  const logDateTimeMs = fields.whole('logDateTime', 0)
  const strategy = fields.text('executorBlockStrategy')
  return {
    jobId: fields.whole('jobId'),
    executorHandler: fields.text('executorHandler') ?? '',
    executorParams: fields.text('executorParams') ?? '',
    blockStrategy: isBlockStrategy(strategy) ? strategy : 'SERIAL_EXECUTION',
    executorTimeout: fields.whole('executorTimeout', 0),
    logId: fields.whole('logId'),
    logDateTimeMs: isDateMs(logDateTimeMs) ? logDateTimeMs : nowMs,
    glueType: fields.text('glueType') ?? '',
    glueSource: fields.text('glueSource') ?? '',
    glueUpdatetime: fields.whole('glueUpdatetime', 0),
    broadcastIndex: fields.whole('broadcastIndex', 0),
    broadcastTotal: fields.whole('broadcastTotal', 1),
  }
}

export interface LogRequest {
  readonly logId: number
  readonly logDateTimeMs: EpochMs
  /** From 1. */
  readonly fromLineNum: number
}

/** The field of the time is `logDateTim` up to 3.4 and `logDateTime` from 3.5 on. @throws MalformedRequest */
export function readLogRequest(body: string, nowMs: EpochMs): LogRequest {
  const fields = new MessageReader(body)
  const field = fields.has('logDateTim') ? 'logDateTim' : 'logDateTime'
  const logDateTimeMs = fields.whole(field, 0)
  return {
    logId: fields.whole('logId'),
    logDateTimeMs: isDateMs(logDateTimeMs) ? logDateTimeMs : nowMs,
    fromLineNum: Math.max(1, fields.whole('fromLineNum', 1)),
  }
}

/** The body of `idleBeat` and `kill`. @throws MalformedRequest */
export function readJobId(body: string): number {
  return new MessageReader(body).whole('jobId')
}

/** What an executor answers to `log`. */
export interface LogResult {
  readonly fromLineNum: number
  /** The last line that was answered; 0 when there is none. */
  readonly toLineNum: number
  readonly logContent: string
  readonly isEnd: boolean
}

/** A page of a log in the content of an answer, or null when it is none; absent fields are those of an empty page. */
export function readLogResult(content: unknown): LogResult | null {
  if (typeof content !== 'object' || content === null) return null
  const whole = (name: string): number => {
    const value = numberOf(Reflect.get(content, name))
    return Number.isSafeInteger(value) ? value : 0
  }
  const text: unknown = Reflect.get(content, 'logContent')
  return {
    fromLineNum: whole('fromLineNum'),
    toLineNum: whole('toLineNum'),
    logContent: typeof text === 'string' ? text : '',
    isEnd: Reflect.get(content, 'isEnd') === true,
  }
}

function isBlockStrategy(text: string | null): text is BlockStrategy {
  return text !== null && Object.hasOwn(blockStrategies, text)
}

export function isGlueType(text: string): text is GlueType {
  return Object.hasOwn(glueTypes, text)
}

/** Whether it is an instant of the years 1970 to 9999. */
function isDateMs(ms: number): boolean {
  return ms > 0 && ms < 253_402_300_800_000
}
