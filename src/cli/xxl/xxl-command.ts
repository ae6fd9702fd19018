import { connectionNote, connectionOptions, settingsFor } from '../api/connection-options.ts'
import { type Command, type OptionValues, parseArguments, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { requireZone, zoneOption } from '../shared-options.ts'
import { changeOptions } from '../steering/changes.ts'
import { importDefinitions } from '../steering/definitions-commands.ts'
import { writeJson } from '../steering/files.ts'
import { count, lineOf } from '../terminal/text.ts'
import { definitionsOfXxl, type XxlImport } from './xxl-definitions.ts'
import { readXxlTables } from './xxl-tables.ts'

const spec = {
  name: 'xxl',
  argument: 'import FILE',
  choices: ['import'],
  summary: "Takes over the jobs of a dump of XXL-JOB's database",
  options: {
    out: { type: 'string', value: 'FILE', help: 'Write the definitions to this file, which import takes' },
    report: {
      type: 'string',
      value: 'FILE',
      help: 'Write groups, users and what is not the same to this file',
    },
    zone: { ...zoneOption, help: "The zone of XXL-JOB's admin (default: the zone of this machine)" },
    'job-type': { type: 'string', value: 'TYPE', help: 'The type that the jobs get (default xxl-job)' },
    'with-stopped': { type: 'boolean', help: 'Take over the schedules of stopped jobs, which then run' },
    ...changeOptions,
    ...connectionOptions,
  },
  notes: [
    'FILE is an SQL dump or JSON of the tables xxl_job_group, xxl_job_info and xxl_job_user, of version 2.2 or ' +
      'later, in UTF-8, and has at most 64 MB and 20,000 jobs. Jobs keep their numbers: job 17 of the executor ' +
      'billing is billing/17. Passwords and tokens are not taken over.',
    'Jobs are stored where --store, --server or the settings say; with --out, where the command line says.',
    connectionNote,
  ],
} as const

type Values = OptionValues<typeof spec.options>

/** `quartz-ts xxl import` */
export const xxlCommand: Command = {
  spec,
  async run(args, host) {
    const { positionals, values } = parseArguments(spec, args)
    const [verb, file, ...more] = positionals
    if (verb !== 'import' || file === undefined || more.length > 0) {
      throw new UsageError(`'xxl' takes 'import' and one FILE, got '${positionals.join(' ')}'.`)
    }
    const jobType = values['job-type'] ?? 'xxl-job'
    if (!/^\S{1,250}$/.test(jobType))
      throw new UsageError('--job-type takes a name of at most 250 characters.')
    const isPlaced = (values.store ?? values.server ?? values.config) !== undefined
    const settings = await settingsFor(values, host)
    const isStored =
      isPlaced || (values.out === undefined && (settings.store !== null || settings.server !== undefined))
    if (!isStored && values.yes === true) {
      throw new UsageError('--yes: nothing would be stored. Name --store or --server.')
    }
    const imported = definitionsOfXxl(readXxlTables(file), {
      zone: requireZone(values.zone),
      jobType,
      schedulerName: settings.schedulerName ?? 'QuartzScheduler',
      withStopped: values['with-stopped'] === true,
      nowMs: host.clock.now(),
    })
    // With --json the standard output is one JSON value.
    if (values.json !== true) host.stdout.write(wordsOf(imported))
    else if (!isStored) host.stdout.write(`${JSON.stringify(reportOf(imported), null, 2)}\n`)
    writeFiles(imported, values, host)
    if (!isStored) {
      const isAsked = (values.out ?? values.report ?? values['dry-run']) !== undefined
      if (!isAsked) host.stderr.write('Nothing was stored: name --store or --server.\n')
      return exitCodes.ok
    }
    return importDefinitions({ definitions: imported.definitions, remove: false }, values, host, settings)
  },
}

function writeFiles(imported: XxlImport, { out, report, 'dry-run': isDryRun }: Values, host: CliHost): void {
  if (isDryRun === true) return
  if (out !== undefined) writeJson(imported.definitions, out, host)
  if (report !== undefined) writeJson(reportOf(imported), report, host)
}

function reportOf({ definitions, ...rest }: XxlImport): object {
  const counts = { jobs: definitions.jobs.length, schedules: definitions.triggers.length }
  return { ...counts, ...rest }
}

function wordsOf({ definitions, executors, users, notes }: XxlImport): string {
  const { jobs, triggers } = definitions
  const groups = Object.entries(executors)
  const found = [
    count(groups.length, 'executor group'),
    count(jobs.length, 'job'),
    count(triggers.length, 'schedule'),
    count(users.length, 'user'),
  ]
  const addresses = groups.map(([appName, list]) => {
    return `executor group ${appName}: ${list.length === 0 ? 'registers' : list.join(', ')}`
  })
  const people = users.map(({ name, role, jobGroups }) => {
    const rights =
      role ??
      (Object.keys(jobGroups)
        .map((group) => `operator of ${group}`)
        .join(', ') ||
        'no rights')
    return `user ${name}: ${rights}; needs a new password`
  })
  const differences = notes.map(({ about, note }) => `${about}: ${note}`)
  const lines = [found.join(', '), ...addresses, ...people, ...differences]
  return lines.map(lineOf).join('')
}
