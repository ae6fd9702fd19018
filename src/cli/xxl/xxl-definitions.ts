import { beginningOf } from '../../core/text-beginning.ts'
import { textOf } from '../../core/thrown-value.ts'
import { resolveSharding } from '../../jobs/sharding.ts'
import type { DefinitionsJson } from '../../server/operations/definitions-export.ts'
import { definitionsMax } from '../../server/wire/definitions-max.ts'
import type { JobFieldsJson, RetryJson } from '../../server/wire/jobs.ts'
import type { TriggerFieldsJson } from '../../server/wire/triggers.ts'
import type { EpochMs } from '../../time/clock.ts'
import type { TimeZone } from '../../time/zone.ts'
import { CronExpression } from '../../triggers/cron/cron-expression.ts'
import { runOfData } from '../../xxl-job/admin/run-data.ts'
import { isHttpUrl } from '../../xxl-job/protocol/option-checks.ts'
import { UsageError } from '../command.ts'
import { count } from '../terminal/text.ts'
import type { XxlRow, XxlTables } from './xxl-tables.ts'

export interface XxlImportOptions {
  /** XXL-JOB's expressions have none: they are meant in that of its admin. */
  readonly zone: TimeZone
  /** The type that the jobs get. */
  readonly jobType: string
  readonly schedulerName: string
  /** Jobs that are stopped get their schedule, too. */
  readonly withStopped: boolean
  readonly nowMs: EpochMs
}

/** Somebody who could log in; the password is not taken over. */
export interface XxlUser {
  readonly name: string
  readonly role: 'admin' | null
  readonly jobGroups: Readonly<Record<string, 'operator'>>
}

/** Something that is not the same afterwards, or is left out. */
export interface XxlNote {
  /** As in `job 17 (invoices)`. */
  readonly about: string
  readonly note: string
}

export interface XxlImport {
  readonly definitions: DefinitionsJson
  /** By AppName: the addresses that were entered by hand; none for executors that register. */
  readonly executors: Readonly<Record<string, readonly string[]>>
  readonly users: readonly XxlUser[]
  readonly notes: readonly XxlNote[]
}

const broadcast = 'SHARDING_BROADCAST'
const routes = [
  ...['FIRST', 'LAST', 'ROUND', 'RANDOM', 'CONSISTENT_HASH', 'LEAST_FREQUENTLY_USED'],
  ...['LEAST_RECENTLY_USED', 'FAILOVER', 'BUSYOVER', broadcast],
]
const blockStrategies = ['SERIAL_EXECUTION', 'DISCARD_LATER', 'COVER_EARLY']
/** XXL-JOB looks for failed runs every 10 seconds, and repeats them at once. */
const retryDelayMs = 10_000
/** The misfire policies of XXL-JOB. */
const misfireStrategies = ['DO_NOTHING', 'FIRE_ONCE_NOW']
/** Most addresses that are named of those that get no mail. */
const mailsShown = 20
const intervalSecondsMax = 2_147_483_647

type Job = DefinitionsJson['jobs'][number]
type Trigger = DefinitionsJson['triggers'][number]

/**
 * Makes definitions of a dump. A row that makes no sense is named and left out; the others go on.
 *
 * @throws UsageError for more jobs than can be stored at a time
 */
export function definitionsOfXxl(tables: XxlTables, options: XxlImportOptions): XxlImport {
  return new Conversion(options).convert(tables)
}

class Conversion {
  readonly #options: XxlImportOptions
  readonly #appNames = new Map<number, string>()
  readonly #notes: XxlNote[] = []
  readonly #jobs = new Map<number, Job>()
  readonly #triggers: Trigger[] = []
  #jobsWithMail = 0
  readonly #mails = new Set<string>()

  constructor(options: XxlImportOptions) {
    this.#options = options
  }

  convert({ groups, jobs, users }: XxlTables): XxlImport {
    const executors = this.#groups(groups)
    for (const [row, place] of this.#readable(jobs, 'xxl_job_info')) this.#job(row, place)
    if (this.#jobs.size > definitionsMax) throw tooMany(this.#jobs.size)
    this.#noteMails()
    const { schedulerName, nowMs } = this.#options
    return {
      definitions: {
        format: 'quartz-ts',
        version: 1,
        schedulerName,
        exportedMs: nowMs,
        calendars: [],
        jobs: [...this.#jobs.values()],
        triggers: this.#triggers,
      },
      executors,
      users: this.#readable(users, 'xxl_job_user').flatMap(([row, place]) => this.#user(row, place)),
      notes: this.#notes,
    }
  }

  #note(about: string, note: string): void {
    this.#notes.push({ about, note })
  }

  /** Rows that can be read, each with its place in the dump; the others are named. */
  #readable(rows: readonly XxlRow[], table: string): readonly (readonly [XxlRow, string])[] {
    const placed = rows.map((row, index) => [row, `row ${index + 1} of ${table}`] as const)
    return placed.filter(([{ problem }, place]) => {
      if (problem !== null) this.#note(place, `left out: ${problem}`)
      return problem === null
    })
  }

  #groups(rows: readonly XxlRow[]): Record<string, readonly string[]> {
    const executors = new Map<string, readonly string[]>()
    for (const [row, place] of this.#readable(rows, 'xxl_job_group')) {
      const id = row.whole('id')
      const appName = row.text('app_name')
      if (id === null || !/^[\x21-\x7e]{1,200}$/.test(appName)) {
        this.#note(place, 'left out: it has no id, or no AppName of visible ASCII')
        continue
      }
      this.#appNames.set(id, appName)
      const isByHand = row.whole('address_type') === 1
      executors.set(appName, isByHand ? this.#addresses(row, appName) : [])
      if (row.text('access_token') !== '') {
        this.#note(`executor group ${appName}`, 'its own token is not taken over: enter it in accessTokens')
      }
    }
    return Object.fromEntries(executors)
  }

  /** Those that the option `executors` takes; the others are named. */
  #addresses(row: XxlRow, appName: string): readonly string[] {
    return listOf(row.text('address_list')).filter((address) => {
      if (isHttpUrl(address)) return true
      const note = `the address '${address}' is left out: it is no URL such as 'http://10.0.0.7:9999/'`
      this.#note(`executor group ${appName}`, note)
      return false
    })
  }

