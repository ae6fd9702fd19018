import { defaultGroup } from '../../core/key.ts'
import { visibleName } from '../../core/visible-text.ts'
import type { KeyJson } from '../../server/wire/fields.ts'
import { UsageError } from '../command.ts'

/**
 * A key as it stands on the command line: `group/name`, or a name in the group DEFAULT. With `--group` the whole text
 * is the name, so that both may have slashes.
 *
 * @throws UsageError
 */
export function parseKey(text: string, group: string | undefined): KeyJson {
  const slash = group === undefined ? text.indexOf('/') : -1
  const key = {
    group: group ?? (slash < 0 ? defaultGroup : text.slice(0, slash)),
    name: text.slice(slash + 1),
  }
  if (key.group.trim() === '' || key.name.trim() === '')
    throw new UsageError(`A key is GROUP/NAME, got '${text}'.`)
  return key
}

/** As {@link parseKey} reads it, unless the group has a slash; with signs as {@link visibleName} has them. */
export function formatKey({ group, name }: KeyJson): string {
  return visibleName(`${group}/${name}`)
}
