import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type ErrorCode, JobPersistenceError } from '../../core/errors.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import type { SqlNames } from '../sql/kernel/sql-names.ts'
import { namesOptions } from '../sql/migrations/migrate.ts'

interface Failure {
  /** SQLite's codes and extended codes. */
  readonly codes: RegExp
  readonly code: ErrorCode
  readonly problem: string
  /** Some depend on what the command line is to be told of the names of the tables. */
  readonly remedy: string | ((namesOptions: string) => string)
  /** Whether waiting for another connection helps. */
  readonly isBusy?: boolean
  /** Whether the connection should be replaced: a new one works as soon as the cause is gone. */
  readonly needsNewConnection?: boolean
}

/** Stands beside SQLite's codes: the user's connection is in a transaction of the user's. */
export const inOwnTransaction = 'SQLITE_BUSY_OWN'

const diskFull = /^SQLITE_FULL/
const notOpened = /^SQLITE_(CANTOPEN|PERM|AUTH)/

/** SQLite's codes, what they mean for the user, and what to do; the first row that matches counts. */
const failures: readonly Failure[] = [
  {
    codes: new RegExp(`^${inOwnTransaction}`),
    code: 'ERR_DATABASE_UNAVAILABLE',
    problem: 'is in a transaction of your own, on the connection that you gave the store',
    remedy: 'End it first, or schedule in it with scheduler.withTransaction(database).',
    isBusy: true,
  },
  {
    codes: /^SQLITE_(BUSY|LOCKED|PROTOCOL)/,
    code: 'ERR_DATABASE_UNAVAILABLE',
    problem: 'is locked by another connection',
    remedy: 'Keep transactions of others on this file short, or raise busyTimeoutMs.',
    isBusy: true,
  },
  {
    codes: diskFull,
    code: 'ERR_DATABASE_UNAVAILABLE',
    problem: 'cannot grow: the disk is full',
    remedy:
      'Free some space, and ask again for what was refused; a started scheduler tries its own work again.',
  },
  {
    codes: /^SQLITE_READONLY/,
    code: 'ERR_DATABASE_UNAVAILABLE',
    problem: 'cannot be written',
    remedy:
      'Give this process the right to write the file and its folder; where it has that, the file system is mounted ' +
      'read-only, as after an error of the disk.',
    needsNewConnection: true,
  },
  {
    codes: notOpened,
    code: 'ERR_DATABASE_UNAVAILABLE',
    problem: 'cannot be opened',
    remedy: 'The folder must exist, and this process must be allowed to read and write it.',
    needsNewConnection: true,
  },
  {
    codes: /^SQLITE_(IOERR|NOMEM|INTERRUPT)/,
    code: 'ERR_DATABASE_UNAVAILABLE',
    problem: 'cannot be read or written just now',
    // SQLite answers so, and not with SQLITE_FULL, when a file that it opens on a full disk gets no room.
    remedy: 'The disk may be full: look at it, and at the memory of this machine.',
    needsNewConnection: true,
  },
  {
    codes: /^SQLITE_NOTADB/,
    code: 'ERR_DATABASE',
    problem: 'is not a SQLite database',
    remedy: 'Name another file: this one is left as it is.',
    needsNewConnection: true,
  },
  {
    codes: /^SQLITE_CORRUPT/,
    code: 'ERR_DATABASE',
    problem: 'is damaged',
    remedy: `Restore it from a backup; 'sqlite3 FILE .recover' saves what can be read.`,
    needsNewConnection: true,
  },
  {
    codes: /^SQLITE_CONSTRAINT/,
    code: 'ERR_DATABASE',
    problem: 'holds rows that contradict this change',
    remedy:
      'Something else than this library has changed its tables; the cause names the rule that was broken.',
  },
  {
    codes: /^SQLITE_(ERROR|SCHEMA|MISMATCH)/,
    code: 'ERR_DATABASE',
    problem: 'has not the tables or columns that this release needs',
    remedy: (namesOptions) =>
      `Run 'npx quartz-ts migrate --store FILE${namesOptions}'; the cause says what is missing.`,
  },
]

/** What better-sqlite3 says, without a code, while a loop over the rows of a statement has not ended. */
const openLoop: Failure = {
  codes: /busy executing a query/,
  code: 'ERR_DATABASE_UNAVAILABLE',
  problem: 'cannot be used, because a loop over iterate() on its connection has not ended',
  remedy: 'Do not await within such a loop: take the rows with all() instead.',
  isBusy: true,
}

const otherFailure: Failure = {
  codes: /^SQLITE_/,
  code: 'ERR_DATABASE',
  problem: 'refused a statement',
  remedy: 'The cause says why.',
}

function failureOf(error: unknown): Failure | null {
  if (error instanceof TypeError && openLoop.codes.test(error.message)) return openLoop
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null
  const { code } = error
  return [...failures, otherFailure].find(({ codes }) => codes.test(code)) ?? null
}

/** Whether another connection, of this process or another one, has locked the file. */
export function isBusy(error: unknown): boolean {
  return failureOf(error)?.isBusy === true
}

/** Whether a disk, or a limit of the database, left no room. */
export function isDiskFull(error: unknown): boolean {
  return failureOf(error)?.codes === diskFull
}

/** Whether the connection is to be replaced after this error. */
export function needsNewConnection(error: unknown): boolean {
  return failureOf(error)?.needsNewConnection === true
}

/** The database that an error is about. */
export interface FailedDatabase {
  readonly filename: string
  /** Those of its tables; default: Quartz's own. */
  readonly names?: Pick<SqlNames, 'prefix' | 'schema'>
}

/** The error that the caller gets; errors that are not SQLite's stay as they are. */
export function sqliteFailure(error: unknown, { filename, names }: FailedDatabase): unknown {
  const place = withoutSecrets(filename)
  const failure = failureOf(error)
  if (failure?.codes === notOpened || isFolderMissing(error)) {
    const problem = problemOfPath(filename)
    if (problem !== null) {
      return new JobPersistenceError(`The SQLite database '${place}' cannot be opened: ${problem}`, {
        code: 'ERR_DATABASE_UNAVAILABLE',
        cause: error,
      })
    }
  }
  if (failure === null) return error
  const { code, problem } = failure
  const remedy = remedyOf(failure, names)
  return new JobPersistenceError(`The SQLite database '${place}' ${problem}. ${remedy}`, {
    code,
    cause: error,
  })
}

/** What better-sqlite3 says without asking SQLite. */
function isFolderMissing(error: unknown): boolean {
  return error instanceof TypeError && /directory does not exist/.test(error.message)
}

/** What can be seen of the path of a file that SQLite could not open; null for nothing. */
function problemOfPath(filename: string): string | null {
  try {
    if (statSync(filename, { throwIfNoEntry: false })?.isDirectory() === true)
      return 'it is a folder. Name a file in it.'
    const isMissing = statSync(dirname(filename), { throwIfNoEntry: false }) === undefined
    return isMissing ? 'its folder does not exist. Create the folder.' : null
  } catch {
    // What cannot be seen is told by the code of SQLite alone.
    return null
  }
}

function remedyOf({ remedy }: Failure, names: FailedDatabase['names']): string {
  return typeof remedy === 'string' ? remedy : remedy(names === undefined ? '' : namesOptions(names))
}
