import { type Command, type CommandSpec, parseCommandLine } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { requireOneOf } from '../steering/filters.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { zshCompletion } from './zsh.ts'

/** Makes a script of the commands with their options. */
const writers: Readonly<Record<string, (specs: readonly CommandSpec[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
}

const spec = {
  name: 'completion',
  argument: 'SHELL',
  choices: Object.keys(writers),
  summary: 'Prints what makes a shell complete commands and options',
  options: {},
  notes: [
    'SHELL is bash, zsh or fish. For bash: eval "$(quartz-ts completion bash)" in ~/.bashrc. For zsh: write it to a ' +
      'file _quartz-ts in a folder of $fpath. For fish: write it to ~/.config/fish/completions/quartz-ts.fish.',
  ],
} as const

/** `quartz-ts completion`, for these commands and itself. */
export function completionCommand(others: readonly Command[]): Command {
  return {
    spec,
    async run(args, { stdout }) {
      const { argument } = parseCommandLine(spec, args)
      requireOneOf('completion', argument, spec.choices)
      const specs = [...others.map((command) => command.spec), spec]
      stdout.write(writers[argument]?.(specs) ?? '')
      return exitCodes.ok
    },
  }
}
