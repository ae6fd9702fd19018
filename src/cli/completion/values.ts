import type { OptionSpec } from '../command.ts'

/** What a shell can offer for a value: a list of words, names of files, or nothing. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'files' | 'none' }

/** Null for an option that takes no value. */
export function valuesOfOption(option: OptionSpec): Values | null {
  if (option.type === 'boolean') return null
  if (option.choices !== undefined) return { kind: 'words', words: option.choices }
  return { kind: /^(FILE|STORE)$/.test(option.value) ? 'files' : 'none' }
}

/** What the first argument of a command can be. */
export function valuesOfArgument({
  argument,
  choices,
}: {
  readonly argument: string
  readonly choices?: readonly string[]
}): Values {
  if (choices !== undefined) return { kind: 'words', words: choices }
  return { kind: argument === 'FILE' ? 'files' : 'none' }
}

/** Whether the second argument of a command is a file, as in `import FILE`. */
export function takesFileSecond({ argument }: { readonly argument: string }): boolean {
  return argument.endsWith(' FILE')
}

/** A text within single quotes of bash and zsh. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
