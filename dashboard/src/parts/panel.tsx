import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

interface PanelProps {
  readonly title: string
  readonly actions?: ComponentChildren
  /** The content goes to the edges, as tables do. */
  readonly isFlush?: boolean
  readonly children: ComponentChildren
}

export function Panel({ title, actions, isFlush = false, children }: PanelProps): JSX.Element {
  const id = useId()
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        <div class="actions">{actions}</div>
      </header>
      <div class={isFlush ? 'panel-flush' : 'panel-body'}>{children}</div>
    </section>
  )
}

export interface Fact {
  readonly name: string
  readonly value: ComponentChildren
  /** Left out altogether. */
  readonly isLeftOut?: boolean
}

export function Facts({ facts }: { readonly facts: readonly Fact[] }): JSX.Element {
  return (
    <dl class="facts">
      {facts
        .filter(({ isLeftOut }) => isLeftOut !== true)
        .map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
