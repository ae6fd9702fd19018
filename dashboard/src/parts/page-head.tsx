import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { visibleName } from '../../../src/core/visible-text.ts'

interface PageHeadProps {
  readonly title: string
  /** What the title of the window says; default the title. */
  readonly windowTitle?: string
  readonly heading?: ComponentChildren
  readonly above?: ComponentChildren
  readonly below?: ComponentChildren
  readonly actions?: ComponentChildren
}

/** The heading of a page. */
export function PageHead(props: PageHeadProps): JSX.Element {
  const { above, below, actions } = props
  const title = visibleName(props.title)
  const { windowTitle = title, heading = title } = props
  useEffect(() => {
    document.title = `${windowTitle} · quartz-ts`
  }, [windowTitle])
  return (
    <header class="page-head">
      <div class="page-title">
        {above !== undefined && <div class="crumbs">{above}</div>}
        <h1>{heading}</h1>
        {below !== undefined && <div class="page-below">{below}</div>}
      </div>
      <div class="actions">{actions}</div>
    </header>
  )
}
