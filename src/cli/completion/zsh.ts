import type { CommandSpec, OptionSpec } from '../command.ts'
import { quoted, takesFileSecond, type Values, valuesOfArgument, valuesOfOption } from './values.ts'

export function zshCompletion(specs: readonly CommandSpec[]): string {
  return `#compdef quartz-ts
_quartz_ts() {
  local -a commands
  commands=(
${specs.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
    help) _describe command commands ;;
${specs.map(commandCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _quartz-ts ]]; then _quartz_ts; else compdef _quartz_ts quartz-ts; fi
`
}

function commandCase(spec: CommandSpec): string {
  const lines = Object.entries(spec.options).map(([name, option]) => optionLine(name, option))
  const argument = actionOf(valuesOfArgument(spec))
  const first = argument === '' ? [] : [quoted(`1:argument:${argument}`)]
  const second = takesFileSecond(spec) ? [quoted('2:file:_files')] : []
  const words = [quoted('--help[The help of this command]'), ...lines, ...first, ...second]
  return `    ${spec.name}) _arguments ${words.join(' ')} ;;`
}

function optionLine(name: string, option: OptionSpec): string {
  const values = valuesOfOption(option)
  const help = `[${inBrackets(option.help)}]`
  return quoted(values === null ? `--${name}${help}` : `--${name}=${help}:value:${actionOf(values)}`)
}

function actionOf(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `(${values.words.join(' ')})`
    case 'files':
      return '_files'
    case 'none':
      return ''
  }
}

function inBrackets(help: string): string {
  return help.replace(/[[\]:\\]/g, (sign) => `\\${sign}`)
}
