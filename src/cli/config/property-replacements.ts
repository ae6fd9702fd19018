/** Keys of quartz.properties, without their `org.quartz.`, that are not used: what stands in their place. */
const replacements: readonly (readonly [RegExp, string])[] = [
  [
    /^plugin\./,
    "is a class of Java's; write a plugin and name it under scheduler.plugins in quartz-ts.config.ts",
  ],
  [/^(jobListener|triggerListener)\./, "is a class of Java's; add listeners in a plugin"],
  [/^scheduler\.(jobFactory|classLoadHelper)/, 'is not needed: jobs are named under scheduler.jobs'],
  [/^scheduler\.instanceIdGenerator/, 'is not needed: ids are the name of the host and something unique'],
  [/^scheduler\.(rmi|jmx)\./, 'is replaced by the HTTP API: quartz-ts serve'],
  [
    /^scheduler\.(userTransactionURL|wrapJobExecutionInUserTransaction)/,
    'is of Java EE; see withTransaction',
  ],
  [/^scheduler\.dbFailureRetryInterval/, 'is not needed: the store tries again by itself'],
  [/^scheduler\.context\.key\./, 'is not needed: jobs import what they need'],
  [
    /^scheduler\.(skipUpdateCheck|threadName|makeSchedulerThreadDaemon|threadsInherit)/,
    'has no meaning in Node.js',
  ],
  [/^threadExecutor\./, "is a class of Java's and has no meaning in Node.js"],
  [/^threadPool\./, "is of Java's threads and has no meaning in Node.js"],
  [/^dataSource\.[^.]+\.(jndi|java\.naming)/, 'is of JNDI; name the database with --store'],
  [
    /^dataSource\.[^.]+\.connectionProvider/,
    "is a class of Java's; pass a pool of your own to postgresJobStore",
  ],
  [/^dataSource\./, "is of Java's connection pools; the pool of pg is used"],
  [
    /^jobStore\.(lockHandler|selectWithLockSQL|useDBLocks|lockOnInsert|acquireTriggersWithinLock|doubleCheckLock)/,
    'is not needed: the locking follows from isClustered',
  ],
  [/^jobStore\.txIsolationLevel/, 'is not needed: the store chooses its isolation'],
  [/^jobStore\.maxMisfiresToHandleAtATime/, 'is not needed: misfires are handled in batches of the store'],
  [
    /^jobStore\.(dontSet|nonManagedTX|driverDelegate|dbRetry|useEnhanced|makeThreads|threadsInherit)/,
    'is of JDBC',
  ],
]

/** What to do about a key that is not used. */
export function replacementOf(key: string): string {
  const replacement = replacements.find(([pattern]) => pattern.test(key))?.[1]
  return replacement === undefined
    ? `org.quartz.${key} is not known and not used.`
    : `org.quartz.${key} ${replacement}.`
}
