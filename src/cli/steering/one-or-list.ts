import { UsageError } from '../command.ts'

/** The options of a command that shows one thing or a list of them; what neither names counts for both. */
interface OneOrList {
  readonly one: readonly string[]
  readonly list: readonly string[]
}

/** The options of {@link pageOptions} that one thing has no use for. */
export const listAlone: readonly string[] = ['take', 'after', 'all']

/** What is ignored would show something else than the user asked for. @throws UsageError */
export function requireFitting(
  command: string,
  key: string | undefined,
  { one, list }: OneOrList,
  values: Readonly<Partial<Record<string, unknown>>>,
): void {
  const foreign = (key === undefined ? one : list).find((option) => values[option] !== undefined)
  if (foreign === undefined) return
  throw new UsageError(
    key === undefined
      ? `--${foreign} goes with a KEY: '${command} KEY --${foreign}'.`
      : `--${foreign} is for the list, and '${command} ${key}' shows one: leave out one of them.`,
  )
}
