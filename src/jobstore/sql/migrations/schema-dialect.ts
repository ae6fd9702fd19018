/** The differences of the engines about the schema itself. Table names are validated. */
export interface SchemaDialect {
  /** Creates the schema if it does not exist; null where the engine has no schemas. */
  createSchema(schema: string): string | null
  /**
   * A query of the columns of tables: `place` of the table in the list, from 0, and `name`, lower case. No rows for a
   * table that does not exist.
   */
  columnsOf(tables: readonly string[]): string
  /**
   * A query of the indexes of tables: `place` of the table in the list, `name`, lower case, and `columns`, the names of
   * its columns in lower case, separated by commas.
   */
  indexesOf(tables: readonly string[]): string
}
