import type { ComponentChildren, JSX } from 'preact'
import type { KeyJson } from '../../../src/server/wire/fields.ts'
import { href } from '../state/place.ts'
import { common } from '../words/common.ts'
import { keyText } from './links.tsx'
import { PageHead } from './page-head.tsx'

interface NoEditorProps {
  readonly title: string
  readonly list: { readonly path: string; readonly title: string }
  readonly of: KeyJson
  readonly back: string
  /** Why. */
  readonly children: ComponentChildren
}

/** In the place of an editor for what cannot be edited. */
export function NoEditor({ title, list, of, back, children }: NoEditorProps): JSX.Element {
  return (
    <>
      <PageHead
        title={title}
        above={<a href={href(list.path)}>{list.title}</a>}
        below={keyText(of)}
        actions={
          <a class="button plain" href={href(back)}>
            {common().cancel}
          </a>
        }
      />
      {children}
    </>
  )
}
