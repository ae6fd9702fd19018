import type { JSX } from 'preact'
import { addressOf } from '../api/client.ts'
import type { OperationId, Query } from '../api/operations.ts'
import { common } from '../words/common.ts'

/** As many rows as the server gives at once. */
const rowsMax = 1000

interface CsvLinkProps {
  readonly of: OperationId
  /** What the list is narrowed to. */
  readonly query: Query
  readonly file: string
}

/** What a list shows, and its further pages, as a file for a spreadsheet. */
export function CsvLink({ of, query, file }: CsvLinkProps): JSX.Element {
  return (
    <a
      class="button plain"
      href={addressOf(of, { query: { ...query, take: rowsMax, format: 'csv' } })}
      download={file}
    >
      {common().csv(rowsMax)}
    </a>
  )
}