  #job(row: XxlRow, place: string): void {
    const id = row.whole('id')
    const appName = this.#appNames.get(row.whole('job_group') ?? Number.NaN)
    if (id === null || id < 1 || id > 2 ** 31 - 1) {
      this.#note(place, 'left out: its id is no number from 1 to 2147483647')
      return
    }
    const title = beginningOf(row.text('name', 'job_desc'), 1000)
    const about = title === '' ? `job ${id}` : `job ${id} (${title})`
    if (appName === undefined) {
      this.#note(about, `left out: there is no executor group ${row.text('job_group')}`)
    } else if (this.#jobs.has(id)) {
      this.#note(about, `left out: ${place} has the id of an earlier row`)
    } else {
      const key = { group: appName, name: String(id) }
      const fields = this.#jobFields(row, { id, appName, title, about })
      this.#jobs.set(id, { key, fields })
      this.#trigger(row, { key, about, problem: problemOf(fields) })
    }
  }

  #jobFields(row: XxlRow, job: { id: number; appName: string; title: string; about: string }): JobFieldsJson {
    const { id, appName, title, about } = job
    if (row.text('child_jobid') !== '') {
      this.#note(about, `its child jobs (${row.text('child_jobid')}) are not run after it: chain them`)
    }
    const mails = listOf(row.text('alarm_email'))
    if (mails.length > 0) this.#jobsWithMail++
    for (const mail of mails) this.#mails.add(mail)
    const isBroadcast = row.text('executor_route_strategy') === broadcast
    return {
      jobType: this.#options.jobType,
      description: title === '' ? null : title,
      jobDataMap: {
        appName,
        jobId: id,
        handler: row.text('executor_handler'),
        param: row.raw('executor_param'),
        route: this.#oneOf(row, 'executor_route_strategy', routes, about),
        blockStrategy: this.#oneOf(row, 'executor_block_strategy', blockStrategies, about),
        timeoutSeconds: Math.max(row.whole('executor_timeout') ?? 0, 0),
        ...this.#glue(row, about),
      },
      durable: true,
      requestsRecovery: isBroadcast,
      disallowConcurrentExecution: false,
      persistJobDataAfterExecution: false,
      timeoutMs: null,
      retry: retryOf(row.whole('executor_fail_retry_count') ?? 0),
      nodeAffinity: null,
      // As a node that knows the type stores it.
      sharding: isBroadcast ? resolveSharding({ items: 'remote' }) : null,
    }
  }

  /** Most jobs have an address: a line of each would hide what else there is. */
  #noteMails(): void {
    if (this.#jobsWithMail === 0) return
    const left = this.#mails.size - mailsShown
    const shown = [...this.#mails].slice(0, mailsShown).join(', ') + (left > 0 ? ` and ${left} more` : '')
    this.#note(count(this.#jobsWithMail, 'job'), `no mail goes to ${shown}: see alerts`)
  }

  /** The first of what is known where the row has something else. */
  #oneOf(row: XxlRow, column: string, known: readonly string[], about: string): string | undefined {
    const value = row.text(column)
    if (known.includes(value)) return value
    if (value !== '') this.#note(about, `${column} '${value}' is not known: ${known[0]} is taken`)
    return known[0]
  }

  #glue(row: XxlRow, about: string): { readonly glue?: object } {
    const type = row.text('glue_type')
    if (type === '' || type === 'BEAN') return {}
    this.#note(
      about,
      `its code (${type}) is in the data of the job; earlier versions of it are not taken over`,
    )
    return {
      glue: { type, source: row.raw('glue_source'), updated: this.#instantOf(row.text('glue_updatetime')) },
    }
  }

  /** MySQL writes local times. What is none counts as the beginning: executors only compare it. */
  #instantOf(text: string): EpochMs {
    if (/^\d{11,15}$/.test(text)) return Number(text)
    const localMs = Date.parse(`${text.replace(' ', 'T')}Z`)
    return Number.isNaN(localMs) ? 0 : (this.#options.zone.instantsOf(localMs)[0] ?? localMs)
  }

  #trigger(row: XxlRow, job: { key: Job['key']; about: string; problem: string | null }): void {
    const { key, about, problem } = job
    // Before 2.3 every job has a cron expression, and no type.
    const isOld = !row.has('schedule_type')
    const type = isOld ? 'CRON' : row.text('schedule_type').toUpperCase()
    const text = isOld ? row.text('job_cron') : row.text('schedule_conf')
    const isPlanned = type !== 'NONE' && !(isOld && text === '')
    if (problem !== null) {
      // Each firing of it would fail.
      const left = isPlanned ? `, and its schedule (${type} ${text}) is left out` : ''
      this.#note(about, `it cannot run${left}: ${problem}`)
      return
    }
    if (!isPlanned) return
    if (row.whole('trigger_status') !== 1 && !this.#options.withStopped) {
      this.#note(about, `stopped: its schedule (${type} ${text}) is left out; --with-stopped takes it over`)
      return
    }
    const fields = this.#triggerFields({ type, text, row }, key, about)
    if (fields !== null) this.#triggers.push({ key, fields })
  }

  #triggerFields(
    { type, text, row }: { readonly type: string; readonly text: string; readonly row: XxlRow },
    jobKey: Job['key'],
    about: string,
  ): TriggerFieldsJson | null {
    const common = {
      jobKey,
      description: null,
      calendarName: null,
      jobDataMap: {},
      priority: 5,
      startTimeMs: null,
      endTimeMs: null,
    }
    const firesLate = this.#oneOf(row, 'misfire_strategy', misfireStrategies, about) === 'FIRE_ONCE_NOW'
    if (type === 'CRON') {
      try {
        const expression = CronExpression.parse(text, { timeZone: this.#options.zone.name, dst: 'quartz' })
        if (expression.nextTimeMs(this.#options.nowMs) === null) {
          // XXL-JOB stops a job that is to run no more and keeps it; a trigger that never fires cannot be stored.
          this.#note(about, `its schedule is left out: all times of CRON ${text} have passed`)
          return null
        }
        const misfireInstruction = firesLate ? 'fireOnceNow' : 'doNothing'
        return { ...common, type: 'cron', misfireInstruction, cronExpression: expression.toJSON() }
      } catch (error) {
        this.#note(about, `its schedule is left out: ${textOf(error)}`)
        return null
      }
    }
    const seconds = /^\d{1,10}$/.test(text) ? Number(text) : 0
    if (type === 'FIX_RATE' && seconds >= 1 && seconds <= intervalSecondsMax) {
      const misfireInstruction = firesLate
        ? 'rescheduleNowWithRemainingRepeatCount'
        : 'rescheduleNextWithRemainingCount'
      // It goes on where XXL-JOB would have.
      const nextMs = row.whole('trigger_next_time') ?? 0
      const startTimeMs = nextMs > 0 ? nextMs : null
      const repeatIntervalMs = seconds * 1000
      return { ...common, startTimeMs, type: 'simple', misfireInstruction, repeatCount: -1, repeatIntervalMs }
    }
    const why =
      type === 'FIX_DELAY'
        ? 'no trigger counts from the end of a run; scheduled({ fixedDelay }) does'
        : 'it makes no sense'
    this.#note(about, `its schedule (${type} ${text}) is left out: ${why}`)
    return null
  }

  #user(row: XxlRow, place: string): readonly XxlUser[] {
    const name = row.text('username')
    if (name === '') {
      this.#note(place, 'left out: it has no name')
      return []
    }
    if (row.whole('role') === 1) return [{ name, role: 'admin', jobGroups: {} }]
    const ids = listOf(row.text('permission'))
    const appNames = ids.flatMap((id) => this.#appNames.get(Number(id)) ?? [])
    if (appNames.length < ids.length)
      this.#note(`user ${name}`, 'has rights on executor groups that are not there')
    const jobGroups = Object.fromEntries(appNames.map((appName) => [appName, 'operator' as const]))
    return [{ name, role: null, jobGroups }]
  }
}

/** What is between commas. */
function listOf(text: string): readonly string[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

function tooMany(jobs: number): UsageError {
  const most = definitionsMax.toLocaleString('en-US')
  return new UsageError(
    `The dump has ${count(jobs, 'job')}, and an import takes at most ${most}. Split it: dump xxl_job_info in parts ` +
      "with mysqldump's option --where, each with all of xxl_job_group.",
  )
}

/** Why no run can be made of a job; null for one that can run. */
function problemOf({ jobDataMap }: JobFieldsJson): string | null {
  try {
    runOfData(jobDataMap, undefined)
    return null
  } catch (error) {
    return textOf(error)
  }
}

function retryOf(count: number): RetryJson | null {
  if (count < 1) return null
  const backoff = {
    type: 'fixed',
    initialMs: retryDelayMs,
    factor: 1,
    maxMs: retryDelayMs,
    jitter: 0,
  } as const
  return { attempts: Math.min(count, 999) + 1, backoff }
}
