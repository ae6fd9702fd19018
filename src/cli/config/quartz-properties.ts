import { InvalidArgumentError } from '../../core/errors.ts'
import { textOf } from '../../core/thrown-value.ts'
import { postgresJobStore } from '../../jobstore/postgres/postgres-job-store.ts'
import type { PostgresJobStoreOptions } from '../../jobstore/postgres/postgres-options.ts'
import { ramJobStore } from '../../jobstore/ram/ram-job-store.ts'
import { readProperties } from '../../jobstore/sql/tables/encoding/properties-text.ts'
import type { SchedulerOptions } from '../../scheduler/create-scheduler.ts'
import { resolveSchedulerOptions } from '../../scheduler/scheduler-options.ts'
import { inProcessThreadPool, zeroSizeThreadPool } from '../../threadpool/in-process-thread-pool.ts'
import { UsageError } from '../command.ts'
import { readJdbcUrl } from './jdbc-url.ts'
import { replacementOf } from './property-replacements.ts'
import type { Settings, StoreSetting } from './settings.ts'

type Writable<Options> = { -readonly [Field in keyof Options]: Options[Field] }

const serializes =
  'org.quartz.jobStore.useProperties: not true, so the Java nodes serialize job data. One that finds other data ' +
  'fires nothing any more: store jobs and triggers without data, or set it to true on all of them.'

/** What a file of Java Quartz says, and what of it is not used. */
export interface QuartzProperties {
  readonly settings: Settings
  /** One for each key that is not used: what replaces it, or that it is not known. */
  readonly notes: readonly string[]
}

/** @throws UsageError for text that is no file of properties, and for a value that cannot be used */
export function readQuartzProperties(text: string): QuartzProperties {
  return new PropertiesReader(text).read()
}

const prefix = 'org.quartz.'

/** Takes the keys that it knows, one after the other; what is left at the end is noted. */
class PropertiesReader {
  /** All of them, which `$@` may name. */
  readonly #all: ReadonlyMap<string, string>
  /** Those of Quartz, by what stands after the prefix. */
  readonly #values: ReadonlyMap<string, string>
  readonly #taken = new Set<string>()
  /** Keys, in full, that `$@` of another key has named. */
  readonly #copied = new Set<string>()
  readonly #notes: string[] = []
  /** What an option was read from. */
  readonly #keyOf = new Map<string, string>()
  readonly #scheduler: Writable<SchedulerOptions> = {}
  readonly #store: Writable<PostgresJobStoreOptions> = {}

  constructor(text: string) {
    try {
      const entries = Object.entries(readProperties(text)).map(([key, value]) => [key, value.trim()] as const)
      const own = entries.filter(([key, value]) => key.startsWith(prefix) && value !== '')
      this.#all = new Map(entries)
      this.#values = new Map(own.map(([key, value]) => [key.slice(prefix.length), value]))
    } catch (error) {
      throw new UsageError(`--config: not a file of properties: ${textOf(error)}`, { cause: error })
    }
  }

