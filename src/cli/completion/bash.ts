import type { CommandSpec } from '../command.ts'
import { quoted, takesFileSecond, type Values, valuesOfArgument, valuesOfOption } from './values.ts'

/** For bash 3.2, which macOS has, and later ones. */
export function bashCompletion(specs: readonly CommandSpec[]): string {
  return `# Completion of quartz-ts for bash.
_quartz_ts_words() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(printf '%s\\n' $1 | tr ' ' '\\n')" -- "$2"))
}
_quartz_ts_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$1"))
  compopt -o filenames 2>/dev/null
}
_quartz_ts() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]}
  COMPREPLY=()
  # Bash takes --option=value for three words.
  if [[ $current == '=' ]]; then current=
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  if ((COMP_CWORD == 1)); then
    _quartz_ts_words ${quoted(['--help', '--version', 'help', ...specs.map(({ name }) => name)].join(' '))} "$current"
    return
  fi
  case "$command $previous" in
${specs.flatMap(optionCases).join('\n')}
  esac
  case "$command" in
    help) _quartz_ts_words ${quoted(specs.map(({ name }) => name).join(' '))} "$current" ;;
${specs.map(commandCase).join('\n')}
  esac
}
complete -F _quartz_ts quartz-ts
`
}

/** What stands after an option that takes a value. */
function optionCases({ name, options }: CommandSpec): readonly string[] {
  return Object.entries(options).flatMap(([option, spec]) => {
    const values = valuesOfOption(spec)
    if (values === null) return []
    return [`    ${quoted(`${name} --${option}`)}) ${actionOf(values, '')}return ;;`]
  })
}

function commandCase(spec: CommandSpec): string {
  const second = `
      elif ((COMP_CWORD == 3)); then
        _quartz_ts_files "$current"`
  const options = ['--help', ...Object.keys(spec.options).map((option) => `--${option}`)]
  return `    ${spec.name})
      if [[ $current == -* ]]; then
        _quartz_ts_words ${quoted(options.join(' '))} "$current"
      elif ((COMP_CWORD == 2)); then
        ${actionOf(valuesOfArgument(spec), ':; ')}${takesFileSecond(spec) ? second : ''}
      fi ;;`
}

function actionOf(values: Values, nothing: string): string {
  switch (values.kind) {
    case 'words':
      return `_quartz_ts_words ${quoted(values.words.join(' '))} "$current"; `
    case 'files':
      return `_quartz_ts_files "$current"; `
    case 'none':
      return nothing
  }
}
