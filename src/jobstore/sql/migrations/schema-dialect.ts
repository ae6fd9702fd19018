/** The differences of the engines about the schema itself. Table names are validated. */
export interface SchemaDialect {
  /** Creates the schema if it does not exist; null where the engine has no schemas. */
  createSchema(schema: string): string | null
  /** A query of the columns (`name`, lower case) of a table; no rows when there is no such table. */
  columnsOf(table: string): string
  /** A query of the indexes (`name`, lower case) of a table, each with its columns (`columns`, separated by commas). */
  indexesOf(table: string): string
}
