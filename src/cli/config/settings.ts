import type { JobStore } from '../../jobstore/job-store.ts'
import type { HistoryOptions } from '../../jobstore/record-options.ts'
import type { MigrateMode } from '../../jobstore/sql/migrations/migrate.ts'
import type { QuartzConfig } from './quartz-config.ts'

/** A store that settings name. */
export interface StoreSetting {
  /** For messages: the place without passwords. */
  readonly place: string
  /** Where the place is text that can be looked at: throws a UsageError when it is a file that is not there. */
  requireThere(): void
  /** Where the place is a file: makes it for this user alone, unless it is there. */
  keepPrivate(): void
  /** `history` is for a place that is text; a store that was made has its own. */
  open(migrate: MigrateMode, history?: HistoryOptions): JobStore
}

/** What a file of settings says, whatever kind of file it is. */
export interface Settings
  extends Pick<QuartzConfig, 'schedulerName' | 'server' | 'tokenFile' | 'serve' | 'scheduler' | 'drainMs'> {
  readonly store: StoreSetting | null
}
