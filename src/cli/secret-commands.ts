import { textOf } from '../core/thrown-value.ts'
import { hashPassword } from '../server/auth/passwords.ts'
import { newToken, tokenHashOf } from '../server/auth/tokens.ts'
import { type Command, parseCommandLine, UsageError } from './command.ts'
import { exitCodes } from './exit-codes.ts'
import { writePairs } from './terminal/table.ts'

const hashSpec = {
  name: 'hash-password',
  argument: '',
  summary: 'Prints the hash of a password, for the users of a server',
  options: {},
  notes: [
    'Asks for the password without showing it, or reads the first line that is piped in. The hash goes into ' +
      "'passwordHash' of a user in the options of createServer. A password has 8 to 1000 characters.",
  ],
} as const

/** `quartz-ts hash-password` */
export const hashPasswordCommand: Command = {
  spec: hashSpec,
  async run(args, host) {
    parseCommandLine(hashSpec, args)
    const password = await host.readSecret('Password: ')
    try {
      host.stdout.write(`${await hashPassword(password)}\n`)
    } catch (error) {
      throw new UsageError(textOf(error), { cause: error })
    }
    return exitCodes.ok
  },
}

const tokenSpec = {
  name: 'new-token',
  argument: '',
  summary: 'Prints a new token for a server, and its SHA-256',
  options: {},
  notes: [
    "The token is for who uses it, and is kept nowhere. The SHA-256 goes into 'sha256' of a token in the options of " +
      'createServer.',
  ],
} as const

/** `quartz-ts new-token` */
export const newTokenCommand: Command = {
  spec: tokenSpec,
  async run(args, { stdout }) {
    parseCommandLine(tokenSpec, args)
    const token = newToken()
    writePairs(
      [
        ['token', token],
        ['sha256', tokenHashOf(token)],
      ],
      stdout,
    )
    return exitCodes.ok
  },
}
