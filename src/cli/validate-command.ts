import { type Command, parseCommandLine } from './command.ts'
import {
  describeFormat,
  describeProblem,
  describeProblemCount,
  readCrontabFile,
} from './crontab/crontab-file.ts'
import { crontabFormatOptions, requireCrontabFormat } from './crontab/crontab-format-options.ts'
import { count, visible } from './terminal/text.ts'

const spec = {
  name: 'validate',
  argument: 'FILE',
  summary: 'Reports every bad line of a crontab with its number',
  options: crontabFormatOptions,
  notes: ['Exit code 1 when a line is bad.'],
} as const

/** `quartz-ts validate`: exit code 1 when a line is bad. */
export const validateCommand: Command = {
  spec,
  async run(args, host) {
    const { argument: path, values } = parseCommandLine(spec, args)
    const file = readCrontabFile(path, requireCrontabFormat(values, host))
    for (const problem of file.problems) host.stdout.write(describeProblem(path, problem))
    if (file.problems.length > 0) {
      host.stdout.write(`${visible(path)}: ${describeProblemCount(file)} (${describeFormat(file)})\n`)
      return 1
    }
    host.stdout.write(
      `${count(file.entries.length, 'entry', 'entries')}, all valid (${describeFormat(file)})\n`,
    )
    return 0
  },
}
