import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './source-files.ts'

/** A module that package.json exports. */
export interface EntryPoint {
  /** As a program imports it. */
  readonly specifier: string
  /** `index`, `spi` and so on. */
  readonly name: string
  /** Path from the project root. */
  readonly source: string
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

/** The modules of package.json's `exports`, in its order. */
export function entryPoints(): EntryPoint[] {
  const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as Manifest
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return []
    const name = /^\.\/dist\/([\w-]+)\.js$/.exec(target.default)?.[1]
    if (name === undefined) throw new Error(`${subpath} is not a file of dist: ${target.default}`)
    return [{ specifier: `quartz-ts${subpath.slice(1)}`, name, source: `src/${name}.ts` }]
  })
}
