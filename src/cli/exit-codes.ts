/** What the process ends with. Scripts rely on these numbers. */
export const exitCodes = {
  ok: 0,
  /** Something is wrong, or could not be done. */
  failed: 1,
  /** The command line or a file that it names cannot be read; also where `--yes` is missing. */
  usage: 2,
  /** What the command line names does not exist. */
  notFound: 3,
  /** The server does not know who asks, or does not allow it. */
  refused: 4,
  /** The server or the database cannot be reached, so nothing was done; later it may work. */
  unreachable: 5,
  /** The answer, or the end that was watched for, was lost: to repeat the change may make it twice. */
  notKnown: 6,
  /** Jobs still ran when the time to drain was over; as of `timeout`. */
  leftRunning: 124,
  /** A second signal: 128 and the number of SIGINT. */
  atOnce: 130,
} as const

/** For the help. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'all is well',
  failed: 'something is wrong',
  usage: 'the command line is wrong',
  notFound: 'not found',
  refused: 'refused',
  unreachable: 'server or database away',
  notKnown: 'the answer was lost: look before you repeat',
  leftRunning: 'jobs still ran when the time was over',
  atOnce: 'ended at once',
}

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** A command cannot do what it was asked to: printed as its message, without a stack. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
