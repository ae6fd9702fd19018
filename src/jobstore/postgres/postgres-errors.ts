import { type ErrorCode, JobPersistenceError } from '../../core/errors.ts'
import { textOf } from '../../core/thrown-value.ts'
import { fieldsOf } from './error-fields.ts'

/** A kind of failure of the database or of the connection to it. */
export type FaultReason = 'busy' | 'connection' | 'serialization' | 'constraint' | 'schema' | 'unknown'

export interface PostgresFault {
  readonly reason: FaultReason
  /** How often a transaction may be run again after it; 0 when that cannot help. */
  readonly retries: number
  /** The connection cannot be used any more and must not go back to the pool. */
  readonly dropsConnection: boolean
  /** What to do, as a sentence; empty when the server's message says it. */
  readonly remedy: string
}

const fault = (
  reason: FaultReason,
  retries: number,
  remedy = '',
  dropsConnection = reason === 'connection',
): PostgresFault => ({ reason, retries, dropsConnection, remedy })

const away = fault(
  'connection',
  5,
  'Check that the server runs and can be reached; a started scheduler tries again by itself.',
)
const refused = fault(
  'connection',
  0,
  'Check user, password and the rights of the user in the connection options.',
)
const pooler =
  'A transaction pooler stands between, or took the place of the server: set preparedStatements to false.'

/** PgBouncer ends the connection of who begins a transaction. */
const poolsStatements = fault(
  'connection',
  0,
  'PgBouncer pools statements, and a store needs transactions: set pool_mode = transaction, or session, there.',
)

const tooLong = 'A statement took too long or was cancelled: raise statementTimeoutMs if that is its pace.'
/** A statement that was cancelled before it took too long. */
export const cancelledFault: PostgresFault = fault('busy', 10, tooLong)

/** After a fail-over the client may have reached the demoted server. */
const onlyReads = fault('connection', 5, 'The server only reads: connect to the primary.')

/** The SQLSTATE of a server, role or database that has no connection left. */
const tooManyConnections = '53300'

/** By SQLSTATE, or by its class (the first two characters). */
const faults: Readonly<Record<string, PostgresFault>> = {
  '40P01': fault('busy', 10),
  '55P03': fault(
    'busy',
    2,
    'Another transaction holds a lock for long: see what it does, or raise lockTimeoutMs.',
  ),
  '57014': fault('busy', 0, tooLong),
  [tooManyConnections]: fault(
    'busy',
    5,
    'The server has no connection left: lower poolSize or raise its max_connections.',
  ),
  '53': fault(
    'busy',
    0,
    'The server lacks disk, memory or another resource; work goes on when it has it again.',
  ),
  '40': fault('serialization', 10),
  // Two transactions stored or deleted the same row; run again, the later one sees the result of the other. Where jobs
  // go with their runs, that may be gone by then, and the next one in its way.
  '23503': fault('constraint', 5),
  '23505': fault('constraint', 5),
  '23': fault('constraint', 0),
  '22': fault('constraint', 0, 'A value does not fit its column.'),
  '22P05': fault(
    'constraint',
    0,
    "The database's encoding does not have this character: write the text otherwise, or use a database in UTF8.",
  ),
  '08': away,
  '57P01': away,
  '57P02': away,
  '57P03': away,
  '57P05': away,
  '25P03': away,
  '25P04': fault(
    'connection',
    5,
    'The server ended the session because a transaction took longer than its transaction_timeout: raise that for ' +
      'this role or database, or set it to 0.',
  ),
  '25006': onlyReads,
  '28': refused,
  '3D': fault('connection', 0, 'Create the database, or correct its name in the connection options.'),
  '42501': fault(
    'schema',
    0,
    'Grant the user the rights that the message names, or do this as a role that has them.',
  ),
  '42P05': fault('schema', 2, pooler, true),
  '26000': fault('schema', 2, pooler, true),
  // "cached plan must not change result type": a migration has run since; a new connection has no plans.
  '0A000': fault('schema', 2, '', true),
  '42P01': fault(
    'schema',
    0,
    "The tables are not there, or not where this user finds them: check the option 'schema', the search_path of the " +
      'user and its USAGE on the schema. Migrate only then: elsewhere that makes a second, empty set of tables.',
  ),
  '42': fault('schema', 0, "The tables are not as this version knows them: run the store's migrations."),
  '3F': fault('schema', 0, "The schema does not exist: create it, or correct the option 'schema'."),
  '25': fault('unknown', 0),
}

/** Where the limit of a role or a database is meant, by the routine of the server that looks after it. */
const limitRemedies: Readonly<Record<string, string>> = {
  InitializeSessionUserId:
    'It is the limit of this role: lower poolSize or raise ALTER ROLE ... CONNECTION LIMIT.',
  CheckMyDatabase:
    'It is the limit of this database: lower poolSize or raise ALTER DATABASE ... CONNECTION LIMIT.',
}

