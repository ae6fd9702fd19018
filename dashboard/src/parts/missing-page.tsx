import type { JSX } from 'preact'
import { shell } from '../words/shell.ts'
import { Button } from './button.tsx'
import { PageHead } from './page-head.tsx'

/** In the place of a page whose code is not there: browsers do not ask for it a second time. */
export function MissingPage(): JSX.Element {
  const words = shell()
  return (
    <>
      <PageHead title={words.broken} />
      <div class="note bad" role="alert">
        <span>{words.missingPage}</span>
        <Button
          text={words.reload}
          onPress={() => {
            location.reload()
          }}
        />
      </div>
    </>
  )
}
