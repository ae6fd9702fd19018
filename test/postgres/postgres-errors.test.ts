import { describe, expect, test } from 'vitest'
import { DatabaseFailure, judgeError } from '../../src/jobstore/postgres/postgres-errors.ts'

const coded = (code: string, message = 'planted', severity = 'ERROR'): Error =>
  Object.assign(new Error(message), { code, severity })

describe('errors of the database', () => {
  test.each([
    ['40P01', 'busy', true, false],
    ['55P03', 'busy', true, false],
    ['57014', 'busy', false, false],
    ['53300', 'busy', true, false],
    ['53100', 'busy', false, false],
    ['40001', 'serialization', true, false],
    ['23505', 'constraint', true, false],
    ['23503', 'constraint', true, false],
    ['23502', 'constraint', false, false],
    ['22001', 'constraint', false, false],
    ['22P05', 'constraint', false, false],
    ['08006', 'connection', true, true],
    ['57P01', 'connection', true, true],
    ['57P03', 'connection', true, true],
    ['25P03', 'connection', true, true],
    ['25P04', 'connection', true, true],
    ['25006', 'connection', true, true],
    ['28P01', 'connection', false, true],
    ['3D000', 'connection', false, true],
    ['42P01', 'schema', false, false],
    ['42501', 'schema', false, false],
    ['3F000', 'schema', false, false],
    ['26000', 'schema', true, true],
    ['42P05', 'schema', true, true],
    ['0A000', 'schema', true, true],
    ['25P02', 'unknown', false, false],
    ['P0001', 'unknown', false, false],
    ['XX000', 'unknown', false, false],
    ['ECONNREFUSED', 'connection', true, true],
    ['ECONNRESET', 'connection', true, true],
    ['EPIPE', 'connection', true, true],
    ['ENOTFOUND', 'connection', true, true],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'connection', false, true],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'connection', false, true],
  ])('%s: %s, retried %s, connection dropped %s', (code, reason, retried, drops) => {
    const { retries, ...fault } = judgeError(coded(code))
    expect({ ...fault, retried: retries > 0 }).toMatchObject({ reason, retried, dropsConnection: drops })
  })

  test.each([
    ['Connection terminated unexpectedly', 'connection', 5],
    ['Connection terminated due to connection timeout', 'connection', 5],
    ['timeout exceeded when trying to connect', 'connection', 5],
    ['Query read timeout', 'connection', 5],
    ['Client has encountered a connection error and is not queryable', 'connection', 5],
    ['The server does not support SSL connections', 'connection', 0],
    ['something else', 'unknown', 0],
  ])('without a code: %s', (message, reason, retries) => {
    expect(judgeError(new Error(message))).toMatchObject({ reason, retries })
  })

  test('a fatal error that nobody listed ends the connection', () => {
    expect(judgeError(coded('XX001', 'planted', 'FATAL'))).toMatchObject({ dropsConnection: true })
  })

  test.each([undefined, null, 'text', 5, {}])('%j is an unknown fault', (thrown) => {
    expect(judgeError(thrown).reason).toBe('unknown')
  })

  test('says what happened, its code, and what to do', () => {
    const { message, code, cause } = new DatabaseFailure(
      coded('42703', 'no such column'),
    ).toPersistenceError()
    expect(message).toBe(
      'PostgreSQL refused a statement: no such column (42703). ' +
        "The tables are not as this version knows them: run the store's migrations.",
    )
    expect(code).toBe('ERR_DATABASE')
    expect(cause).toMatchObject({ code: '42703' })
  })

  test('does not send those to a migration who only do not see the tables', () => {
    const { message } = new DatabaseFailure(coded('42P01', 'no such table')).toPersistenceError()
    expect(message).toMatch(/option 'schema', the search_path of the user and its USAGE on the schema\./)
    expect(message).not.toContain("run the store's migrations")
  })

  test('names the setting that ended a transaction', () => {
    const ended = new DatabaseFailure(coded('25P04', 'terminating connection', 'FATAL')).toPersistenceError()
    expect(ended.code).toBe('ERR_DATABASE_UNAVAILABLE')
    expect(ended.message).toContain(
      'because a transaction took longer than its transaction_timeout: raise that',
    )
  })

  test.each([
    ['InitProcess', 'The server has no connection left: lower poolSize or raise its max_connections.'],
    [
      'InitializeSessionUserId',
      'It is the limit of this role: lower poolSize or raise ALTER ROLE ... CONNECTION LIMIT.',
    ],
    [
      'CheckMyDatabase',
      'It is the limit of this database: lower poolSize or raise ALTER DATABASE ... CONNECTION LIMIT.',
    ],
  ])('says whose limit of connections is reached, which %s has found', (routine, remedy) => {
    const full = Object.assign(coded('53300', 'too many', 'FATAL'), { routine })
    expect(new DatabaseFailure(full).toPersistenceError().message).toBe(
      `PostgreSQL refused a connection: too many (53300). ${remedy}`,
    )
  })

  test('takes a standby for one in each language of messages', () => {
    const told = Object.assign(coded('0A000', 'en mode de restauration'), { routine: 'call_bool_check_hook' })
    expect(judgeError(told)).toEqual(judgeError(coded('25006')))
  })

  test('speaks of the first address when none of several could be reached', () => {
    const several = Object.assign(new AggregateError([coded('ECONNREFUSED', 'refused at ::1')], ''), {
      code: 'ECONNREFUSED',
    })
    const error = new DatabaseFailure(several).toPersistenceError()
    expect(error.message).toMatch(/^PostgreSQL cannot be used: refused at ::1\. Check/)
    expect(error.code).toBe('ERR_DATABASE_UNAVAILABLE')
  })

  test('only a connection that broke without a word is silent', () => {
    expect(new DatabaseFailure(coded('ECONNRESET')).isSilent).toBe(true)
    expect(new DatabaseFailure(coded('EPIPE')).isSilent).toBe(true)
    expect(DatabaseFailure.noAnswer(5).isSilent).toBe(true)
    expect(new DatabaseFailure(coded('57P01')).isSilent).toBe(false)
    expect(new DatabaseFailure(coded('40001')).isSilent).toBe(false)
  })
})