const unknownFault = fault('unknown', 0)
const tlsFault = fault('connection', 0, "Check the option 'ssl' of the connection.")

// Excludes EPIPE and the like: SQLSTATEs of errors begin with a digit, except those of the foreign-data and PL classes.
const sqlStatePattern = /^([0-9][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/
const lostCodes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|EHOST|ENET|EADDRNOTAVAIL|ENOENT|EACCES|ERR_STREAM|ERR_SOCKET)/
const tlsCodes = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|EPROTO)/
const lostMessages =
  /^(Connection terminated|Connection ended|Client (was closed|has encountered)|Query read timeout|timeout e)/i
const tlsMessages = /does not support SSL|no encryption/i

/** The meaning of an error of the driver. */
export function judgeError(error: unknown): PostgresFault {
  if (error instanceof DatabaseFailure) return error.fault
  const { code = '', severity = '', routine = '' } = fieldsOf(error)
  const message = thrownMessage(error)
  if (tlsCodes.test(code) || tlsMessages.test(message)) return tlsFault
  if (isRefusedToWrite(code, routine, message)) return onlyReads
  if (message.includes('statement pooling mode')) return poolsStatements
  if (sqlStatePattern.test(code)) {
    const known = faults[code] ?? faults[code.slice(0, 2)]
    const limitRemedy = code === tooManyConnections ? limitRemedies[routine] : undefined
    if (known !== undefined && limitRemedy !== undefined) return { ...known, remedy: limitRemedy }
    if (known !== undefined) return known
    // After a FATAL error the server ends the connection.
    return /^(FATAL|PANIC)$/.test(severity) ? away : unknownFault
  }
  return lostCodes.test(code) || lostMessages.test(message) ? away : unknownFault
}

/** A standby answers so to the `READ WRITE` of a BEGIN. The routine is the same in each language of messages. */
function isRefusedToWrite(code: string, routine: string, message: string): boolean {
  return code === '0A000' && (routine === 'call_bool_check_hook' || message.includes('during recovery'))
}

/** Connecting to a name with several addresses fails with an error that has one cause for each and no message. */
export function thrownMessage(error: unknown): string {
  const first: unknown = error instanceof AggregateError && error.message === '' ? error.errors[0] : error
  return textOf(first)
}

/**
 * An error of the driver with its meaning. Used in this folder only; callers of the store get a JobPersistenceError.
 */
export class DatabaseFailure extends Error {
  readonly fault: PostgresFault

  constructor(cause: unknown, judged: PostgresFault = judgeError(cause)) {
    super(thrownMessage(cause), { cause })
    this.fault = judged
  }

  /** The server did not answer in time: this node takes the connection for lost. */
  static noAnswer(waitedMs: number): DatabaseFailure {
    return new DatabaseFailure(new Error(`no answer within ${String(waitedMs)} ms`), away)
  }

  /** No connection became free in time. */
  static noConnection(waitedMs: number, poolSize: number): DatabaseFailure {
    const message = `no connection within ${String(waitedMs)} ms, of a pool of ${String(poolSize)}`
    const remedy = 'The pool is too small, is used up elsewhere, or the server does not answer: see poolSize.'
    return new DatabaseFailure(new Error(message), { ...away, retries: 0, remedy })
  }

  /** The scheduler did not wait any longer and has cut the connections. */
  static cutOff(): DatabaseFailure {
    return new DatabaseFailure(new Error('the scheduler has been shut down without waiting for the server'), {
      ...away,
      retries: 0,
      remedy: '',
    })
  }

  /** Whether the remedy is to see whether the server can be reached at all. */
  get isAway(): boolean {
    return this.fault === away
  }

  /** The SQLSTATE, or an empty text. */
  get sqlState(): string {
    const { code = '' } = fieldsOf(this.cause)
    return sqlStatePattern.test(code) ? code : ''
  }

  /** The connection broke without a message of the server, which may still take it for open. */
  get isSilent(): boolean {
    return this.fault.dropsConnection && this.sqlState === ''
  }

  /** The error that a caller of the store gets. */
  toPersistenceError(): JobPersistenceError {
    const { reason, remedy } = this.fault
    const passes = reason === 'connection' || reason === 'busy' || reason === 'serialization'
    const code: ErrorCode = passes ? 'ERR_DATABASE_UNAVAILABLE' : 'ERR_DATABASE'
    const refused = this.sqlState === tooManyConnections ? 'a connection' : 'a statement'
    const what = reason === 'connection' ? 'PostgreSQL cannot be used' : `PostgreSQL refused ${refused}`
    const state = this.sqlState === '' ? '' : ` (${this.sqlState})`
    const advice = remedy === '' ? '' : ` ${remedy}`
    return new JobPersistenceError(`${what}: ${this.message}${state}.${advice}`, { cause: this.cause, code })
  }
}
