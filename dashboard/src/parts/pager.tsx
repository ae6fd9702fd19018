import type { JSX } from 'preact'
import { useSearch } from '../state/place.ts'
import { common } from '../words/common.ts'

interface PagerProps {
  readonly count: number
  /** The cursor of the next page; null for the last one. */
  readonly next: string | null
}

/** Pages forward by the cursors of the server; the way back is the browser's. */
export function Pager({ count, next }: PagerProps): JSX.Element | null {
  const words = common()
  const search = useSearch()
  const isFirst = search.get('after') === ''
  if (isFirst && next === null) return null
  return (
    <nav class="pager" aria-label={words.next}>
      <span class="muted">{words.rows(count)}</span>
      {!isFirst && (
        <a class="button plain" href={search.with({ after: '' })}>
          {words.first}
        </a>
      )}
      {next !== null && (
        <a class="button plain" href={search.with({ after: next })}>
          {words.next}
        </a>
      )}
    </nav>
  )
}
