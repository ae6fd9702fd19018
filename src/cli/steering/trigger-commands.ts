import type { ActionJson } from '../../server/wire/action.ts'
import type { KeyJson } from '../../server/wire/fields.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { ApiClient } from '../api/api-client.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, type CommandSpec, parseArguments, UsageError } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { formatMoment } from '../local-time.ts'
import { requireZone, zoneOption } from '../shared-options.ts'
import { changeOptions, printAction, type Words } from './changes.ts'
import { groupOption } from './filters.ts'
import { formatKey, parseKey } from './keys.ts'

const options = { group: groupOption, zone: zoneOption, ...changeOptions, ...connectionOptions }

interface Verb {
  readonly name: string
  readonly summary: string
  readonly note: string
  readonly call: (
    client: ApiClient,
    key: KeyJson,
    isDryRun: boolean,
  ) => Promise<{ readonly action: ActionJson; readonly words: (zone: TimeZone) => Omit<Words, 'object'> }>
}

/** A command about one trigger. */
function aboutTrigger({ name, summary, note, call }: Verb): Command {
  const spec = {
    name,
    argument: 'KEY',
    summary,
    options,
    notes: [`KEY is the GROUP/NAME of a trigger, or a name in the group DEFAULT. ${note}`, connectionNote],
  } satisfies CommandSpec
  return {
    spec,
    async run(args, host) {
      const { positionals, values } = parseArguments(spec, args)
      const [text, ...more] = positionals
      if (text === undefined || more.length > 0) throw new UsageError(`'${name}' needs one KEY.`)
      const key = parseKey(text, values.group)
      const zone = requireZone(values.zone)
      await using client = await connect(values, host)
      const { action, words } = await call(client, key, values['dry-run'] === true)
      printAction(action, { object: `trigger ${formatKey(key)}`, ...words(zone) }, values, host)
      return exitCodes.ok
    },
  }
}

/** `quartz-ts reset-error` */
export const resetErrorCommand: Command = aboutTrigger({
  name: 'reset-error',
  summary: 'Lets a trigger in the ERROR state fire again',
  note: "'quartz-ts triggers --state ERROR' lists them.",
  async call(client, key, isDryRun) {
    const action = await client.call('triggers.resetError', { params: { ...key }, isDryRun })
    return { action, words: () => ({ done: 'reset', already: 'is not in error' }) }
  },
})

/** `quartz-ts skip` */
export const skipCommand: Command = aboutTrigger({
  name: 'skip',
  summary: 'Leaves out the next fire time of a trigger',
  note: 'A trigger that has no further one is complete then, or stays paused until it is resumed.',
  async call(client, key, isDryRun) {
    const action = await client.call('triggers.skipNext', { params: { ...key }, isDryRun })
    const { result } = action
    return {
      action,
      words: (zone) => ({
        done:
          result === null
            ? 'skipped'
            : `told to skip ${formatMoment(zone, result.skippedMs)} and ${nextWords(zone, result.nextMs)}`,
        already: 'has nothing to skip',
      }),
    }
  },
})

function nextWords(zone: TimeZone, nextMs: number | null): string {
  return nextMs === null ? 'to end' : `to fire at ${formatMoment(zone, nextMs)} (${zone.name})`
}
