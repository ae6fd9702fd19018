import ts from 'typescript'
import type { EntryPoint } from './entry-points.ts'
import type { PublicFace, PublicName } from './public-face.ts'

/** The public surface of one entry point as text, for `api/NAME.txt`. */
export interface ApiReport {
  /** Path from the project root. */
  readonly path: string
  readonly text: string
}

/** One report for each entry point: its exports by name, as their declarations, without comments. */
export function apiReports({ entries }: PublicFace): ApiReport[] {
  return entries.map(({ entry, names }) => ({ path: `api/${entry.name}.txt`, text: reportOf(entry, names) }))
}

function reportOf({ specifier }: EntryPoint, names: readonly PublicName[]): string {
  const heading = `What ${specifier} exports. Written by: npm run api\n`
  return [heading, ...names.map(declared)].join('\n')
}

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed })

function declared({ name, declarations }: PublicName): string {
  const texts = declarations.map((declaration) => {
    const whole = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    return printer
      .printNode(ts.EmitHint.Unspecified, whole, declaration.getSourceFile())
      .replace(/^export (declare )?/, '')
      .replace(/^( {4})+/gm, (indent) => indent.slice(indent.length / 2))
  })
  const isRenamed = declarations.every(
    (declaration) => ts.getNameOfDeclaration(declaration)?.getText() !== name,
  )
  return `${isRenamed ? `${name} is ` : ''}${texts.join('\n')}\n`
}
