import type { ComponentChildren, JSX } from 'preact'
import { common } from '../words/common.ts'

interface FreshProps {
  /** Whether it answers what was asked for before. */
  readonly isOld: boolean
  readonly children: ComponentChildren
}

/** What is loaded again when something else is asked for; until that has come it is pale, and said to be loading. */
export function Fresh({ isOld, children }: FreshProps): JSX.Element {
  return (
    <div class={isOld ? 'fresh is-old' : 'fresh'} aria-busy={isOld}>
      {isOld && (
        <p class="fresh-note" role="status">
          {common().loading}
        </p>
      )}
      {children}
    </div>
  )
}
