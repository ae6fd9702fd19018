import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { type Clock, systemClock } from '../time/clock.ts'
import type { Output } from './terminal/output.ts'
import { streamOutput } from './terminal/output.ts'
import { readSecret } from './terminal/read-secret.ts'

/** Everything of the outside world that the commands touch, so that tests run them without a process of their own. */
export interface CliHost {
  readonly stdout: Output
  readonly stderr: Output
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Name of the user that this process runs as. */
  readonly userName: string
  /** Names of the users of this machine; empty where they cannot be read. */
  readonly knownUsers: () => readonly string[]
  /** Reads a line that is not shown, or the first line of what is piped in; empty where there is none. */
  readSecret(prompt: string): Promise<string>
  /** Calls the listener each time the signal comes, instead of ending; returns what takes the listener away. */
  onSignal(signal: NodeJS.Signals, listener: () => void): () => void
}

/** The host of a real process. */
export function processHost(): CliHost {
  return {
    stdout: streamOutput(process.stdout),
    stderr: streamOutput(process.stderr),
    clock: systemClock,
    environment: process.env,
    userName: ownUserName(),
    knownUsers: readUserNames,
    readSecret,
    onSignal(signal, listener) {
      process.on(signal, listener)
      return () => {
        process.removeListener(signal, listener)
      }
    },
  }
}

/** A container may run under a user id that has no name; it is then called by its number. */
function ownUserName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}

/** Only used to guess a file's format, so a machine that keeps its users elsewhere is no error. */
function readUserNames(): readonly string[] {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return lines.flatMap((line) => line.split(':', 1)).filter((name) => name !== '')
  } catch {
    return []
  }
}
