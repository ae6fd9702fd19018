import type { ComponentChildren, JSX } from 'preact'
import type { Resource } from '../api/resource.ts'
import { Fresh } from './fresh.tsx'
import { ProblemNote } from './problem.tsx'

interface ListingProps {
  readonly title: string
  readonly of: Resource<unknown>
  readonly children: ComponentChildren
}

/** A list that is loaded, and why that failed. A list that could not be loaded at all does not wait for its rows. */
export function Listing({ title, of, children }: ListingProps): JSX.Element {
  const error = of.error.value
  const knownMs = of.value.value === null ? null : of.loadedMs.value
  return (
    <>
      {error !== null && <ProblemNote error={error} knownMs={knownMs} retry={of.reload} />}
      {(error === null || of.value.value !== null) && (
        <section class="panel" aria-label={title}>
          <Fresh isOld={of.isOfOthers.value && of.value.value !== null}>{children}</Fresh>
        </section>
      )}
    </>
  )
}
