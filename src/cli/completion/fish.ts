import type { CommandSpec, OptionSpec } from '../command.ts'
import { takesFileSecond, type Values, valuesOfArgument, valuesOfOption } from './values.ts'

export function fishCompletion(specs: readonly CommandSpec[]): string {
  const lines = specs.flatMap((spec) => {
    const within = `complete -c quartz-ts -n ${quoted(`__fish_seen_subcommand_from ${spec.name}`)}`
    const argument = actionOf(valuesOfArgument(spec))
    return [
      `complete -c quartz-ts -n __fish_use_subcommand -a ${spec.name} -d ${quoted(spec.summary)}`,
      ...Object.entries(spec.options).map(([name, option]) => `${within} ${optionWords(name, option)}`),
      ...(argument === '' ? [] : [`${within} ${argument}`]),
      ...(takesFileSecond(spec) ? [`${within} -F`] : []),
    ]
  })
  return ['# Completion of quartz-ts for fish.', 'complete -c quartz-ts -f', ...lines, ''].join('\n')
}

function optionWords(name: string, option: OptionSpec): string {
  const values = valuesOfOption(option)
  // `-x` takes a value and keeps names of files out.
  const action =
    values === null ? '' : `${values.kind === 'files' ? '-r' : '-x'} ${actionOf(values)}`.trimEnd()
  return [`-l ${name}`, action, `-d ${quoted(option.help)}`].filter((part) => part !== '').join(' ')
}

function actionOf(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `-a ${quoted(values.words.join(' '))}`
    case 'files':
      return '-F'
    case 'none':
      return ''
  }
}

/** A text within single quotes of fish. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, (sign) => `\\${sign}`)}'`
}
