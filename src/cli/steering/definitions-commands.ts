import { visibleName } from '../../core/visible-text.ts'
import type { DefinitionsJson } from '../../server/operations/definitions-export.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import type { ImportJson } from '../api/routes.ts'
import { type Command, parseCommandLine, UsageError } from '../command.ts'
import type { Settings } from '../config/settings.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { lineOf } from '../terminal/text.ts'
import { type ChangeValues, changeOptions, requireYes } from './changes.ts'
import { outOption, readJson, writeJson } from './files.ts'
import { formatKey } from './keys.ts'

const exportSpec = {
  name: 'export',
  argument: '',
  summary: 'Prints all calendars, jobs and triggers as one JSON file',
  options: {
    out: outOption,
    secrets: {
      type: 'boolean',
      help: 'With the values of keys that look secret, which are masked otherwise',
    },
    ...connectionOptions,
  },
  notes: [
    'It has what is defined, at most 20,000 jobs and as many triggers, and not how far it has come. import takes it.',
    connectionNote,
  ],
} as const

/** `quartz-ts export` */
export const exportCommand: Command = {
  spec: exportSpec,
  async run(args, host) {
    const { values } = parseCommandLine(exportSpec, args)
    await using client = await connect(values, host)
    const query = { secrets: values.secrets === true }
    writeJson(await client.call('definitions.export', { query }), values.out, host)
    return exitCodes.ok
  },
}

/** The version of the files that this command reads. */
const definitionsVersion: DefinitionsJson['version'] = 1

const importSpec = {
  name: 'import',
  argument: 'FILE',
  summary: 'Stores what a file of export defines',
  options: {
    remove: { type: 'boolean', help: 'Also delete what the file does not have' },
    ...changeOptions,
    ...connectionOptions,
  },
  notes: [
    "FILE is what export wrote; '-' is the standard input. What differs is printed first, and more than one " +
      'difference needs --yes. What is the same stays as it is, so a file may be imported at every deployment. All ' +
      'that differs is stored in one transaction, or nothing.',
    connectionNote,
  ],
} as const

/** `quartz-ts import` */
export const importCommand: Command = {
  spec: importSpec,
  async run(args, host) {
    const { argument, values } = parseCommandLine(importSpec, args)
    const body = { definitions: readDefinitions(argument), remove: values.remove === true }
    try {
      return await importDefinitions(body, values, host)
    } catch (error) {
      throw placedInFile(error, argument)
    }
  },
}

/** @throws UsageError for what export did not write, or not the one of this release */
function readDefinitions(file: string): object {
  const found = readJson(file) as { readonly format?: unknown; readonly version?: unknown }
  const { format, version } = found
  if (format !== 'quartz-ts') throw new UsageError(`'${file}' is no file of 'quartz-ts export'.`)
  if (version === definitionsVersion) return found
  if (version === undefined)
    throw new UsageError(`'${file}' has no version: it is no file of 'quartz-ts export'.`)
  throw new UsageError(
    `'${file}' has the version ${JSON.stringify(version)}, and this command reads ${definitionsVersion}: ` +
      'import it with the quartz-ts that wrote it.',
  )
}

/** What the server says of its request is about the file: the place in it is named, as in `jobs.0.fields`. */
function placedInFile(error: unknown, file: string): unknown {
  const place = 'body.definitions.'
  if (!(error instanceof CommandFailure) || !error.message.includes(place)) return error
  const said = error.message.replace(/^The request is wrong: /, '').replaceAll(place, '')
  return new UsageError(`'${file}' cannot be read: ${said}`, { cause: error })
}

/** What the operation of the server takes. */
interface ImportBody {
  readonly definitions: object
  readonly remove: boolean
}

type ImportValues = ChangeValues & Parameters<typeof connect>[0]

/** Prints what differs from what is stored, and stores it if that was agreed to. Resolves with the exit code. */
export async function importDefinitions(
  body: ImportBody,
  values: ImportValues,
  host: CliHost,
  settings?: Settings,
): Promise<number> {
  await using client = await connect(values, host, { mayBeNew: true, settings })
  const compared = await client.call('definitions.import', { body, isDryRun: true })
  const isDryRun = values['dry-run'] === true
  if (values.json !== true) printDifferences(compared.result, host)
  const { add, change, remove } = compared.result.counts
  const total = add + change + remove
  if (total > 1) requireYes(`${total} definitions`, values)
  const action = isDryRun || total === 0 ? compared : await client.call('definitions.import', { body })
  if (values.json === true) host.stdout.write(`${JSON.stringify(action, null, 2)}\n`)
  else host.stdout.write(summaryOf(action.result, { isDone: !isDryRun }))
  return exitCodes.ok
}

const signs = { add: '+', change: '~', remove: '-', leaveOut: '!' } as const

function printDifferences({ differences, counts }: ImportJson, { stdout }: CliHost): void {
  for (const { kind, key, change } of differences) {
    stdout.write(
      lineOf(`${signs[change]} ${kind} ${kind === 'calendar' ? visibleName(key.name) : formatKey(key)}`),
    )
  }
  const left = counts.add + counts.change + counts.remove + counts.leaveOut - differences.length
  if (left > 0) stdout.write(`... and ${left.toLocaleString('en-US')} more\n`)
}

function summaryOf({ counts }: ImportJson, { isDone }: { readonly isDone: boolean }): string {
  const { add, change, remove, leaveOut, same } = counts
  const would = isDone ? '' : 'would be '
  const passed = leaveOut === 0 ? '' : `${leaveOut} left out, whose times have passed; `
  return `${would}added ${add}, changed ${change}, removed ${remove}; ${passed}${same} the same\n`
}

const dumpSpec = {
  name: 'dump',
  argument: '',
  summary: 'Prints what somebody who helps from afar asks for',
  options: { out: outOption, ...connectionOptions },
  notes: [
    'Versions, nodes, groups, what runs and what ran last, as JSON. It has no data of jobs; look through ' +
      'the texts of errors before you send it.',
    connectionNote,
  ],
} as const

/** `quartz-ts dump` */
export const dumpCommand: Command = {
  spec: dumpSpec,
  async run(args, host) {
    const { values } = parseCommandLine(dumpSpec, args)
    await using client = await connect(values, host)
    writeJson(await client.call('support.dump'), values.out, host)
    return exitCodes.ok
  },
}
