/**
 * A right request for each operation, as a dry run where something would change; `{ dryRun }` is added by the tests.
 */
export interface RightRequest {
  /** Below /api, with everything filled in. */
  readonly path: string
  readonly body?: unknown
  /** The job group that it is about; null for one that needs its role on everything; 'any' where a group is enough. */
  readonly jobGroup: string | null
  /** What an admin gets, where that is not 200. */
  readonly status?: number
}

const cronFields = {
  type: 'cron',
  jobKey: { group: 'reports', name: 'daily' },
  cronExpression: { expression: '0 0 8 * * ?', timeZone: 'Europe/Paris' },
}

const holidays = { type: 'holiday', timeZone: 'UTC', excludedDates: ['2199-12-25'] }

const definitions = {
  format: 'quartz-ts',
  version: 1,
  schedulerName: 'QuartzScheduler',
  exportedMs: 0,
  calendars: [{ name: 'holidays', definition: holidays }],
  jobs: [],
  triggers: [],
}

export const rightRequests: Readonly<Record<string, RightRequest>> = {
  'session.get': { path: '/session', jobGroup: 'any' },
  'session.begin': { path: '/session', body: { token: 'viewer-token' }, jobGroup: 'any' },
  'session.end': { path: '/session', jobGroup: 'any' },
  'schedulers.list': { path: '/schedulers', jobGroup: 'any' },
  'openapi.get': { path: '/openapi.json', jobGroup: 'any' },
  'events.stream': { path: '/events', jobGroup: 'any' },
  'scheduler.get': { path: '/scheduler', jobGroup: 'any' },
  'scheduler.overview': { path: '/overview', jobGroup: null },
  'scheduler.start': { path: '/scheduler/start', jobGroup: null },
  'scheduler.standby': { path: '/scheduler/standby', jobGroup: null },
  'scheduler.pauseAll': { path: '/scheduler/pause-all', jobGroup: null },
  'scheduler.resumeAll': { path: '/scheduler/resume-all', jobGroup: null },
  'groups.list': { path: '/groups', jobGroup: null },
  'jobGroups.pause': { path: '/job-groups/reports/pause', jobGroup: 'reports' },
  'jobGroups.resume': { path: '/job-groups/mail/resume', jobGroup: 'mail' },
  'triggerGroups.pause': { path: '/trigger-groups/reports/pause', jobGroup: null },
  'triggerGroups.resume': { path: '/trigger-groups/reports/resume', jobGroup: null },
  'jobs.list': { path: '/jobs', jobGroup: 'any' },
  'jobs.get': { path: '/jobs/mail/hourly', jobGroup: 'mail' },
  'jobs.triggers': { path: '/jobs/reports/daily/triggers', jobGroup: 'reports' },
  'jobs.put': { path: '/jobs/reports/weekly', body: { jobType: 'echo' }, jobGroup: 'reports' },
  'jobs.delete': { path: '/jobs/reports/daily', jobGroup: 'reports' },
  'jobs.run': { path: '/jobs/reports/daily/run', body: {}, jobGroup: 'reports' },
  'jobs.pause': { path: '/jobs/reports/daily/pause', jobGroup: 'reports' },
  'jobs.resume': { path: '/jobs/mail/hourly/resume', jobGroup: 'mail' },
  'jobs.interrupt': { path: '/jobs/reports/daily/interrupt', jobGroup: 'reports' },
  'jobs.shards': { path: '/jobs/mail/hourly/shards', jobGroup: 'mail' },
  // The job is not sharded.
  'jobs.disableShard': { path: '/jobs/reports/daily/shards/3/disable', jobGroup: 'reports', status: 400 },
  'jobs.enableShard': { path: '/jobs/mail/hourly/shards/0/enable', jobGroup: 'mail' },
  'triggers.list': { path: '/triggers', jobGroup: 'any' },
  'triggers.get': { path: '/triggers/reports/daily', jobGroup: 'reports' },
  'triggers.fireTimes': { path: '/triggers/mail/hourly/fire-times', jobGroup: 'mail' },
  'triggers.put': { path: '/triggers/reports/new', body: cronFields, jobGroup: 'reports' },
  'triggers.delete': { path: '/triggers/reports/daily', jobGroup: 'reports' },
  'triggers.run': { path: '/triggers/reports/daily/run', body: {}, jobGroup: 'reports' },
  'triggers.pause': { path: '/triggers/reports/daily/pause', jobGroup: 'reports' },
  'triggers.resume': { path: '/triggers/mail/hourly/resume', jobGroup: 'mail' },
  'triggers.skipNext': { path: '/triggers/reports/daily/skip-next', jobGroup: 'reports' },
  'triggers.resetError': { path: '/triggers/reports/daily/reset-error', jobGroup: 'reports' },
  'planned.list': { path: '/planned?fromMs=7226582400000&toMs=7227187200000', jobGroup: 'any' },
  'planned.load': { path: '/planned/load?atMs=7226582400000', jobGroup: 'any' },
  'executing.list': { path: '/executing', jobGroup: 'any' },
  'executing.interrupt': { path: '/executing/none/interrupt', jobGroup: null, status: 404 },
  'executions.list': { path: '/executions', jobGroup: 'any' },
  'executions.get': { path: '/executions/none', jobGroup: null, status: 404 },
  'executions.log': { path: '/executions/none/log', jobGroup: null },
  'misfires.list': { path: '/misfires', jobGroup: 'any' },
  'misfires.stats': { path: '/misfire-stats', jobGroup: null },
  'jobStatus.list': { path: '/job-status', jobGroup: 'any' },
  'jobs.status': { path: '/jobs/mail/hourly/status', jobGroup: 'mail' },
  'completion.list': { path: '/completion?of=jobs&text=da', jobGroup: 'any' },
  'executions.stats': { path: '/execution-stats', jobGroup: null },
  'nodes.list': { path: '/nodes', jobGroup: null },
  'nodes.start': { path: '/nodes/NON_CLUSTERED/start', jobGroup: null },
  'nodes.standby': { path: '/nodes/NON_CLUSTERED/standby', jobGroup: null },
  'nodes.drain': { path: '/nodes/NON_CLUSTERED/drain', jobGroup: null },
  'nodes.remove': { path: '/nodes/none/remove', jobGroup: null, status: 404 },
  'calendars.list': { path: '/calendars', jobGroup: null },
  'calendars.get': { path: '/calendars/holidays', jobGroup: null },
  'calendars.days': { path: '/calendars/holidays/days?from=2199-12-20', jobGroup: null },
  'calendars.put': { path: '/calendars/new', body: { definition: holidays }, jobGroup: null },
  'calendars.delete': { path: '/calendars/holidays', jobGroup: null },
  'bulk.begin': { path: '/bulk', body: { action: 'pause', of: 'jobs' }, jobGroup: 'any' },
  'bulk.list': { path: '/bulk', jobGroup: null },
  'bulk.get': { path: '/bulk/none', jobGroup: 'any', status: 404 },
  'bulk.stop': { path: '/bulk/none/stop', jobGroup: 'any', status: 404 },
  'definitions.export': { path: '/definitions', jobGroup: null },
  'definitions.import': { path: '/definitions', body: { definitions }, jobGroup: null },
  'audit.list': { path: '/audit', jobGroup: null },
  'auth.list': { path: '/auth', jobGroup: null },
  'support.dump': { path: '/support-dump', jobGroup: null },
  'cron.preview': { path: '/cron/preview?expression=0+0+8+*+*+%3F', jobGroup: 'any' },
  'health.live': { path: '/health/live', jobGroup: 'any' },
  'health.ready': { path: '/health/ready', jobGroup: 'any', status: 503 },
  'health.rules': { path: '/health/rules', jobGroup: null },
  'metrics.get': { path: '/metrics', jobGroup: null, status: 404 },
  'alerts.list': { path: '/alerts', jobGroup: null, status: 404 },
  'alerts.silence': {
    path: '/alerts/silences',
    body: { untilMs: 4_000_000_000_000, reason: 'a test' },
    jobGroup: null,
    status: 404,
  },
  'alerts.endSilence': { path: '/alerts/silences/none', jobGroup: null, status: 404 },
  'xxlJob.executors': { path: '/xxl-job/executors', jobGroup: null, status: 404 },
  'xxlJob.jobs': { path: '/xxl-job/jobs', jobGroup: 'any', status: 404 },
  'xxlJob.glue': { path: '/xxl-job/glue/none', jobGroup: null, status: 404 },
  'xxlJob.run': {
    path: '/xxl-job/jobs/reports/daily/run',
    body: { param: 'May', address: 'http://127.0.0.1:1' },
    jobGroup: 'reports',
    status: 404,
  },
  'xxlJob.log': { path: '/xxl-job/log/none', jobGroup: null, status: 404 },
  'xxlJob.report': { path: '/xxl-job/report', jobGroup: null, status: 404 },
  'alerts.test': { path: '/alerts/test', body: {}, jobGroup: null, status: 404 },
}
