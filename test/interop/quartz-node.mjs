// A node of this package in a cluster that a test drives: takes the commands that java/QuartzNode.java takes.
// Arguments: connection string, scheduler name, instance id, file of the history, locking.

import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createScheduler,
  defineJob,
  HolidayCalendar,
  JobBuilder,
  JobKey,
  TriggerKey,
  TriggerUtils,
  triggerFromJSON,
  triggerToJSON,
} from '../../dist/index.js'
import { postgresJobStore } from '../../dist/postgres.js'

const [connectionString, schedulerName, instanceId, history, locking] = process.argv.slice(2)

/** Lines of all nodes stand in the order of what happened: each is written at once, at the end of the file. */
function record(kind, context) {
  const line = {
    at: Date.now(),
    kind,
    node: instanceId,
    trigger: context.triggerKey.toString(),
    job: context.jobKey.toString(),
    planned: context.scheduledFireTime.getTime(),
    id: context.fireInstanceId,
    recovering: context.recoveringTriggerKey?.toString() ?? null,
    note: context.mergedJobDataMap.note ?? null,
  }
  appendFileSync(history, `${JSON.stringify(line)}\n`)
}

/** Writes when it begins and ends; in between it sleeps as long as its data say, unless it recovers. */
async function execute(context) {
  record('started', context)
  const { bodyMs } = context.mergedJobDataMap
  if (bodyMs !== undefined && !context.recovering) await sleep(Number(bodyMs))
  record('ended', context)
}

// The names of Java's classes, so that both sides know them.
const jobs = [
  defineJob('interop.QuartzNode$RecordJob', execute),
  defineJob('interop.QuartzNode$ExclusiveJob', execute, { disallowConcurrentExecution: true }),
]

const eventNames = ['schedulerError', 'triggerInError', 'nodeFailed', 'nodeRecovered', 'recoveredByPeer']
const events = []
let scheduler = null

const instructions = {
  simple: [
    'ignore',
    'smart',
    'fireNow',
    'rescheduleNowWithExistingRepeatCount',
    'rescheduleNowWithRemainingRepeatCount',
    'rescheduleNextWithRemainingCount',
    'rescheduleNextWithExistingCount',
  ],
  others: ['ignore', 'smart', 'fireOnceNow', 'doNothing'],
}
/** Quartz's numbers begin at -1. */
const instructionsOf = (type) => instructions[type] ?? instructions.others

const numberOf = (value) => (value === undefined ? null : Number(value))
const triggerKeyOf = (command) => new TriggerKey(command.name, command.group)
const jobKeyOf = (command) => new JobKey(command['job.name'], command['job.group'])

function dataOf(command, prefix) {
  const entries = Object.entries(command).filter(([name]) => name.startsWith(prefix))
  return Object.fromEntries(entries.map(([name, value]) => [name.slice(prefix.length), value]))
}

function jobOf(command) {
  const definition = jobs.find(({ jobType }) => jobType === command['job.type'])
  const builder = JobBuilder.newJob(definition)
    .withIdentity(jobKeyOf(command))
    .withDescription(command['job.description'] ?? null)
    .usingJobData(dataOf(command, 'job.data.'))
  if (command['job.durable'] === 'true') builder.storeDurably()
  if (command['job.recovery'] === 'true') builder.requestRecovery()
  return builder.build()
}

/** The columns that each family adds, as `triggerFromJSON` takes them. */
const schedules = {
  simple: (command) => ({
    repeatCount: Number(command.repeatCount),
    repeatIntervalMs: Number(command.intervalMs),
  }),
  cron: (command) => ({
    cronExpression: {
      expression: command.expression,
      timeZone: command.zone,
      dst: 'quartz',
      dialect: 'quartz',
      seconds: 'never',
    },
  }),
  calendarInterval: (command) => ({
    repeatInterval: Number(command.interval),
    repeatIntervalUnit: command.unit,
    timeZone: command.zone,
    preserveHourOfDayAcrossDaylightSavings: command.preserveHour === 'true',
    skipDayIfHourDoesNotExist: command.skipDay === 'true',
  }),
  dailyTimeInterval: (command) => ({
    repeatInterval: Number(command.interval),
    repeatIntervalUnit: command.unit,
    repeatCount: Number(command.repeatCount),
    startSecondOfDay: Number(command.from),
    endSecondOfDay: Number(command.to),
    daysOfWeekMask: command.days.split(',').reduce((mask, day) => mask | (1 << Number(day)), 0),
    timeZone: 'UTC',
  }),
}

