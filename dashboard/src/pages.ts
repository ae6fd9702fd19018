import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import type { OperationId } from './api/operations.ts'
import type { IconName } from './parts/icon.tsx'
import { MissingPage } from './parts/missing-page.tsx'
import type { NavigationWords } from './words/navigation.ts'

export interface PageProps {
  readonly params: Readonly<Record<string, string>>
}

export interface PageEntry {
  /** Of preact-iso: `:name` is a parameter. */
  readonly path: string
  readonly component: ComponentType<PageProps>
  /** Null for a page that others lead to. */
  readonly navigation: {
    readonly label: keyof NavigationWords
    readonly icon: IconName
    /** Left out for those who may not call it. */
    readonly needs: OperationId
  } | null
}

type Load = () => Promise<ComponentType<PageProps>>

function page(path: string, load: Load, navigation: PageEntry['navigation'] = null): PageEntry {
  return { path, component: lazy(() => load().catch(() => MissingPage)), navigation }
}

/** Every page, in the order of the navigation; each one is loaded when it is first shown. */
export const pages: readonly PageEntry[] = [
  page('/', async () => (await import('./pages/overview/overview.tsx')).OverviewPage, {
    label: 'overview',
    icon: 'overview',
    needs: 'scheduler.get',
  }),
  page('/jobs', async () => (await import('./pages/jobs/job-list.tsx')).JobListPage, {
    label: 'jobs',
    icon: 'jobs',
    needs: 'jobs.list',
  }),
  page('/jobs/new', async () => (await import('./pages/jobs/job-edit.tsx')).NewJobPage),
  page('/jobs/:group/:name', async () => (await import('./pages/jobs/job.tsx')).JobPage),
  page('/jobs/:group/:name/edit', async () => (await import('./pages/jobs/job-edit.tsx')).EditJobPage),
  page('/triggers', async () => (await import('./pages/triggers/trigger-list.tsx')).TriggerListPage, {
    label: 'triggers',
    icon: 'triggers',
    needs: 'triggers.list',
  }),
  page('/triggers/new', async () => (await import('./pages/triggers/trigger-edit.tsx')).NewTriggerPage),
  page('/triggers/:group/:name', async () => (await import('./pages/triggers/trigger.tsx')).TriggerPage),
  page(
    '/triggers/:group/:name/edit',
    async () => (await import('./pages/triggers/trigger-edit.tsx')).EditTriggerPage,
  ),
  page('/running', async () => (await import('./pages/running/running.tsx')).RunningPage, {
    label: 'running',
    icon: 'running',
    needs: 'executing.list',
  }),
  page('/history', async () => (await import('./pages/history/history-list.tsx')).HistoryPage, {
    label: 'history',
    icon: 'history',
    needs: 'executions.list',
  }),
  page('/history/:id', async () => (await import('./pages/history/execution.tsx')).ExecutionPage),
  page('/misfires', async () => (await import('./pages/misfires/misfires.tsx')).MisfiresPage, {
    label: 'misfires',
    icon: 'misfires',
    needs: 'misfires.list',
  }),
  page('/timeline', async () => (await import('./pages/timeline/timeline.tsx')).TimelinePage, {
    label: 'timeline',
    icon: 'timeline',
    needs: 'executions.list',
  }),
  page('/cron', async () => (await import('./pages/cron/cron.tsx')).CronPage, {
    label: 'cron',
    icon: 'cron',
    needs: 'cron.preview',
  }),
  page('/calendars', async () => (await import('./pages/calendars/calendar-list.tsx')).CalendarListPage, {
    label: 'calendars',
    icon: 'calendars',
    needs: 'calendars.list',
  }),
  page('/calendars/new', async () => (await import('./pages/calendars/calendar.tsx')).NewCalendarPage),
  page('/calendars/of/:name', async () => (await import('./pages/calendars/calendar.tsx')).CalendarPage),
  page('/nodes', async () => (await import('./pages/nodes/nodes.tsx')).NodesPage, {
    label: 'nodes',
    icon: 'nodes',
    needs: 'nodes.list',
  }),
  page('/executors', async () => (await import('./pages/executors/executors.tsx')).ExecutorsPage, {
    label: 'executors',
    icon: 'executors',
    needs: 'xxlJob.executors',
  }),
  page('/groups', async () => (await import('./pages/groups/groups.tsx')).GroupsPage, {
    label: 'groups',
    icon: 'groups',
    needs: 'groups.list',
  }),
  page('/audit', async () => (await import('./pages/audit/audit.tsx')).AuditPage, {
    label: 'audit',
    icon: 'audit',
    needs: 'audit.list',
  }),
  page('/users', async () => (await import('./pages/users/users.tsx')).UsersPage, {
    label: 'users',
    icon: 'users',
    needs: 'auth.list',
  }),
  page('/settings', async () => (await import('./pages/settings/settings.tsx')).SettingsPage, {
    label: 'settings',
    icon: 'settings',
    needs: 'session.get',
  }),
]
