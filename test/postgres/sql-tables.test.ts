// The tests of the tables, which run on SQLite elsewhere, once more on PostgreSQL.

import { usePostgres } from '../support/sql-tables.ts'
import '../jobstore/sql/broken-triggers.test.ts'
import '../jobstore/sql/tables/triggers/java-rows.test.ts'
import '../jobstore/sql/tables/jobs/job-table.test.ts'
import '../jobstore/sql/tables/encoding/limits.test.ts'
import '../jobstore/sql/tables/triggers/trigger-locks.test.ts'
import '../jobstore/sql/tables/triggers/trigger-round-trip.test.ts'

usePostgres()