  read(): QuartzProperties {
    const schedulerName = this.#take('scheduler.instanceName')
    this.#readScheduler()
    const store = this.#readStore()
    for (const key of this.#values.keys()) if (!this.#taken.has(key)) this.#notes.push(replacementOf(key))
    for (const key of this.#all.keys()) {
      if (!key.startsWith(prefix) && !this.#copied.has(key)) {
        this.#notes.push(`${key}: not a key of Quartz, which all begin with '${prefix}'.`)
      }
    }
    const scheduler = this.#scheduler
    this.#checkBounds(store)
    const settings: Settings = { scheduler, store, ...(schedulerName !== null && { schedulerName }) }
    return { settings, notes: this.#notes }
  }

  /** Finds out before anything is opened, and says which line it is. @throws UsageError */
  #checkBounds(store: StoreSetting | null): void {
    try {
      const jobStore = store?.open('never') ?? ramJobStore()
      const { threadPool = {} } = this.#scheduler
      const pool = 'initialize' in threadPool ? threadPool : inProcessThreadPool(threadPool)
      resolveSchedulerOptions(this.#scheduler, { jobStore, threadPool: pool })
    } catch (error) {
      const key = error instanceof InvalidArgumentError ? this.#keyOf.get(error.field) : undefined
      if (key === undefined) throw error
      throw new UsageError(`--config: ${prefix}${key}: ${textOf(error)}`, { cause: error })
    }
  }

  #readScheduler(): void {
    const scheduler = this.#scheduler
    const instanceId = this.#take('scheduler.instanceId')
    if (instanceId !== null && !/^(AUTO|SYS_PROP|NON_CLUSTERED)$/i.test(instanceId)) {
      scheduler.instanceId = instanceId
    }
    this.#number('scheduler.idleWaitTime', scheduler, 'idleWaitMs')
    this.#number('scheduler.batchTriggerAcquisitionMaxCount', scheduler, 'maxBatchSize')
    this.#number('scheduler.batchTriggerAcquisitionFireAheadTimeWindow', scheduler, 'batchTimeWindowMs')
    this.#number('jobStore.misfireThreshold', scheduler, 'misfireThresholdMs')
    scheduler.interruptJobsOnShutdown = this.#flag('scheduler.interruptJobsOnShutdown')
    scheduler.interruptJobsOnShutdownWithWait = this.#flag('scheduler.interruptJobsOnShutdownWithWait')
    this.#readThreadPool()
  }

  #readThreadPool(): void {
    const pool: { size?: number } = {}
    this.#number('threadPool.threadCount', pool, 'size')
    if (pool.size !== undefined) this.#scheduler.threadPool = pool
    const poolClass = this.#take('threadPool.class') ?? ''
    if (poolClass.endsWith('ZeroSizeThreadPool')) this.#scheduler.threadPool = zeroSizeThreadPool()
    else if (poolClass !== '' && !poolClass.endsWith('.SimpleThreadPool')) {
      this.#notes.push(
        `threadPool.class: '${poolClass}' is a class of Java's; the pool of quartz-ts is used.`,
      )
    }
  }

  /** The database; null for what is kept in memory, or in a database that no store is for. */
  #readStore(): StoreSetting | null {
    const storeClass = this.#take('jobStore.class') ?? ''
    const name = this.#take('jobStore.dataSource')
    this.#take('jobStore.driverDelegateClass')
    if (name === null) {
      const isMemory = storeClass === '' || storeClass.endsWith('RAMJobStore')
      const what = isMemory ? 'in memory of the Java process' : `by '${storeClass}' without a dataSource`
      this.#notes.push(`org.quartz.jobStore: jobs are kept ${what}; name a database with --store.`)
      return null
    }
    const connectionString = this.#readDataSource(name)
    this.#readTables()
    if (connectionString === null) return null
    const options: PostgresJobStoreOptions = { ...this.#store, connectionString: connectionString.url }
    return {
      place: connectionString.place,
      requireThere: () => {},
      keepPrivate: () => {},
      open: (migrate, history) =>
        postgresJobStore({ ...options, migrate, ...(history !== undefined && { history }) }),
    }
  }

  #readTables(): void {
    const store = this.#store
    const tables = this.#take('jobStore.tablePrefix')
    if (tables !== null) {
      // Java writes the names without quotes, and PostgreSQL makes small letters of them.
      const [before = '', after] = tables.toLowerCase().split('.')
      if (after !== undefined) store.schema = before
      store.tablePrefix = after ?? before
    }
    const usesProperties = this.#flag('jobStore.useProperties')
    if (usesProperties) store.jobData = 'properties'
    if (this.#flag('jobStore.isClustered')) {
      store.locking = 'quartzLocks'
      if (!usesProperties) this.#notes.push(serializes)
    }
    this.#number('jobStore.clusterCheckinInterval', store, 'checkInIntervalMs')
  }

  #readDataSource(name: string): { readonly url: string; readonly place: string } | null {
    const at = `dataSource.${name}`
    const jdbc = this.#take(`${at}.URL`)
    const [user, password] = [this.#take(`${at}.user`), this.#take(`${at}.password`)]
    this.#take(`${at}.driver`)
    this.#number(`${at}.maxConnections`, this.#store, 'poolSize')
    if (jdbc === null) {
      this.#notes.push(`${prefix}${at}.URL is missing; name the database with --store.`)
      return null
    }
    const address = readJdbcUrl(jdbc, { user, password })
    if (address === null) {
      this.#notes.push(
        `${prefix}${at}.URL ${
          /^jdbc:postgresql:.*,/.test(jdbc)
            ? 'has several hosts, and pg takes one; name that of the primary, or of a proxy, with --store.'
            : 'is no PostgreSQL database; there are stores for PostgreSQL and SQLite.'
        }`,
      )
      return null
    }
    if (address.schema !== null) this.#store.schema = address.schema
    for (const parameter of address.unused) {
      this.#notes.push(
        `${prefix}${at}.URL: the parameter '${parameter}' is one of the JDBC driver and is left out.`,
      )
    }
    return address
  }

  /** A value that is not empty; `$@other.key` stands for that of another key. */
  #take(key: string): string | null {
    const value = this.#values.get(key)
    this.#taken.add(key)
    if (value?.startsWith('$@') !== true) return value ?? null
    const name = value.slice(2)
    this.#copied.add(name)
    const copied = this.#all.get(name) ?? ''
    return copied === '' ? null : copied
  }

  #number<Field extends string>(key: string, options: { [Name in Field]?: number }, field: Field): void {
    const text = this.#take(key)
    if (text === null || text === '-1') return
    if (!/^\d{1,12}$/.test(text))
      throw new UsageError(`--config: ${key} must be a whole number, got '${text}'.`)
    options[field] = Number(text)
    this.#keyOf.set(field, key)
  }

  #flag(key: string): boolean {
    const text = (this.#take(key) ?? 'false').toLowerCase()
    if (text === 'true' || text === 'false') return text === 'true'
    throw new UsageError(`--config: ${key} must be true or false, got '${text}'.`)
  }
}
