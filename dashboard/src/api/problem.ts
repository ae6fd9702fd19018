import type { ProblemJson } from '../../../src/server/http/problem.ts'

/** What the server did not do, and why; also that it did not answer at all. */
export class ApiProblem extends Error {
  /** 0 when no whole answer came; that of a success when something else than the server gave it. */
  readonly status: number
  readonly problem: Partial<ProblemJson>
  /** Whether the server may have done what it was asked to do all the same. */
  readonly mayBeDone: boolean

  constructor(status: number, problem: Partial<ProblemJson>, mayBeDone = false) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`)
    this.status = status
    this.problem = problem
    this.mayBeDone = mayBeDone
  }
}

export function isGone(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404
}

/** The server itself has no such thing; a proxy that does not find the server answers 404 in other words. */
export function isNotThere(error: unknown): boolean {
  return error instanceof ApiProblem && error.problem.code === 'ERR_NOT_FOUND'
}

/** Nobody is known by that token or password; anything else that refuses a sign-in says why. */
export function isWrongCredential(error: unknown): boolean {
  return error instanceof ApiProblem && error.problem.code === 'ERR_NOT_AUTHENTICATED'
}

/** It is stored, and cannot be read. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof ApiProblem && error.problem.code === 'ERR_BROKEN_ROW'
}

/** Somebody else has changed what a viewer was about to change. */
export function isChanged(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 412
}

/** The server has answered, and will not do it when it is asked again. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429
}

/** No answer came, and the server may have done it. */
export function mayBeDone(error: unknown): boolean {
  return error instanceof ApiProblem && error.mayBeDone
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
