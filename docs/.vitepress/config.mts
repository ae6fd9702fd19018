import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'

interface SidebarItem {
  text: string
  link?: string
  items?: SidebarItem[]
}

/** Written by typedoc before the site is built; absent when only the pages are looked at. */
function apiSidebar(): SidebarItem[] {
  const file = new URL('../reference/api/typedoc-sidebar.json', import.meta.url)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SidebarItem[]) : []
}

export default defineConfig({
  title: 'quartz-ts',
  description: "Quartz's job scheduler for Node.js",
  cleanUrls: true,
  lastUpdated: false,
  // No page, but pages link to it.
  buildEnd({ srcDir, outDir }) {
    copyFileSync(join(srcDir, 'internals/statements.sql'), join(outDir, 'internals/statements.sql'))
  },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Guide', link: '/introduction/five-minutes' },
      { text: 'Reference', link: '/reference/options' },
      { text: 'Internals', link: '/internals/architecture' },
    ],
    sidebar: [
      {
        text: 'Introduction',
        items: [
          { text: 'What it is for', link: '/introduction/what-it-is-for' },
          { text: 'Five minutes', link: '/introduction/five-minutes' },
          { text: 'Coming from Quartz', link: '/introduction/coming-from-quartz' },
          { text: 'Coming from other libraries', link: '/introduction/coming-from-other-libraries' },
        ],
      },
      {
        text: 'Guide',
        items: [
          { text: 'Which of the five do I need', link: '/guide/which-one' },
          { text: 'Schedules in one line', link: '/guide/schedules' },
          { text: 'Every day with schedules', link: '/guide/every-day' },
          { text: '@Scheduled', link: '/guide/annotations' },
          { text: 'Jobs', link: '/guide/jobs' },
          { text: 'Triggers', link: '/guide/triggers' },
          { text: 'Cron and its dialects', link: '/guide/cron' },
          { text: 'Daylight saving time', link: '/guide/daylight-saving-time' },
          { text: 'Calendars', link: '/guide/calendars' },
          { text: 'Misfires', link: '/guide/misfires' },
          { text: 'Pausing', link: '/guide/pausing' },
          { text: 'Sharded jobs', link: '/guide/sharded-jobs' },
          { text: 'Remote jobs', link: '/guide/remote-jobs' },
          { text: 'Coming from Elastic-Job', link: '/guide/elastic-job' },
          { text: 'Thread pools', link: '/guide/thread-pools' },
          { text: 'Listeners and events', link: '/guide/listeners-and-events' },
          { text: 'In your own transaction', link: '/guide/transactions' },
          { text: 'Job stores', link: '/guide/job-stores' },
          { text: 'A store of your own', link: '/guide/a-store-of-your-own' },
          { text: 'A SQL database of your own', link: '/guide/a-sql-database-of-your-own' },
          { text: 'Clustering', link: '/guide/clustering' },
          { text: 'How big can it get', link: '/guide/how-big' },
          { text: 'What ran', link: '/guide/execution-history' },
          { text: 'When something fails', link: '/guide/errors' },
          { text: 'Sharing tables with Java Quartz', link: '/guide/java-quartz' },
          { text: 'Executors', link: '/guide/executors' },
          { text: 'Timer', link: '/guide/timer' },
          { text: 'Testing your schedules', link: '/guide/testing' },
          { text: 'The dashboard', link: '/guide/dashboard' },
          { text: 'The HTTP API', link: '/guide/server' },
          { text: 'Alerts', link: '/guide/alerts' },
          { text: 'Metrics, traces and health', link: '/guide/metrics' },
          { text: 'A trigger family of your own', link: '/guide/a-trigger-family-of-your-own' },
          { text: 'The command line', link: '/guide/command-line' },
          { text: 'A Node executor for XXL-JOB', link: '/guide/xxl-job-executor' },
          { text: 'Driving executors of XXL-JOB', link: '/guide/xxl-job-admin' },
          { text: 'Coming from XXL-JOB', link: '/guide/xxl-job-shops' },
          { text: 'Run it in production', link: '/guide/production' },
          { text: 'Using the package', link: '/guide/using-the-package' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Options', link: '/reference/options' },
          { text: 'Events', link: '/reference/events' },
          { text: 'Errors', link: '/reference/errors' },
          { text: 'HTTP API', link: '/reference/http-api' },
          { text: 'API', collapsed: true, items: apiSidebar() },
        ],
      },
      {
        text: 'Internals',
        items: [
          { text: 'Architecture', link: '/internals/architecture' },
          { text: 'Map of the code', link: '/internals/map' },
          { text: 'The loop', link: '/internals/loop' },
          { text: 'Trigger states', link: '/internals/trigger-states' },
          { text: 'The SQL store', link: '/internals/sql-store' },
          { text: 'Time', link: '/internals/time' },
          { text: 'Testing', link: '/internals/testing' },
          { text: 'Releasing', link: '/internals/releasing' },
          { text: 'Performance', link: '/performance' },
          { text: 'Decisions', link: '/decisions/' },
        ],
      },
    ],
  },
})
