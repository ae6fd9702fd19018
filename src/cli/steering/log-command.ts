import { visible } from '../../core/visible-text.ts'
import type { ExecutionLogLine } from '../../jobstore/execution-log.ts'
import { pause } from '../../time/pause.ts'
import type { TimeZone } from '../../time/zone.ts'
import type { ApiClient } from '../api/api-client.ts'
import { connect, connectionNote, connectionOptions } from '../api/connection-options.ts'
import { type Command, parseCommandLine, UsageError } from '../command.ts'
import { stopRequests } from '../crontab/stop-requests.ts'
import { exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { formatMoment } from '../local-time.ts'
import { requireZone, zoneOption } from '../shared-options.ts'
import { requireClusterView } from './cluster-view.ts'

const spec = {
  name: 'log',
  argument: 'ID',
  summary: 'Prints what an execution logged',
  options: {
    follow: { type: 'boolean', help: 'Go on until the execution has ended' },
    zone: zoneOption,
    json: { type: 'boolean', help: 'Print each line as JSON' },
    ...connectionOptions,
  },
  notes: [
    "'quartz-ts history' has the ids. Lines arrive about a second after they were logged. " +
      'With --follow a signal ends it.',
    connectionNote,
  ],
} as const

/** How often the server is asked for further lines. */
const lookEveryMs = 1000
/** Lines of an execution that has ended are written within this time. */
const writtenWithinMs = 3000

/** `quartz-ts log` */
export const logCommand: Command = {
  spec,
  async run(args, host) {
    const { argument: fireInstanceId, values } = parseCommandLine(spec, args)
    if (fireInstanceId.trim() === '') throw new UsageError(`'log' needs ID.`)
    const printer = new LinePrinter(requireZone(values.zone), values.json === true, host)
    await using client = await connect(values, host)
    let wasSeen = false
    if (values.follow === true) {
      await requireClusterView(client)
      wasSeen = await follow(client, { fireInstanceId, printer }, host)
    } else await printRest(client, fireInstanceId, printer)
    if (!printer.isEmpty) return exitCodes.ok
    if (!wasSeen) await requireKnown(client, fireInstanceId)
    if (values.json !== true) host.stdout.write('No lines.\n')
    return exitCodes.ok
  },
}

/** An execution may run, or have ended, without a line. @throws CommandFailure for one of which nothing is known */
async function requireKnown(client: ApiClient, fireInstanceId: string): Promise<void> {
  const { items } = await client.call('executing.list')
  if (items.some((each) => each.fireInstanceId === fireInstanceId)) return
  await client.call('executions.get', { params: { fireInstanceId } })
}

/** Prints the lines of one execution as they come. */
class LinePrinter {
  readonly #zone: TimeZone
  readonly #isJson: boolean
  readonly #host: CliHost
  /** The number of the last line that was printed. */
  last = 0

  constructor(zone: TimeZone, isJson: boolean, host: CliHost) {
    this.#zone = zone
    this.#isJson = isJson
    this.#host = host
  }

  get isEmpty(): boolean {
    return this.last === 0
  }

  print(line: ExecutionLogLine): void {
    this.last = line.line
    const { timeMs, level, message, fieldsText } = line
    const words = [formatMoment(this.#zone, timeMs), level.toUpperCase().padEnd(5), message, fieldsText ?? '']
    const text = this.#isJson ? JSON.stringify(line) : visible(words.join(' ').trimEnd())
    this.#host.stdout.write(`${text}\n`)
  }
}

/** Prints all that is there behind the last line. */
async function printRest(client: ApiClient, fireInstanceId: string, printer: LinePrinter): Promise<void> {
  for (;;) {
    const query = { after: printer.last, take: 1000 }
    const { items, next } = await client.call('executions.log', { params: { fireInstanceId }, query })
    for (const line of items) printer.print(line)
    if (next === null) return
  }
}

/** Resolves with whether the execution was seen to run, or a signal came. */
async function follow(
  client: ApiClient,
  { fireInstanceId, printer }: { readonly fireInstanceId: string; readonly printer: LinePrinter },
  host: CliHost,
): Promise<boolean> {
  const { clock } = host
  const stopping = new AbortController()
  const stop = stopRequests(host, null)
  const looks = async (): Promise<boolean> => {
    let endedMs: number | null = null
    let wasSeen = false
    for (;;) {
      const { items } = await client.call('executing.list')
      if (items.some((each) => each.fireInstanceId === fireInstanceId)) wasSeen = true
      else endedMs ??= clock.elapsedMs()
      await printRest(client, fireInstanceId, printer)
      const isWritten = endedMs !== null && clock.elapsedMs() - endedMs >= writtenWithinMs
      if (isWritten || stopping.signal.aborted) return wasSeen
      await pause(clock, lookEveryMs, stopping.signal)
    }
  }
  // A look may wait for its answer.
  const stopped = stop.first.then(() => {
    stopping.abort()
    return true
  })
  try {
    return await Promise.race([looks(), stopped])
  } finally {
    stop.dispose()
  }
}
