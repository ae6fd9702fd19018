/** What the engines say differently about the schema itself. Tables are given by names that were validated. */
export interface SchemaDialect {
  /** Creates a schema that is not there yet; null where there are none. */
  createSchema(schema: string): string | null
  /** A query of the columns (`name`, lower case) of a table; no rows when there is no such table. */
  columnsOf(table: string): string
  /** A query of the indexes (`name`, lower case) of a table, each with its columns (`columns`, separated by commas). */
  indexesOf(table: string): string
}
