// What the Overview of the dashboard asks for, and how often at most: dashboard/src/pages/overview/overview.tsx and
// alerts.tsx there. test/dashboard/overview-requests.test.ts compares.

/** While something fires, a page asks for these again after each answer. */
const afterEvents = [
  '/scheduler',
  '/overview',
  '/nodes',
  '/groups',
  '/executing',
  '/job-status?minConsecutiveFailures=3&take=200',
  '/misfire-stats',
  '/execution-stats?minutes=60',
]
/** For this it asks at its own pace. */
const everyFiveSeconds = ['/alerts']

export const overviewRequests = [
  { paths: afterEvents, everyMs: 1000 },
  { paths: everyFiveSeconds, everyMs: 5000 },
]
