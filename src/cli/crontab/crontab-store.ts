import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { JobPersistenceError } from '../../core/errors.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import { createScheduler, type SchedulerOptions } from '../../scheduler/create-scheduler.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import type { StoreSetting } from '../config/settings.ts'
import { isPostgresUrl, storeAt } from '../stores.ts'

/** Where a run keeps its jobs. */
export type StoreChoice = PlaceChoice | { readonly setting: StoreSetting }

interface PlaceChoice {
  /** A file, a postgres:// URL, or `memory`. */
  readonly place: string
  /** The user named it. When the default cannot be used, jobs are kept in memory. */
  readonly isGiven: boolean
}

export interface OpenedScheduler {
  readonly scheduler: Scheduler
  /** A note for the reader about where the jobs are. */
  readonly note: string | null
}

/** Longest name of a scheduler that the tables hold, with some room. */
const nameMax = 110

/** The dashboard shows what ran, and what ended well is most of it. */
const history = { record: 'all', maxRows: 20_000 } as const

/**
 * A scheduler on the store that was chosen. Each crontab has a scheduler name of its own, so that several share a
 * store, and processes that run the same one on PostgreSQL are a cluster.
 *
 * @throws JobPersistenceError when a store that the user named cannot be used
 */
export async function openScheduler(
  choice: StoreChoice,
  crontabPath: string,
  options: SchedulerOptions,
): Promise<OpenedScheduler> {
  const named = { ...options, schedulerName: schedulerNameOf(crontabPath) }
  const inMemory = (): Promise<Scheduler> => createScheduler(named)
  if ('setting' in choice) return openSetting(choice.setting, named)
  const { place, isGiven } = choice
  if (place === 'memory') return { scheduler: await inMemory(), note: null }
  try {
    const scheduler = await createScheduler({
      ...named,
      ...identityOn(place),
      jobStore: storeAt(place, { history }),
    })
    return { scheduler, note: `Jobs are kept in ${withoutSecrets(place)}.` }
  } catch (error) {
    if (isGiven || !(error instanceof JobPersistenceError)) throw error
    return { scheduler: await inMemory(), note: `Jobs are kept in memory: ${error.message}` }
  }
}

/** The store of a file of settings, which has a place of its own kind. */
async function openSetting(setting: StoreSetting, options: SchedulerOptions): Promise<OpenedScheduler> {
  const jobStore = setting.open('onStart', history)
  const identity = jobStore.capabilities.clustered ? ownInstanceId() : {}
  const scheduler = await createScheduler({ ...options, ...identity, jobStore })
  return { scheduler, note: `Jobs are kept in ${setting.place}.` }
}

function ownInstanceId(): SchedulerOptions {
  return { instanceId: `${hostname()}-${process.pid}` }
}

/** Nodes of a cluster need different instance ids; on a file there is one scheduler, whose id stays the same. */
function identityOn(place: string): SchedulerOptions {
  if (isPostgresUrl(place)) return ownInstanceId()
  keepPrivate(place)
  return {}
}

/** A new file is for this user alone, as a crontab is: the commands in it may hold what others should not read. */
function keepPrivate(filename: string): void {
  try {
    closeSync(openSync(filename, 'a', 0o600))
  } catch {
    // The store says in better words what is wrong with the file.
  }
}

function schedulerNameOf(path: string): string {
  const full = resolve(path)
  const name = `crontab ${full}`
  if (name.length <= nameMax) return name
  return `crontab ${createHash('sha256').update(full).digest('hex')}`
}
