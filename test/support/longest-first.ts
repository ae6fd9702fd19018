import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take a minute or more, the longest first: one of them that begins last would run alone at the end. */
const longestFiles = [
  'test/interop/shared-cluster.test.ts',
  'test/postgres/sql-statements.test.ts',
  'test/postgres/conformance.test.ts',
  'test/chaos/kill-points.test.ts',
  'test/postgres/junk-rows.test.ts',
  'test/browser/pages.test.ts',
  'test/chaos/cluster-chaos.test.ts',
  'test/postgres/foreign-locks.test.ts',
  'test/postgres/trigger-family.test.ts',
  'test/browser/further-pages.test.ts',
  'test/browser/operator-actions.test.ts',
  'test/chaos/sqlite-takeover.test.ts',
  'test/chaos/session-end.test.ts',
  'test/simulation/sql-even-seeds.test.ts',
  'test/simulation/sql-odd-seeds.test.ts',
  'test/simulation/even-seeds.test.ts',
  'test/simulation/odd-seeds.test.ts',
  'test/conformance/sqlite.test.ts',
  'test/simulation/sessions.test.ts',
  'test/jobstore/sql/junk-rows.test.ts',
  'test/cron/dst-scan.test.ts',
  'test/simulation/sharded.test.ts',
  'test/cron/cron-properties.test.ts',
  'test/integration/shutdown.test.ts',
  'test/integration/package.test.ts',
].map((path) => resolve(path))

/**
 * Files that keep an AsyncLocalStorage, in executors for XXL-JOB or in traces, come last: from its first use on every
 * promise of the process costs more, up to several times as much, also in the files that the same worker runs later.
 */
const slowsWhatFollows = /\/xxl-job|\/executors\.test\.ts$|\/metrics\/otel\./

/**
 * The order of vitest, with the longest files in front and those at the end that slow others down. Groups of projects
 * follow each other all the same.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    for (const file of longestFiles) assert.ok(existsSync(file), `${file} was renamed`)
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longestFiles.indexOf(moduleId)
      if (at !== -1) return at
      return longestFiles.length + (slowsWhatFollows.test(moduleId) ? 1 : 0)
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}
