import { createContext } from 'preact'
import { say } from '../state/toasts.ts'

/** Says what went wrong, and null when it is tried again. */
export type TellProblem = (error: unknown) => void

/** Where a button says that it has failed: among the toasts, or in its dialog, which covers them. */
export const ProblemPlace = createContext<TellProblem>((error) => {
  if (error !== null) say.problem(error)
})