function triggerOf(command) {
  return triggerFromJSON({
    type: command.type,
    key: { name: command.name, group: command.group },
    jobKey: { name: command['job.name'], group: command['job.group'] },
    description: command.description ?? null,
    calendarName: command.calendar ?? null,
    jobDataMap: dataOf(command, 'data.'),
    priority: Number(command.priority),
    startTimeMs: Number(command.start),
    endTimeMs: numberOf(command.end),
    nextFireTimeMs: null,
    previousFireTimeMs: null,
    timesTriggered: 0,
    misfiredFireTimeMs: null,
    misfireInstruction: instructionsOf(command.type)[Number(command.misfire) + 1],
    ...schedules[command.type](command),
  })
}

/** A trigger in the words of the Java node, without what Java does not know. */
function describeTrigger(trigger) {
  if (trigger === null) return null
  const json = triggerToJSON(trigger)
  const text = {
    ...json,
    key: trigger.key.toString(),
    jobKey: trigger.jobKey.toString(),
    data: json.jobDataMap,
    misfireInstruction: instructionsOf(json.type).indexOf(json.misfireInstruction) - 1,
  }
  const unknown = ['jobDataMap', 'misfiredFireTimeMs']
  if (json.type === 'cron') {
    Object.assign(text, {
      expression: json.cronExpression.expression,
      timeZone: json.cronExpression.timeZone,
    })
    unknown.push('cronExpression', 'timesTriggered')
  }
  if (json.type === 'dailyTimeInterval') {
    text.daysOfWeek = [1, 2, 3, 4, 5, 6, 7].filter((day) => (json.daysOfWeekMask & (1 << day)) !== 0)
    unknown.push('daysOfWeekMask', 'timeZone')
  }
  return Object.fromEntries(Object.entries(text).filter(([name]) => !unknown.includes(name)))
}

function describeJob(job) {
  return (
    job && {
      key: job.key.toString(),
      jobType: job.jobType,
      description: job.description,
      durable: job.durable,
      nonConcurrent: job.disallowConcurrentExecution,
      persistsData: job.persistJobDataAfterExecution,
      requestsRecovery: job.requestsRecovery,
      data: job.jobDataMap,
    }
  )
}

async function open() {
  const jobStore = postgresJobStore({ connectionString, locking, jobData: 'properties' })
  // As in Java's node: how soon this one sees what Java has scheduled.
  scheduler = await createScheduler({ schedulerName, instanceId, jobs, jobStore, idleWaitMs: 1000 })
  for (const name of eventNames) {
    scheduler.events.on(name, (event) => {
      const { error, triggerKey, ...rest } = event
      events.push({ name, ...rest, error: error?.message, trigger: triggerKey?.toString() })
    })
  }
}

const operations = {
  open,
  start: () => scheduler.start(),
  async schedule(command) {
    const trigger = triggerOf(command)
    const planned = TriggerUtils.computeFireTimes(trigger, null, Number(command.show))
    if (command['job.type'] === undefined) await scheduler.scheduleJob(trigger)
    else await scheduler.scheduleJob(jobOf(command), trigger)
    return planned.map((time) => time.getTime())
  },
  addJob: (command) => scheduler.addJob(jobOf(command), { replace: true }),
  addHoliday: (command) =>
    scheduler.addCalendar(
      command.calendar,
      new HolidayCalendar({ excludedDates: [new Date(Number(command.day)).toISOString().slice(0, 10)] }),
      { replace: true, updateTriggers: true },
    ),
  readTrigger: async (command) => describeTrigger(await scheduler.getTrigger(triggerKeyOf(command))),
  readJob: async (command) => describeJob(await scheduler.getJobDetail(jobKeyOf(command))),
  state: (command) => scheduler.getTriggerState(triggerKeyOf(command)),
  pause: (command) => scheduler.pauseTrigger(triggerKeyOf(command)),
  resume: (command) => scheduler.resumeTrigger(triggerKeyOf(command)),
  unschedule: (command) => scheduler.unscheduleJob(triggerKeyOf(command)),
  events: () => events,
  shutdown: () => scheduler.shutdown({ waitForJobsToComplete: true }),
}

const say = (answer) => {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
say({ ready: true })
for await (const line of createInterface({ input: process.stdin })) {
  const { op, ...command } = Object.fromEntries(new URLSearchParams(line))
  try {
    say({ answer: (await operations[op](command)) ?? null })
  } catch (error) {
    say({ error: `${error.code ?? error.name}: ${error.message}` })
  }
}
await scheduler?.shutdown({ waitForJobsToComplete: true })
