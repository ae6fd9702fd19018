import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { JobPersistenceError } from '../../core/errors.ts'
import { withoutSecrets } from '../../core/secrets.ts'
import type { JobStore } from '../../jobstore/job-store.ts'
import { createScheduler, type SchedulerOptions } from '../../scheduler/create-scheduler.ts'
import type { Scheduler } from '../../scheduler/scheduler.ts'
import { UsageError } from '../command.ts'
import type { StoreSetting } from '../config/settings.ts'
import { keepPrivate, removeUnused, storeAt } from '../stores.ts'

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
    keepPrivate(place)
    const jobStore = storeAt(place, { history })
    const scheduler = await createScheduler({ ...named, ...identityOf(jobStore), jobStore })
    return { scheduler, note: `Jobs are kept in ${withoutSecrets(place)}.` }
  } catch (error) {
    const isOfPlace = error instanceof JobPersistenceError || error instanceof UsageError
    if (isGiven || !isOfPlace) throw error
    removeUnused(place)
    return { scheduler: await inMemory(), note: `Jobs are kept in memory: ${error.message}` }
  }
}

/** The store of a file of settings, which has a place of its own kind. */
async function openSetting(setting: StoreSetting, options: SchedulerOptions): Promise<OpenedScheduler> {
  setting.keepPrivate()
  const jobStore = setting.open('onStart', history)
  const scheduler = await createScheduler({ ...options, ...identityOf(jobStore), jobStore })
  return { scheduler, note: `Jobs are kept in ${setting.place}.` }
}

/** Nodes of a cluster need different instance ids; on a file there is one scheduler, whose id stays the same. */
function identityOf({ capabilities }: JobStore): SchedulerOptions {
  return capabilities.clustered ? { instanceId: `${hostname()}-${process.pid}` } : {}
}

function schedulerNameOf(path: string): string {
  const full = resolve(path)
  const name = `crontab ${full}`
  if (name.length <= nameMax) return name
  return `crontab ${createHash('sha256').update(full).digest('hex')}`
}
