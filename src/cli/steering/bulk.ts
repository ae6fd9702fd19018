import { visible } from '../../core/visible-text.ts'
import type { BulkJson } from '../../server/bulk/bulk-runs.ts'
import { pause } from '../../time/pause.ts'
import type { ApiClient } from '../api/api-client.ts'
import { stopRequests } from '../crontab/stop-requests.ts'
import { CommandFailure, exitCodes } from '../exit-codes.ts'
import type { CliHost } from '../host.ts'
import { count, lineOf } from '../terminal/text.ts'
import { afterChange, type ChangeValues, requireYes, sayPaused } from './changes.ts'
import { formatKey } from './keys.ts'

export interface BulkAction {
  readonly action: 'pause' | 'resume' | 'run'
  readonly of: 'jobs' | 'triggers'
  readonly filter: Readonly<Record<string, string>>
  /** What a pause or a resume says besides. */
  readonly pause?: object
  readonly resume?: object
  /** As in `paused`. */
  readonly done: string
}

/** How often the server is asked how far it has come. */
const lookEveryMs = 200

/**
 * Does something to all jobs or triggers that fit a filter: counts them first, and watches the server do it. A signal
 * stops it between two of them, and a second one ends the command without an answer. Resolves with the exit code.
 */
export async function carryOutBulk(
  client: ApiClient,
  { done, ...body }: BulkAction,
  values: ChangeValues,
  host: CliHost,
): Promise<number> {
  const counted = await client.call('bulk.begin', { body, isDryRun: true })
  const { count: total, digest, first, paused } = counted.result
  if (total === 0) throw new CommandFailure(exitCodes.notFound, `No ${body.of} fit.`)
  const what = count(total, body.of.slice(0, -1))
  if (values['dry-run'] === true) {
    if (values.json === true) host.stdout.write(`${JSON.stringify(counted, null, 2)}\n`)
    else {
      host.stdout.write(`${what} would be ${done}:\n`)
      for (const key of first) host.stdout.write(`  ${lineOf(formatKey(key))}`)
      if (total > first.length) host.stdout.write('  ...\n')
      if (paused > 0) sayPaused(`${paused} would wait`, 'Resume that first.', values, host)
    }
    return exitCodes.ok
  }
  if (total > 1) requireYes(what, values)
  const begun = await client.call('bulk.begin', { body: { ...body, expected: total, digest } })
  const ended = await watch(client, begun.result.bulk, host)
  if (values.json === true) host.stdout.write(`${JSON.stringify(ended, null, 2)}\n`)
  else printEnd(ended, done, host)
  if (ended.paused > 0) sayPaused(`${ended.paused} wait`, 'Resume that to let them run.', values, host)
  return ended.failed > 0 || ended.status === 'stopped' ? exitCodes.failed : exitCodes.ok
}

async function watch(client: ApiClient, begun: BulkJson | null, host: CliHost): Promise<BulkJson> {
  if (begun === null) throw new CommandFailure(exitCodes.failed, 'The server did not begin.')
  const { id, total } = begun
  const stop = stopRequests(host, null)
  let bulk = begun
  const looks = async (): Promise<BulkJson> => {
    while (bulk.status === 'running') {
      await pause(host.clock, lookEveryMs)
      bulk = await client.call('bulk.get', { params: { id } })
    }
    return bulk
  }
  const ended = looks()
  // Beside a look, which may wait for its answer.
  const stopped = stop.first.then(async () => {
    await client.call('bulk.stop', { params: { id } })
    return ended
  })
  const left = stop.atOnce.then(() => {
    throw new CommandFailure(exitCodes.atOnce, 'Ended by a second signal.')
  })
  try {
    return await Promise.race([ended, stopped, left])
  } catch (error) {
    const reached = `was at ${bulk.done} of ${total}`
    host.stderr.write(
      visible(`Bulk action ${id} ${reached} and may go on: the dashboard of its server shows it.\n`),
    )
    throw afterChange(error)
  } finally {
    stop.dispose()
  }
}

function printEnd(bulk: BulkJson, done: string, { stdout, stderr }: CliHost): void {
  const { of, total, changed, failed, failures, status } = bulk
  const unchanged = bulk.done - changed - failed
  const parts = [
    `${count(changed, of.slice(0, -1))} ${done}`,
    unchanged > 0 ? `${unchanged} unchanged` : '',
    failed > 0 ? `${failed} failed` : '',
    status === 'stopped' ? `stopped with ${total - bulk.done} left` : '',
  ]
  stdout.write(`${parts.filter((part) => part !== '').join(', ')}\n`)
  for (const { key, message } of failures) stderr.write(lineOf(`${formatKey(key)}: ${message}`))
}
