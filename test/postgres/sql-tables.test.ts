// The tests of the tables, which run on SQLite elsewhere, once more on PostgreSQL.

import { usePostgres } from '../support/sql-tables.ts'
import '../jobstore/sql/broken-triggers.test.ts'
import '../jobstore/sql/java-rows.test.ts'
import '../jobstore/sql/job-table.test.ts'
import '../jobstore/sql/limits.test.ts'
import '../jobstore/sql/trigger-locks.test.ts'
import '../jobstore/sql/trigger-round-trip.test.ts'

usePostgres()
